/*
 * A rescue when most voters of a cluster are lost for good: the data folder of a remaining voter
 * becomes the data folder of a new cluster, in which it is the only voter (voter/rescue.h). No node
 * may run on the folder meanwhile.
 */
#ifndef CLI_RESCUE_FOLDER_H
#define CLI_RESCUE_FOLDER_H

#include <stdbool.h>

/* Tells what a rescue will do, and does it if `sure`. The old database is kept in a folder beside
 * the new one. Returns an exit code. */
int rescue_folder(const char *data, bool sure, bool json);

/* True if a rescue of this folder was interrupted between its two last steps. Then no node may
 * start there before the rescue is repeated. */
bool rescue_is_torn(const char *data);

#endif
