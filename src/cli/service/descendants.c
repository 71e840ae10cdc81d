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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* No process has this number or a greater one. This is the greatest limit that can be set; spared_note
 * reads the one that is. */
static pid_t pid_limit = 4194304;

struct descendant {
	pid_t pid, parent;
	bool zombie;
	bool stopped; /* by a signal or a debugger */
	bool guards;  /* the process is the guardian of another 'baton run' */
};

struct processes {
	struct descendant *list;
	size_t count, room;
	bool incomplete; /* there are no descriptors or memory to read more */
};

/* --- what /proc tells --- */

/* Does /proc count processes as this process does? It may be missing, or show another namespace, in
 * which the same numbers belong to others. */
static bool proc_is_ours(void)
{
	char text[24];
	ssize_t size = readlink("/proc/self", text, sizeof(text) - 1);

	if (size <= 0)
		return false;
	text[size] = '\0';
	return strtol(text, NULL, 10) == getpid();
}

/* Call it when a file of a process cannot be opened. That the process is gone is no failure. */
static void note_failure(struct processes *all)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		all->incomplete = true;
}

/* Reads /proc/PID/stat: "PID (NAME) STATE PARENT …"; a name may contain anything. A process whose first
 * thread has ended is shown as a zombie while others run; the 20th field counts them. */
static bool read_process(const char *pid, struct descendant *ret_process)
{
	char path[64], text[512];
	long parent, threads;
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
	    sscanf(name_end + 1,
	           " %c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
	           &state, &parent, &threads) != 3)
		return false;
	*ret_process =
	        (struct descendant){.pid = (pid_t)strtol(pid, NULL, 10),
	                            .parent = (pid_t)parent,
	                            .zombie = (state == 'Z' || state == 'X') && threads <= 1,
	                            .stopped = strchr("Tt", state) != NULL,
	                            .guards = strncmp(name, guardian, sizeof(guardian) - 1) == 0};
	return true;
}

static void add_process(struct processes *all, const char *pid)
{
	struct descendant process;

	if (!read_process(pid, &process)) {
		note_failure(all);
		return;
	}
	all->list = grow(all->list, &all->room, all->count + 1, sizeof(*all->list));
	all->list[all->count++] = process;
}

/* Adds the children of one thread, if the kernel has such a list. */
static void add_children_of_thread(struct processes *all, pid_t pid, const char *thread)
{
	char path[96], word[24];

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, thread);
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		note_failure(all);
		return;
	}
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
		if (threads == NULL)
			note_failure(&all);
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

	if (folder == NULL)
		note_failure(&all);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			add_process(&all, entry->d_name);
	}
	if (folder != NULL)
		closedir(folder);
	return all;
}

/* --- what the kernel tells without /proc --- */

/* Is this a child of this process that was not reaped? Then its number belongs to nobody else. */
static bool is_child(pid_t pid, bool *ret_ended)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
		return false;
	*ret_ended = info.si_pid == pid;
	return true;
}

/* Makes a process, and returns its number: those made since this process have numbers in between. Its
 * end causes no SIGCHLD. Returns this process' own number if none can be made. */
static pid_t newest_number(void)
{
	long pid = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return getpid();
	while (waitpid((pid_t)pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return (pid_t)pid;
}

static void add_children(struct processes *all, pid_t first, pid_t end)
{
	bool ended;

	for (pid_t pid = first; pid < end; pid++) {
		if (!is_child(pid, &ended))
			continue;
		all->list = grow(all->list, &all->room, all->count + 1, sizeof(*all->list));
		all->list[all->count++] =
		        (struct descendant){.pid = pid, .parent = getpid(), .zombie = ended};
	}
}

static bool is_spared(const struct spared *spared, pid_t pid)
{
	for (size_t i = 0; i < spared->count; i++) {
		if (spared->pids[i] == pid)
			return true;
	}
	return false;
}

static bool has_living(const struct processes *all, const struct spared *spared)
{
	for (size_t i = 0; i < all->count; i++) {
		if (!all->list[i].zombie && !is_spared(spared, all->list[i].pid))
			return true;
	}
	return false;
}

/*
 * Lists the children of this process by trying numbers. Their children become ours when they have
 * ended. First come the numbers that were given since this process began; the numbers may have begun
 * again at 1. If none of these is a living child, the others are tried: numbers may have been given
 * twice since. All of them take seconds where there can be four million.
 */
static struct processes list_children(const struct spared *spared)
{
	struct processes all = {.incomplete = true};
	pid_t self = getpid(), newest = newest_number();

	if (newest > self) {
		add_children(&all, self + 1, newest);
	} else {
		add_children(&all, self + 1, pid_limit);
		add_children(&all, 1, newest);
	}
	if (has_living(&all, spared))
		return all;
	if (newest > self) {
		add_children(&all, newest, pid_limit);
		add_children(&all, 1, self);
	} else {
		add_children(&all, newest, self);
	}
	return all;
}

/* --- the descendants --- */

/* Finds the descendants of this process, parents before their children, without zombies and the
 * spared ones. Frees the list. */
static struct processes find_descendants(struct processes all, const struct spared *spared)
{
	struct processes found = {.list = calloc(all.count + 1, sizeof(*found.list)),
	                          .count = 1,
	                          .incomplete = all.incomplete};

	memory_must(found.list != NULL);
	found.list[0].pid = getpid();
	for (size_t i = 0; i < found.count; i++) {
		for (size_t k = 0; k < all.count && found.count <= all.count; k++) {
			if (all.list[k].parent == found.list[i].pid && !all.list[k].zombie &&
			    !is_spared(spared, all.list[k].pid))
				found.list[found.count++] = all.list[k];
		}
	}
	free(all.list);
	return found;
}

/*
 * Finds the descendants of this process. If /proc cannot tell them, finds its children, and the list
 * is incomplete. With `thorough`, does so too if /proc shows none: processes of other users may be
 * hidden there. It can take seconds: see list_children.
 */
static struct processes find_all(const struct spared *spared, bool thorough)
{
	struct processes found = {.incomplete = true};

	if (proc_is_ours())
		found = find_descendants(list_tree(), spared);
	if (!found.incomplete && found.count == 1) {
		free(found.list);
		found = find_descendants(list_processes(), spared);
	}
	if (!found.incomplete && (found.count > 1 || !thorough))
		return found;
	free(found.list);
	return find_descendants(list_children(spared), spared);
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
	struct processes found = find_all(spared, false);
	struct descendants left = {0};

	for (size_t i = 1; i < found.count; i++) {
		if (found.list[i].pid == except)
			continue;
		left.count++;
		if (!may_signal(found.list[i].pid, 0))
			left.refused = found.list[i].pid;
	}
	if (found.incomplete && except > 0)
		left.count++; /* it may have children */
	free(found.list);
	return left;
}

/*
 * Stops all descendants, so that none forks any more, and kills them. If there is a 'baton run' among
 * them, only those without children are killed, and their parents when the children are gone: so its
 * lock is released only after its command has ended.
 */
struct descendants descendants_kill(const struct spared *spared, pid_t command, bool thorough)
{
	bool ended;

	/* Finding processes without /proc takes long, and the command must not run on meanwhile. */
	if ((thorough || !proc_is_ours()) && command > 0 && is_child(command, &ended))
		kill(-command, SIGKILL);
	struct processes found = find_all(spared, thorough);
	struct descendants left = {.count = found.count - 1};
	bool nested = has_guardian(&found);

	for (size_t i = 1; i < found.count; i++) {
		if (!may_signal(found.list[i].pid, SIGSTOP))
			left.refused = found.list[i].pid;
	}
	/* The children of the command are not in the list. */
	if (found.incomplete && command > 0 && is_child(command, &ended))
		kill(-command, SIGKILL);
	for (size_t i = 1; i < found.count; i++) {
		if ((!nested || !has_child(&found, i)) && !may_signal(found.list[i].pid, SIGKILL))
			left.refused = found.list[i].pid;
	}
	free(found.list);
	return left;
}

/* Reads what /proc tells of a process. */
static bool look_at(pid_t pid, struct descendant *ret_process)
{
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return proc_is_ours() && read_process(text, ret_process);
}

pid_t process_parent(pid_t pid)
{
	struct descendant process;
	bool ended;

	if (look_at(pid, &process))
		return process.parent;
	return is_child(pid, &ended) ? getpid() : 0;
}

bool process_stopped(pid_t pid)
{
	struct descendant process;

	return look_at(pid, &process) && process.stopped;
}

bool process_ended(pid_t pid)
{
	struct descendant process;

	return look_at(pid, &process) && process.zombie;
}

/* --- spared children --- */

static void note_limit(void)
{
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	int limit;

	if (file == NULL)
		return;
	if (fscanf(file, "%d", &limit) == 1 && limit > getpid() && limit < pid_limit)
		pid_limit = limit;
	fclose(file);
}

void spared_add(struct spared *spared, pid_t pid)
{
	spared->pids = grow(spared->pids, &spared->room, spared->count + 1, sizeof(*spared->pids));
	spared->pids[spared->count++] = pid;
}

void spared_note(struct spared *spared)
{
	siginfo_t info;

	*spared = (struct spared){0};
	note_limit();
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return; /* there are no spared children, as nearly always */
	struct processes all = proc_is_ours() ? list_processes() : list_children(spared);
	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].parent == getpid())
			spared_add(spared, all.list[i].pid);
	}
	free(all.list);
}

void spared_free(struct spared *spared)
{
	free(spared->pids);
}
