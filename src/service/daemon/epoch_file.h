/*
 * The file that remembers the last epoch, so that epochs do not go back when all nodes restart,
 * whatever the clocks say.
 */
#ifndef DAEMON_EPOCH_FILE_H
#define DAEMON_EPOCH_FILE_H

#include "engine.h"

#include <stdint.h>

/* The last epoch that was kept in the folder, and where its counters began; both 0 if none was. 0, or -1
 * and the reason is in the log. */
int epoch_file_read(const char *folder, struct engine_proposal *ret_last);
/* A failure is in the log. */
void epoch_file_write(const char *folder, uint64_t epoch, uint64_t floor);

#endif
