/*
 * A frame between nodes, as a text for people.
 */
#ifndef CLUSTER_FRAMES_H
#define CLUSTER_FRAMES_H

#include "algorithm.h"

#include <stdio.h>

void frames_write(FILE *file, const struct algorithm *algorithm, const uint8_t *bytes, size_t size);

#endif
