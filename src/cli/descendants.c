#include "descendants.h"

#include "grow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long until it looks again at those that are not gone: somebody may have forked meanwhile. */
enum { PAUSE_MS_MIN = 1, PAUSE_MS_MAX = 64 };

struct process {
	pid_t pid, parent;
	bool zombie;
};

struct processes {
	struct process *list;
	size_t count, room;
};

/* From /proc/PID/stat: "PID (NAME) STATE PARENT …"; a name may contain anything. */
static bool read_process(const char *pid, struct process *ret_process)
{
	char path[64], text[512];
	long parent;
	char state;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return false;
	text[size] = '\0';
	const char *name_end = strrchr(text, ')');
	if (name_end == NULL || sscanf(name_end + 1, " %c %ld", &state, &parent) != 2)
		return false;
	*ret_process = (struct process){.pid = (pid_t)strtol(pid, NULL, 10),
	                                .parent = (pid_t)parent,
	                                .zombie = state == 'Z' || state == 'X'};
	return true;
}

static struct processes list_processes(void)
{
	struct processes all = {0};
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		struct process process;
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !read_process(entry->d_name, &process))
			continue;
		all.list = grow(all.list, &all.room, all.count + 1, sizeof(*all.list));
		all.list[all.count++] = process;
	}
	if (folder != NULL)
		closedir(folder);
	return all;
}

static bool is_spared(const struct spared *spared, pid_t pid)
{
	for (size_t i = 0; i < spared->count; i++) {
		if (spared->pids[i] == pid)
			return true;
	}
	return false;
}

/* Those below this process, parents before their children; all but zombies and the spared. */
static struct processes find_descendants(const struct processes *all, const struct spared *spared)
{
	struct processes found = {.list = calloc(all->count + 1, sizeof(*found.list)), .count = 1};

	must(found.list != NULL);
	found.list[0].pid = getpid();
	for (size_t i = 0; i < found.count; i++) {
		for (size_t k = 0; k < all->count && found.count <= all->count; k++) {
			if (all->list[k].parent == found.list[i].pid && !all->list[k].zombie &&
			    !is_spared(spared, all->list[k].pid))
				found.list[found.count++] = all->list[k];
		}
	}
	return found;
}

static bool has_child(const struct processes *found, size_t of)
{
	for (size_t i = of + 1; i < found->count; i++) {
		if (found->list[i].parent == found->list[of].pid)
			return true;
	}
	return false;
}

/*
 * All are stopped, so that none makes more of them; those without children are killed, and their
 * parents when they are gone. So if there is a 'baton run' among them, its lock is not free before its
 * command has ended. How many there were.
 */
static size_t kill_leaves(const struct spared *spared, pid_t command)
{
	struct processes all = list_processes();
	struct processes found = find_descendants(&all, spared);
	size_t count = found.count - 1;

	for (size_t i = 1; i < found.count; i++)
		kill(found.list[i].pid, SIGSTOP);
	for (size_t i = 1; i < found.count; i++) {
		if (!has_child(&found, i))
			kill(found.list[i].pid, SIGKILL);
	}
	if (all.count == 0 && command > 0) /* there is no /proc: the best that can be done */
		kill(-command, SIGKILL);
	free(found.list);
	free(all.list);
	return count;
}

/* Whether there are children left. */
static bool reap(pid_t command, int *ret_status)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == command)
			*ret_status = status;
	}
	return pid == 0 || errno != ECHILD;
}

static void pause_until_child(int children, int ms)
{
	struct pollfd item = {.fd = children, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&item, 1, ms) == 1 && read(children, &info, sizeof(info)) < 0)
		return; /* another has read it: look again */
}

void descendants_end(int children, const struct spared *spared, pid_t command, int *ret_status)
{
	unsigned none_found = 0;

	for (int pause_ms = PAUSE_MS_MIN; reap(command, ret_status);) {
		if (kill_leaves(spared, command) > 0)
			none_found = 0;
		/* With others' children about, there is only the list to go by: twice, as it is not
		 * made in one moment. */
		else if (spared->count > 0 && ++none_found == 2)
			return;
		pause_until_child(children, pause_ms);
		pause_ms = pause_ms < PAUSE_MS_MAX ? pause_ms * 2 : PAUSE_MS_MAX;
	}
}

void spared_note(struct spared *spared)
{
	siginfo_t info;
	size_t room = 0;

	*spared = (struct spared){0};
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return; /* none at all, as nearly always */
	struct processes all = list_processes();
	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].parent != getpid())
			continue;
		spared->pids = grow(spared->pids, &room, spared->count + 1, sizeof(*spared->pids));
		spared->pids[spared->count++] = all.list[i].pid;
	}
	free(all.list);
}

void spared_free(struct spared *spared)
{
	free(spared->pids);
}
