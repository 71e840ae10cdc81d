/*
 * Many workers on many hosts share a folder of tasks; each task is done by one of them, once.
 *
 *     worker_pool FOLDER WORKERS     for each FOLDER/NAME.task: does it, writes FOLDER/NAME.done
 *
 * There is a lock for each task, with its name, and a handle for each thread: handles share
 * nothing.
 */
#include <baton/baton.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, PATH_ROOM = 4096 };

static const char *folder;

static void path_of(char *path, const char *name, const char *end)
{
	snprintf(path, PATH_ROOM, "%s/%s.%s", folder, name, end);
}

/* The work itself, which must not happen twice. Returns 0, or -1 if it was done before. */
static int do_task(const char *name, uint64_t fence)
{
	char task[PATH_ROOM], done[PATH_ROOM];

	path_of(task, name, "task");
	path_of(done, name, "done");
	/* Another worker may have done it after we looked at the folder and before we got the
	 * lock. */
	if (access(task, F_OK) != 0)
		return -1;
	FILE *file = fopen(done, "a");
	if (file == NULL) {
		perror(done);
		return -1;
	}
	fprintf(file, "done by %d, fence %llu\n", (int)getpid(), (unsigned long long)fence);
	fclose(file);
	return unlink(task);
}

/* Tries each task that is there now. Returns how many it did, or an error. */
static int do_tasks(struct baton *baton)
{
	int count = 0, error = 0;
	uint64_t fence;
	DIR *listing = opendir(folder);

	if (listing == NULL)
		return 0;
	for (struct dirent *entry; error == 0 && (entry = readdir(listing)) != NULL;) {
		char *end = strrchr(entry->d_name, '.');
		if (end == NULL || strcmp(end, ".task") != 0)
			continue;
		*end = '\0';
		error = baton_trylock(baton, entry->d_name, &fence);
		if (error == BATON_ENOTFREE) { /* another worker does this task */
			error = 0;
			continue;
		}
		if (error < 0)
			break;
		if (do_task(entry->d_name, fence) == 0)
			count++;
		error = baton_unlock(baton, entry->d_name);
	}
	closedir(listing);
	return error < 0 ? error : count;
}

static void *work(void *unused)
{
	struct baton *baton = baton_open(NULL);
	int done, all = 0;

	(void)unused;
	if (baton == NULL)
		return "out of memory";
	while ((done = do_tasks(baton)) > 0)
		all += done;
	if (done < 0)
		fprintf(stderr, "worker_pool: %s\n", baton_message(baton));
	baton_close(baton);
	printf("%d done\n", all);
	return done < 0 ? "failed" : NULL;
}

int main(int argc, char **argv)
{
	pthread_t workers[WORKERS_MAX];
	int count = argc == 3 ? atoi(argv[2]) : 0, started = 0;
	bool failed = false;

	if (count < 1 || count > WORKERS_MAX) {
		fprintf(stderr, "usage: worker_pool FOLDER WORKERS (1 to %d)\n", WORKERS_MAX);
		return 64;
	}
	folder = argv[1];
	while (started < count && pthread_create(&workers[started], NULL, work, NULL) == 0)
		started++;
	for (int i = 0; i < started; i++) {
		void *problem;
		pthread_join(workers[i], &problem);
		failed |= problem != NULL;
	}
	return failed || started == 0;
}
