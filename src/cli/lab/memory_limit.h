/*
 * How much memory a command of the laboratory may take.
 */
#ifndef CLI_MEMORY_LIMIT_H
#define CLI_MEMORY_LIMIT_H

#include "problem.h"

#include <stdint.h>

/* 500M, 4G or a number of bytes, for --max-memory. 0, or -1 and a problem. */
int parse_size(const char *text, uint64_t *ret_bytes, struct problem *problem);

/* 8G, or three quarters of what the machine allows if that is less: work that swaps never ends, and
 * a program that is refused memory has no answer. */
uint64_t memory_by_default(void);

/* The bytes as a person writes them, such as 17.2 GB; at least 16 bytes. */
char *memory_text(uint64_t bytes, char *ret_text);

#endif
