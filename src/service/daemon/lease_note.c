#include "lease_note.h"

#include "daemon.h"
#include "log.h"
#include "ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MAX_HERE = 128 }; /* longer than any socket's path with the suffix */

static void make_path(const char *socket, char path[PATH_MAX_HERE])
{
	snprintf(path, PATH_MAX_HERE, "%s.lease", socket);
}

/* Reads the number. Returns 0 if it is not a lease that a node can have. */
static uint64_t read_number(const char *path)
{
	unsigned long long lease_ms = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%20llu", &lease_ms) != 1 || lease_ms > DAEMON_LEASE_MS_MAX)
		lease_ms = 0;
	fclose(file);
	return lease_ms;
}

uint64_t lease_note_read(const char *socket)
{
	char path[PATH_MAX_HERE];
	struct problem problem;
	struct stat found;

	make_path(socket, path);
	if (lstat(path, &found) != 0 && errno == ENOENT)
		return 0;
	/* In a folder that others can write, anybody could have written it. */
	if (ownership_judge(path, S_IFREG, "the lease note", &problem) == 0) {
		uint64_t lease_ms = read_number(path);
		if (lease_ms != 0)
			return lease_ms;
		problem_set(&problem,
		            "the lease note '%s' is not a number of milliseconds up to %d", path,
		            DAEMON_LEASE_MS_MAX);
	}
	log_line(LEVEL_WARNING,
	         "%s: it is ignored. If the last node on this socket had a longer lease than this "
	         "one, commands may still run under its locks",
	         problem.text);
	return 0;
}

/* Writes the note without fsync: a crash of the machine also ends the commands for which the next
 * node would have to wait. */
void lease_note_write(const char *socket, uint64_t lease_ms)
{
	char path[PATH_MAX_HERE], temporary[PATH_MAX_HERE + 8], text[32];
	int size = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)lease_ms);

	make_path(socket, path);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	unlink(temporary);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, (size_t)size) != size || rename(temporary, path) != 0)
		log_line(LEVEL_WARNING,
		         "%s cannot be written: %s: if this node is killed, the next node on this "
		         "socket does not know how long to wait",
		         path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void lease_note_remove(const char *socket)
{
	char path[PATH_MAX_HERE];

	make_path(socket, path);
	unlink(path);
}
