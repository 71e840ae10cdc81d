/*
 * Quantiles of a stream of numbers: exact up to 131,072 numbers, from every 2nd, 4th, 8th… of
 * them beyond.
 */
#ifndef LAB_SAMPLES_H
#define LAB_SAMPLES_H

#include <stdint.h>

struct samples;

struct samples *samples_create(void);
void samples_destroy(struct samples *samples);
void samples_clear(struct samples *samples);
void samples_add(struct samples *samples, uint64_t number);
/* The least number that at least `percent` per cent do not exceed; 0 without numbers. May change
 * the order in which they are kept: the last thing to do before samples_clear. */
uint64_t samples_quantile(struct samples *samples, unsigned percent);

#endif
