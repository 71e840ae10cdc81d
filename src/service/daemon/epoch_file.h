/*
 * The file that stores the last epoch, so that epochs do not go back when all nodes restart,
 * whatever the clocks show.
 */
#ifndef DAEMON_EPOCH_FILE_H
#define DAEMON_EPOCH_FILE_H

#include "engine.h"

#include <stdint.h>

/* Reads the last epoch stored in the folder, and where its counters began; both are 0 if there is
 * none. Returns 0, or -1 after logging the reason. */
int epoch_file_read(const char *folder, struct engine_proposal *ret_last);
/* A failure is logged. */
void epoch_file_write(const char *folder, uint64_t epoch, uint64_t floor);

#endif
