#include "descendants.h"

#include "grow.h"
#include "memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct descendant {
	pid_t pid, parent;
	bool zombie;
	bool stopped; /* by a signal or a debugger */
	bool guards;  /* the process is the guardian of another 'baton run' */
};

struct processes {
	struct descendant *list;
	size_t count, room;
};

/* Reads /proc/PID/stat: "PID (NAME) STATE PARENT …"; a name may contain anything. */
static bool read_process(const char *pid, struct descendant *ret_process)
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
	static const char guardian[] = " (" GUARDIAN_NAME;
	const char *name_end = strrchr(text, ')'), *name = strchr(text, ' ');
	if (name == NULL || name_end == NULL ||
	    sscanf(name_end + 1, " %c %ld", &state, &parent) != 2)
		return false;
	*ret_process =
	        (struct descendant){.pid = (pid_t)strtol(pid, NULL, 10),
	                            .parent = (pid_t)parent,
	                            .zombie = state == 'Z' || state == 'X',
	                            .stopped = strchr("Tt", state) != NULL,
	                            .guards = strncmp(name, guardian, sizeof(guardian) - 1) == 0};
	return true;
}

static void add_process(struct processes *all, const char *pid)
{
	struct descendant process;

	if (!read_process(pid, &process))
		return;
	all->list = grow(all->list, &all->room, all->count + 1, sizeof(*all->list));
	all->list[all->count++] = process;
}

/* Adds the children of one thread, if the kernel has such a list. */
static void add_children_of_thread(struct processes *all, pid_t pid, const char *thread)
{
	char path[96], word[24];

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, thread);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return;
	while (fscanf(file, "%20s", word) == 1)
		add_process(all, word);
	fclose(file);
}

/*
 * Lists the children of this process, their children, and so on. That takes a time that depends on
 * their number; reading all processes of a busy host takes many milliseconds, in which the command
 * runs on. The kernel may leave out a child while another one ends, so an empty list proves nothing.
 */
static struct processes list_tree(void)
{
	struct processes all = {0};
	pid_t pid = getpid();
	size_t next = 0;

	for (;;) {
		char path[64];
		const struct dirent *entry;
		snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
		DIR *threads = opendir(path);
		while (threads != NULL && (entry = readdir(threads)) != NULL) {
			if (entry->d_name[0] != '.')
				add_children_of_thread(&all, pid, entry->d_name);
		}
		if (threads != NULL)
			closedir(threads);
		if (next == all.count)
			return all;
		pid = all.list[next++].pid;
	}
}

static struct processes list_processes(void)
{
	struct processes all = {0};
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			add_process(&all, entry->d_name);
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

/* Finds the descendants of this process, parents before their children, without zombies and the
 * spared ones. */
static struct processes find_descendants(const struct processes *all, const struct spared *spared)
{
	struct processes found = {.list = calloc(all->count + 1, sizeof(*found.list)), .count = 1};

	memory_must(found.list != NULL);
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

/* Finds the descendants of this process. */
static struct processes find_all(const struct spared *spared)
{
	struct processes all = list_tree();
	struct processes found = find_descendants(&all, spared);

	free(all.list);
	if (found.count > 1)
		return found;
	free(found.list);
	all = list_processes();
	found = find_descendants(&all, spared);
	free(all.list);
	return found;
}

static bool has_guardian(const struct processes *found)
{
	for (size_t i = 1; i < found->count; i++) {
		if (found->list[i].guards)
			return true;
	}
	return false;
}

static bool has_child(const struct processes *found, size_t of)
{
	for (size_t i = of + 1; i < found->count; i++) {
		if (found->list[i].parent == found->list[of].pid)
			return true;
	}
	return false;
}

/* Returns false if the signal may not be sent, because the process has changed its user. */
static bool may_signal(pid_t pid, int signal)
{
	return kill(pid, signal) == 0 || errno != EPERM;
}

struct descendants descendants_left(const struct spared *spared, pid_t except)
{
	struct processes found = find_all(spared);
	struct descendants left = {0};

	for (size_t i = 1; i < found.count; i++) {
		if (found.list[i].pid == except)
			continue;
		left.count++;
		if (!may_signal(found.list[i].pid, 0))
			left.refused = found.list[i].pid;
	}
	free(found.list);
	return left;
}

/*
 * Stops all descendants, so that none forks any more, and kills them. If there is a 'baton run' among
 * them, only those without children are killed, and their parents when the children are gone: so its
 * lock is released only after its command has ended.
 */
struct descendants descendants_kill(const struct spared *spared, pid_t command)
{
	struct processes found = find_all(spared);
	struct descendants left = {.count = found.count - 1};
	bool nested = has_guardian(&found);

	for (size_t i = 1; i < found.count; i++) {
		if (!may_signal(found.list[i].pid, SIGSTOP))
			left.refused = found.list[i].pid;
	}
	for (size_t i = 1; i < found.count; i++) {
		if ((!nested || !has_child(&found, i)) && !may_signal(found.list[i].pid, SIGKILL))
			left.refused = found.list[i].pid;
	}
	if (access("/proc/self/stat", R_OK) != 0 && command > 0) { /* kill the group instead */
		left.count = 1;
		if (!may_signal(-command, SIGKILL))
			left.refused = command;
	}
	free(found.list);
	return left;
}

pid_t process_parent(pid_t pid)
{
	struct descendant process;
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return read_process(text, &process) ? process.parent : 0;
}

bool process_stopped(pid_t pid)
{
	struct descendant process;
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return read_process(text, &process) && process.stopped;
}

void spared_note(struct spared *spared)
{
	siginfo_t info;
	size_t room = 0;

	*spared = (struct spared){0};
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return; /* there are no spared children, as nearly always */
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
