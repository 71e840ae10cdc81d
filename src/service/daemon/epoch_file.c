#include "epoch_file.h"

#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EPOCH_MAX = (1 << 19) - 1 };

int epoch_file_read(const char *folder, uint64_t *ret_epoch)
{
	char path[4096];
	unsigned long long epoch = 0;

	*ret_epoch = 0;
	snprintf(path, sizeof(path), "%s/epoch", folder);
	FILE *file = fopen(path, "re");
	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL) {
		log_line(LEVEL_ERROR, "--data: %s cannot be read: %s", path, strerror(errno));
		return -1;
	}
	int count = fscanf(file, "%20llu", &epoch);
	fclose(file);
	if (count < 1 || epoch == 0 || epoch >= EPOCH_MAX) {
		log_line(LEVEL_ERROR, "--data: %s does not hold an epoch from 1 to %d", path,
		         EPOCH_MAX - 1);
		return -1;
	}
	*ret_epoch = epoch;
	return 0;
}
