/*
 * The file in which the first version of this program stored the last epoch. A cluster that is born
 * in a data directory with this file begins with greater fences than that version can have granted.
 */
#ifndef DAEMON_EPOCH_FILE_H
#define DAEMON_EPOCH_FILE_H

#include <stdint.h>

/* Sets *ret_epoch to the last epoch stored in the folder, or to 0 if there is none. Returns 0, or
 * -1 after logging the reason. */
int epoch_file_read(const char *folder, uint64_t *ret_epoch);

#endif
