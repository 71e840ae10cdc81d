/*
 * The machine that the laboratory runs on as a command-line program, not in a page: its files and
 * its memory.
 */
#ifndef LAB_HOST_H
#define LAB_HOST_H

#include "setup.h"

/* Returns the host, of which there is only one. */
const struct host *host_here(void);

#endif
