/*
 * Patterns of names, as in Redis: * ? [abc] [^a-z] and \ before a byte that stands for itself.
 */
#ifndef NODE_GLOB_H
#define NODE_GLOB_H

#include "slice.h"

#include <stdbool.h>

bool glob_matches(struct slice pattern, struct slice text);

#endif
