#include "descendants.h"

#include "grow.h"
#include "memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	/* Every pid is less than this, whatever limit is set. */
	NUMBER_LIMIT = 4194304,
	/* How many descendants a round looks at. Without a limit a round might never end, because
	 * new processes could be made all the time. */
	TREE_MAX = 1000,
	PF_EXITING = 4, /* a flag of the kernel: the process has begun to end */
	/* All processes are read this many times before it counts as certain that only guardians
	 * are left. */
	ALONE_SEEN_MAX = 2,
};

struct descendant {
	pid_t pid, parent;
	/* When the process was made, in ticks since the boot; 0: not known. Two processes that had
	 * the same pid one after the other differ in this. */
	uint64_t begun;
	bool zombie;
	bool threaded; /* the process has more than one thread */
	bool stopped;  /* the process was stopped by a signal or a debugger */
	bool guards;   /* the process has the name of a guardian */
	bool exits;    /* the process has begun to end */
};

struct processes {
	struct descendant *list;
	size_t count, room;
	bool incomplete; /* there were not enough descriptors or memory to read all processes */
};

/* --- what /proc tells --- */

/* Does /proc show the pid namespace of this process? /proc may be missing, or show another
 * namespace, in which the same pids belong to other processes. */
static bool proc_is_ours(void)
{
	char text[24];
	ssize_t size = readlink("/proc/self", text, sizeof(text) - 1);

	if (size <= 0)
		return false;
	text[size] = '\0';
	return strtol(text, NULL, 10) == getpid();
}

/* Call it when a file of a process cannot be opened. If the process is just gone, this is not a
 * failure. */
static void note_failure(struct processes *all)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		all->incomplete = true;
}

/* Reads /proc/PID/stat: "PID (NAME) STATE PARENT …"; a name may contain anything. The 20th field is
 * the number of threads, the 22nd is when the process was made, the 9th has flags of the kernel. A
 * process whose first thread has ended is shown as a zombie although other threads run. */
static bool read_process(const char *pid, struct descendant *ret_process)
{
	char path[64], text[512];
	unsigned long long begun;
	unsigned long flags;
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
	           " %c %ld %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s "
	           "%llu",
	           &state, &parent, &flags, &threads, &begun) != 5)
		return false;
	*ret_process =
	        (struct descendant){.pid = (pid_t)strtol(pid, NULL, 10),
	                            .parent = (pid_t)parent,
	                            .begun = begun,
	                            .zombie = (state == 'Z' || state == 'X') && threads <= 1,
	                            .threaded = threads > 1,
	                            .stopped = strchr("Tt", state) != NULL,
	                            .guards = strncmp(name, guardian, sizeof(guardian) - 1) == 0,
	                            .exits = (flags & PF_EXITING) != 0};
	return true;
}

/* Was SIGKILL sent to the process? A signal that was sent to the whole process is shown until the
 * process is reaped. One that was sent to a thread is shown until the thread takes it. (The signals
 * in /proc/PID/stat are only those of the first thread.) */
static bool was_killed(pid_t pid)
{
	char path[64], line[128];
	unsigned long long signals;
	bool killed = false;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (!killed && fgets(line, sizeof(line), file) != NULL) {
		killed = (sscanf(line, "SigPnd: %llx", &signals) == 1 ||
		          sscanf(line, "ShdPnd: %llx", &signals) == 1) &&
		         (signals >> (SIGKILL - 1) & 1) != 0;
	}
	fclose(file);
	return killed;
}

/* Reads what /proc tells of a process. */
static bool look_at(pid_t pid, struct descendant *ret_process)
{
	char text[24];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return proc_is_ours() && read_process(text, ret_process);
}

/* Reads the name of the program that a process runs, without its folder; NULL: it may not be read.
 * `text` gets the path. An upgrade may have replaced the file. */
static const char *read_program(const char *pid, char text[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/exe", pid);
	ssize_t size = readlink(path, text, PATH_MAX - 1);
	if (size <= 0)
		return NULL;
	size_t end = (size_t)size;
	text[end] = '\0';
	if (end > tail && strcmp(text + end - tail, deleted) == 0)
		text[end - tail] = '\0';
	const char *slash = strrchr(text, '/');
	return slash != NULL ? slash + 1 : text;
}

/* Any process can take the name of a guardian. Does this one also run the same program as this
 * process? If that may not be read, it counts as another program. */
static bool runs_this_program(pid_t pid)
{
	char number[24], own_text[PATH_MAX], other_text[PATH_MAX];

	snprintf(number, sizeof(number), "%d", (int)pid);
	const char *own = read_program("self", own_text), *other = read_program(number, other_text);
	return own != NULL && other != NULL && strcmp(own, other) == 0;
}

/* Is this still the process that was found? Its pid may belong to another process by now. */
static bool is_same(const struct descendant *process)
{
	struct descendant now;

	return look_at(process->pid, &now) && now.begun == process->begun;
}

/* Adds a process to the list. If there is no memory, leaves it out: the process that kills must not
 * fail before the others have ended. */
static void add_to_list(struct processes *all, const struct descendant *process)
{
	if (all->count == all->room) {
		size_t room = all->room + all->room / 2 + 64;
		struct descendant *list = realloc(all->list, room * sizeof(*list));
		if (list == NULL) {
			all->incomplete = true;
			return;
		}
		all->list = list;
		all->room = room;
	}
	all->list[all->count++] = *process;
}

static void add_process(struct processes *all, const char *pid)
{
	struct descendant process;

	if (read_process(pid, &process))
		add_to_list(all, &process);
	else
		note_failure(all);
}

/* Adds the children of one thread, if the kernel lists them. */
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

/* Adds the children of all threads of a process. */
static void add_children_of_threads(struct processes *all, pid_t pid)
{
	char path[64];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	if (threads == NULL) {
		note_failure(all);
		return;
	}
	while ((entry = readdir(threads)) != NULL) {
		if (entry->d_name[0] != '.')
			add_children_of_thread(all, pid, entry->d_name);
	}
	closedir(threads);
}

/*
 * Lists the children of this process, their children, and so on. The time for this depends only on
 * their number. To read all processes of a busy host takes many milliseconds, in which the command
 * goes on. The kernel may leave out a child while another one ends, so an empty list proves
 * nothing.
 */
static struct processes list_tree(void)
{
	struct processes all = {0};
	char self[24];

	snprintf(self, sizeof(self), "%d", (int)getpid());
	add_children_of_thread(&all, getpid(), self); /* this process has one thread */
	for (size_t next = 0; next < all.count && all.count < TREE_MAX; next++) {
		const struct descendant process = all.list[next];
		char thread[24];
		snprintf(thread, sizeof(thread), "%d", (int)process.pid);
		if (process.threaded)
			add_children_of_threads(&all, process.pid);
		else
			add_children_of_thread(&all, process.pid, thread);
	}
	return all;
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

/* Is this an unreaped child of this process? Then no other process can have its pid. While a child
 * has a debugger, waitid reports its end only after the debugger knows of it. */
static bool is_child(pid_t pid, bool *ret_ended)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
		return false;
	*ret_ended = info.si_pid == pid;
	return true;
}

/* Makes a process and returns its pid. Processes that were made after the caller have pids between
 * the caller's and this one. The end of the new process causes no SIGCHLD. Returns the caller's own
 * pid if no process can be made. */
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

/* Adds the children of this process whose pids are at least `first` and less than `end`. Returns
 * true if one of them has ended and waits to be reaped. */
static bool add_children(struct processes *all, pid_t first, pid_t end)
{
	bool ended, any_ended = false;

	for (pid_t pid = first; pid < end; pid++) {
		struct descendant child = {.pid = pid};
		if (!is_child(pid, &ended))
			continue;
		any_ended = any_ended || ended;
		look_at(pid, &child); /* /proc may tell more about it */
		child.parent = getpid();
		child.zombie = child.zombie || ended;
		add_to_list(all, &child);
	}
	return any_ended;
}

/* Is the process spared? If it is not known when the process or the spared child with this pid was
 * made, they count as the same process. */
static bool is_spared(const struct spared *spared, const struct descendant *process)
{
	for (size_t i = 0; i < spared->count; i++) {
		const struct spared_process *at = &spared->list[i];
		if (at->pid == process->pid &&
		    (at->begun == process->begun || at->begun == 0 || process->begun == 0))
			return true;
	}
	return process->begun != 0 && process->begun < spared->older_than;
}

static bool has_living(const struct processes *all, const struct spared *spared)
{
	for (size_t i = 0; i < all->count; i++) {
		if (!all->list[i].zombie && !is_spared(spared, &all->list[i]))
			return true;
	}
	return false;
}

/* Returns the least number that is greater than every pid. Each pid namespace has its own limit. If
 * there are no descriptors to read the limit, the one that was read last counts: to try four
 * million pids would take longer than the margin of a lease. */
static pid_t number_limit(void)
{
	static pid_t limit_last = NUMBER_LIMIT;
	FILE *file = proc_is_ours() ? fopen("/proc/sys/kernel/pid_max", "re") : NULL;
	int limit = 0;

	if (file == NULL)
		return limit_last;
	if (fscanf(file, "%d", &limit) != 1 || limit <= getpid() || limit > NUMBER_LIMIT)
		limit = NUMBER_LIMIT;
	fclose(file);
	limit_last = limit;
	return limit;
}

/*
 * Lists the children of this process by trying pids. (Grandchildren become children when their
 * parents have ended.) The pids that were given since this process began are tried first; they may
 * have begun again with small ones. If no child is found among them, except spared ones, the other pids are
 * tried, because the pids may have gone through their whole range since then. To try all pids takes
 * seconds where there can be four million. So if a child has ended, the others are not tried yet:
 * the caller first reaps that child, and often no child is left then.
 */
static struct processes list_children(const struct spared *spared)
{
	struct processes all = {.incomplete = true};
	pid_t self = getpid(), newest = newest_number(), limit = number_limit();
	bool ended = add_children(&all, self + 1, newest > self ? newest : limit);

	if (newest <= self && add_children(&all, 1, newest))
		ended = true;
	if (ended || has_living(&all, spared))
		return all;
	if (newest > self) {
		add_children(&all, newest, limit);
		add_children(&all, 1, self);
	} else {
		add_children(&all, newest, self);
	}
	return all;
}

/* --- the descendants --- */

/*
 * Keeps only the descendants of this process in the list, parents before their children, without
 * zombies and spared processes.
 *
 * The list was not read at a single moment. If a process ended while it was read, its pid may have
 * been given to a stranger, whose children are not ours. So a parent counts only if it is still the
 * same process after its children were read.
 */
static void keep_descendants(struct processes *all, const struct spared *spared)
{
	size_t found = 0;

	/* First comes this process (i = 0), then those that were found. */
	for (size_t i = 0; i <= found; i++) {
		const struct descendant *parent = i > 0 ? &all->list[i - 1] : NULL;
		pid_t pid = parent != NULL ? parent->pid : getpid();
		bool is_certain = parent == NULL || all->incomplete;
		for (size_t k = found; k < all->count; k++) {
			const struct descendant child = all->list[k];
			if (child.parent != pid || child.zombie || is_spared(spared, &child))
				continue;
			if (!is_certain && !is_same(parent))
				break;
			is_certain = true;
			all->list[k] = all->list[found];
			all->list[found++] = child;
		}
	}
	all->count = found;
}

/* Finds the descendants of this process with /proc. If /proc cannot be used, the list is
 * incomplete. */
static struct processes find_in_proc(const struct spared *spared)
{
	struct processes found = {.incomplete = true};

	if (!proc_is_ours())
		return found;
	found = list_tree();
	keep_descendants(&found, spared);
	if (!found.incomplete && found.count == 0) {
		free(found.list);
		found = list_processes();
		keep_descendants(&found, spared);
	}
	return found;
}

/* Returns false if the signal may not be sent, because the process has changed its user. */
static bool may_signal(pid_t pid, int signal)
{
	return kill(pid, signal) == 0 || errno != EPERM;
}

/*
 * Sends a signal to a process that was found, and to no other. A child keeps its pid until this
 * process reaps it. The pid of any other process may have been given to a stranger. So a descriptor
 * of the process is opened first, and then the process is checked again. Returns the same as
 * may_signal.
 */
static bool signal_found(const struct descendant *process, int signal)
{
	bool may = true;

	if (process->parent == getpid())
		return may_signal(process->pid, signal);
	int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	if (is_same(process) &&
	    (fd < 0 ||
	     (syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) != 0 && errno != ESRCH)))
		may = may_signal(process->pid, signal); /* the kernel is old, or refuses it */
	if (fd >= 0)
		close(fd);
	return may;
}

struct descendants descendants_left(const struct spared *spared, pid_t except)
{
	struct processes found = find_in_proc(spared);
	struct descendants left = {0};

	for (size_t i = 0; i < found.count; i++) {
		const struct descendant *process = &found.list[i];
		if (process->pid == except)
			continue;
		left.count++;
		if (!may_signal(process->pid, 0) && is_same(process))
			left.refused = process->pid;
	}
	/* Some were not found, and there is no time to try all pids: count them as one. */
	if (found.incomplete)
		left.count++;
	free(found.list);
	return left;
}

/* Sends SIGKILL to all processes that were found, except guardians. Returns true if there are
 * any. */
static bool kill_others(const struct processes *found, struct descendants *left)
{
	bool others = false;

	for (size_t i = 0; i < found->count; i++) {
		const struct descendant *process = &found->list[i];
		if (process->guards)
			continue;
		others = true;
		if (!signal_found(process, SIGKILL))
			left->refused = process->pid;
	}
	return others;
}

/*
 * Are the guardians that were found alone? A list that was read while processes ended may lack
 * others: when a parent ends, its children move to a process whose children were read before. So
 * look again, at all processes. Kills what it finds.
 */
static bool guardians_are_alone(const struct spared *spared, struct descendants *left)
{
	for (int i = 0; i < ALONE_SEEN_MAX; i++) {
		struct processes found = list_processes();
		keep_descendants(&found, spared);
		bool others = kill_others(&found, left);
		free(found.list);
		if (others)
			return false;
	}
	return true;
}

struct descendants descendants_kill(const struct spared *spared, pid_t command, unsigned how)
{
	bool ended;

	/* This ends the whole group at once, with all that it forks. The guardians of other runs
	 * have groups of their own. */
	if (command > 0 && is_child(command, &ended))
		kill(-command, SIGKILL);
	struct processes found = find_in_proc(spared);
	/* Look for children without /proc too: it may hide processes of other users. */
	if (found.incomplete || (found.count == 0 && (how & KILL_THOROUGH) != 0)) {
		free(found.list);
		found = list_children(spared);
		keep_descendants(&found, spared);
	}
	struct descendants left = {.count = found.count};

	bool others = kill_others(&found, &left);
	bool kill_liars = (how & KILL_LIARS) != 0 && left.refused == 0;
	/* Kill liars at once, before the second look at all processes: by then each could have
	 * started the next one and ended. */
	for (size_t i = 0; i < found.count; i++) {
		struct descendant *process = &found.list[i];
		if (!process->guards || !kill_liars || runs_this_program(process->pid))
			continue;
		signal_found(process, SIGKILL);
		process->guards = false;
	}
	bool kill_guardians = (how & KILL_GUARDIANS) != 0 && !others && found.count > 0 &&
	                      guardians_are_alone(spared, &left);
	int signal = kill_guardians ? SIGKILL : SIGCONT;
	for (size_t i = 0; i < found.count; i++) {
		if (found.list[i].guards && !signal_found(&found.list[i], signal))
			left.refused = found.list[i].pid;
	}
	free(found.list);
	return left;
}

/* Is the parent of this process, which is in the list too, about to end? Then this process is about
 * to be inherited. */
static bool has_ending_parent(const struct processes *all, const struct descendant *process)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct descendant *parent = &all->list[i];
		if (parent->pid == process->parent)
			return parent->exits || was_killed(parent->pid);
	}
	return false;
}

/* Does the work of descendants_inherit_guardian, with one look at all processes. */
static bool inherits_guardian(void)
{
	struct processes all = list_tree();
	bool found = false;

	for (size_t i = 0; i < all.count; i++) {
		const struct descendant *process = &all.list[i];
		bool inherited = process->parent == getpid();
		if (!process->guards || process->zombie ||
		    (!inherited && !has_ending_parent(&all, process)))
			continue;
		found = true;
		if (inherited && process->stopped)
			may_signal(process->pid, SIGCONT);
	}
	free(all.list);
	return found;
}

bool descendants_inherit_guardian(void)
{
	/* A list that was read while a process ended may lack the children of that process. */
	for (int i = 0; proc_is_ours() && i < ALONE_SEEN_MAX; i++) {
		if (inherits_guardian())
			return true;
	}
	return false;
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

/* Adds all children of this process, except one, to the spared processes. */
static void spare_children(struct spared *spared, pid_t except)
{
	struct processes all = proc_is_ours() ? list_processes() : list_children(spared);

	for (size_t i = 0; i < all.count; i++) {
		const struct descendant *child = &all.list[i];
		if (child->parent != getpid() || child->pid == except || is_spared(spared, child))
			continue;
		spared->list =
		        grow(spared->list, &spared->room, spared->count + 1, sizeof(*spared->list));
		spared->list[spared->count++] = (struct spared_process){child->pid, child->begun};
	}
	free(all.list);
}

void spared_note(struct spared *spared)
{
	siginfo_t info;

	*spared = (struct spared){0};
	number_limit(); /* read the limit now: later there may be no descriptors for that */
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return; /* there are no children to spare, as nearly always */
	spare_children(spared, 0);
}

void spared_note_guardian(struct spared *spared, pid_t guardian)
{
	struct descendant process;

	if (spared->count > 0 && look_at(guardian, &process))
		spared->older_than = process.begun;
}

void spared_note_orphans(struct spared *spared, pid_t guardian)
{
	if (spared->count > 0)
		spare_children(spared, guardian);
}

void spared_free(struct spared *spared)
{
	free(spared->list);
}
