/*
 * Decides how much memory a command of the laboratory may take.
 */
#ifndef CLI_MEMORY_LIMIT_H
#define CLI_MEMORY_LIMIT_H

#include "problem.h"

#include <stdint.h>

/* Parses the value of --max-memory: 500M, 4G or a number of bytes. Returns 0, or -1 and a
 * problem. */
int parse_size(const char *text, uint64_t *ret_bytes, struct problem *problem);

/* Returns 8G, or three quarters of what the machine allows if that is less. With more, the program
 * might swap all the time, or be killed before it has an answer. */
uint64_t memory_by_default(void);

/* Writes a number of bytes for people, such as 17.2 GB, and returns `ret_text`, which has room
 * for at least 16 bytes. */
char *memory_text(uint64_t bytes, char *ret_text);

#endif
