/*
 * Quantiles of a stream of numbers. They are exact for up to 131,072 numbers. Of a longer stream
 * only every 2nd, 4th, 8th… number is kept.
 */
#ifndef LAB_SAMPLES_H
#define LAB_SAMPLES_H

#include <stdint.h>

struct samples;

struct samples *samples_create(void);
void samples_destroy(struct samples *samples);
void samples_clear(struct samples *samples);
void samples_add(struct samples *samples, uint64_t number);
/* Returns the smallest number that at least `percent` per cent of the numbers do not exceed, or
 * 0 if there are none. It reorders the numbers, so none may be added between this and
 * samples_clear. */
uint64_t samples_quantile(struct samples *samples, unsigned percent);

#endif
