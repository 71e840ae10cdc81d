/*
 * The highest fence so far, in a file. The file has one line with the number and nothing else. So a
 * torn write is recognised: the newline is missing, or there are bytes that are no digits.
 *
 * Only the process that has locked FILE.lock reads or writes the other files. A greater number is
 * written to FILE.new, synced to disk, and renamed to FILE.
 */
#include "word.h"

#include <baton/baton.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct paths {
	char *file, *folder, *lock, *new;
};

/* Returns the path without symbolic links, so that all paths to a file lead to the same lock.
 * Returns NULL and errno on failure. */
static char *real_path(const char *file)
{
	char *real = realpath(file, NULL);

	if (real != NULL || errno != ENOENT)
		return real;
	/* Refuse a symbolic link to a file that does not exist: it would not be clear which path is
	 * guarded. */
	struct stat status;
	if (lstat(file, &status) == 0) {
		errno = ENOENT;
		return NULL;
	}
	/* The file need not exist, but its folder must. */
	char *copy = strdup(file), *other = strdup(file), *folder = NULL;
	if (copy != NULL && other != NULL && *file != '\0' && file[strlen(file) - 1] != '/')
		folder = realpath(dirname(copy), NULL);
	if (folder != NULL && asprintf(&real, "%s/%s", folder, basename(other)) < 0)
		real = NULL;
	free(folder);
	free(copy);
	free(other);
	return real;
}

static void paths_free(struct paths *paths)
{
	free(paths->file);
	free(paths->folder);
	free(paths->lock);
	free(paths->new);
}

/* Returns 0, BATON_EFILE or BATON_EMEMORY. */
static int paths_make(const char *file, struct paths *paths)
{
	errno = 0;
	*paths = (struct paths){.file = real_path(file)};
	if (paths->file == NULL)
		return errno == ENOMEM ? BATON_EMEMORY : BATON_EFILE;
	paths->folder = strdup(paths->file);
	if (paths->folder == NULL || asprintf(&paths->lock, "%s.lock", paths->file) < 0 ||
	    asprintf(&paths->new, "%s.new", paths->file) < 0)
		return BATON_EMEMORY;
	dirname(paths->folder);
	return 0;
}

/* Returns 0 and the number, which is 0 if there is no file; or BATON_EFILE or BATON_ETORN. */
static int read_highest(const char *path, uint64_t *ret_highest, struct stat *ret_status)
{
	char text[32];
	uint64_t highest = 0;
	/* O_NONBLOCK, because opening a fifo could block without end. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT) {
		*ret_highest = 0;
		return 0;
	}
	if (fd < 0)
		return BATON_EFILE;
	ssize_t size = -1;
	if (fstat(fd, ret_status) == 0)
		size = S_ISREG(ret_status->st_mode) ? read(fd, text, sizeof(text)) : 0;
	int error = errno;
	close(fd);
	errno = error;
	if (size < 0)
		return BATON_EFILE;
	/* At most as many digits as 2^53 has, and a newline. */
	if (size < 2 || size > 17 || text[size - 1] != '\n')
		return BATON_ETORN;
	for (ssize_t i = 0; i < size - 1; i++) {
		if (text[i] < '0' || text[i] > '9')
			return BATON_ETORN;
		highest = highest * 10 + (uint64_t)(text[i] - '0');
	}
	if (fence_verify(highest) < 0)
		return BATON_ETORN;
	*ret_highest = highest;
	return 0;
}

/* Returns 0, or -1 and errno. */
static int write_durably(const char *path, uint64_t fence, const struct stat *old)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%" PRIu64 "\n", fence);
	/* A file that exists was left by a crash. Do not follow or reuse it. */
	if (unlink(path) != 0 && errno != ENOENT)
		return -1;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	ssize_t written = write(fd, text, (size_t)size);
	if (written >= 0 && written != size)
		errno = ENOSPC;
	/* Keep the owner and mode of the old file, as far as we are permitted to. */
	bool was_there = old->st_mode != 0 && written == size;
	if (was_there && fchown(fd, old->st_uid, old->st_gid) != 0)
		errno = 0;
	int failed = written != size || (was_there && fchmod(fd, old->st_mode & 0777) != 0) ||
	             fsync(fd) != 0;
	int error = errno;
	close(fd);
	errno = error;
	return failed ? -1 : 0;
}

static int sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	int failed = fsync(fd), error = errno;
	close(fd);
	errno = error;
	return failed;
}

static int check_locked(const struct paths *paths, uint64_t fence, uint64_t *ret_highest)
{
	struct stat status = {0}; /* the status of the file, if it exists */
	uint64_t highest;
	int error = read_highest(paths->file, &highest, &status);

	if (error < 0)
		return error;
	if (fence < highest) {
		if (ret_highest != NULL)
			*ret_highest = highest;
		return BATON_ESTALE;
	}
	if (fence > highest && (write_durably(paths->new, fence, &status) != 0 ||
	                        rename(paths->new, paths->file) != 0))
		return BATON_EFILE;
	/* Sync even if FILE already has this fence: the process that wrote it may have been killed
	 * before it synced. */
	if (sync_folder(paths->folder) != 0)
		return BATON_EFILE;
	if (ret_highest != NULL)
		*ret_highest = fence;
	return 0;
}

int baton_fence_check(const char *file, uint64_t fence, uint64_t *ret_highest)
{
	struct paths paths;

	if (fence_verify(fence) < 0)
		return BATON_EFENCE;
	int result = paths_make(file, &paths);
	if (result == 0) {
		int lock = open(paths.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		int locked = lock;
		while (locked >= 0 && (locked = flock(lock, LOCK_EX)) != 0 && errno == EINTR)
			locked = lock;
		result = locked < 0 ? BATON_EFILE : check_locked(&paths, fence, ret_highest);
		int error = errno;
		if (lock >= 0)
			close(lock);
		errno = error;
	}
	int error = errno;
	paths_free(&paths);
	errno = error;
	return result;
}
