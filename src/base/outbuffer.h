/*
 * A driver's buffer for effects (core/wire.h) that grows by realloc.
 */
#ifndef BASE_OUTBUFFER_H
#define BASE_OUTBUFFER_H

#include "wire.h"

void out_init(struct out *out);
void out_free(struct out *out);

#endif
