#include "epoch_file.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void epoch_file_write(const char *folder, uint64_t epoch, uint64_t floor)
{
	char path[4096], temporary[4096 + 8], digits[64];

	snprintf(path, sizeof(path), "%s/epoch", folder);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	int size = snprintf(digits, sizeof(digits), "%llu %llu\n", (unsigned long long)epoch,
	                    (unsigned long long)floor);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, digits, (size_t)size) == size && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	if (!good || rename(temporary, path) != 0)
		log_line(LEVEL_WARNING, "--data: %s cannot be written: %s", path, strerror(errno));
}

int epoch_file_read(const char *folder, struct engine_proposal *ret_last)
{
	char path[4096];
	unsigned long long epoch = 0, floor = 0;

	*ret_last = (struct engine_proposal){0};
	snprintf(path, sizeof(path), "%s/epoch", folder);
	FILE *file = fopen(path, "re");
	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL) {
		log_line(LEVEL_ERROR, "--data: %s cannot be read: %s", path, strerror(errno));
		return -1;
	}
	int count = fscanf(file, "%20llu %20llu", &epoch, &floor);
	fclose(file);
	if (count < 1 || epoch == 0 || epoch >= ENGINE_EPOCH_MAX || floor > ENGINE_FLOOR_MAX) {
		log_line(LEVEL_ERROR, "--data: %s does not hold an epoch from 1 to %llu", path,
		         (unsigned long long)ENGINE_EPOCH_MAX - 1);
		return -1;
	}
	*ret_last = (struct engine_proposal){.epoch = epoch, .floor = floor};
	return 0;
}
