/*
 * A job that every host starts at the same time from cron, and that only one of them does.
 *
 *     cron_job LOCK FILE   appends a report of three lines to FILE, unless another host is doing it
 *
 * Exit: 0 done, or another host is doing it; 69 no node; 75 the lock was lost halfway.
 */
#include <baton/baton.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t fence;

	if (argc != 3) {
		fprintf(stderr, "usage: cron_job LOCK FILE\n");
		return EX_USAGE;
	}
	const char *lock = argv[1];
	struct baton *baton = baton_open(NULL);
	if (baton == NULL)
		return EX_OSERR;
	/* Watch before locking, so that baton_fence below knows of a loss without asking. */
	int error = baton_watch(baton);
	if (error >= 0)
		error = baton_trylock(baton, lock, &fence);
	if (error == BATON_ENOTFREE) {
		printf("somebody else is at it\n");
		baton_close(baton);
		return EX_OK;
	}
	FILE *report = error < 0 ? NULL : fopen(argv[2], "a");
	if (report == NULL) {
		if (error < 0)
			fprintf(stderr, "cron_job: %s\n", baton_message(baton));
		else
			perror(argv[2]);
		baton_close(baton);
		return error < 0 ? EX_UNAVAILABLE : EX_CANTCREAT;
	}
	for (int part = 1; part <= 3; part++) {
		/* Between two pieces of work, check that the lock is still ours. */
		if (baton_fence(baton, lock, NULL) < 0)
			break;
		fprintf(report, "part %d, fence %llu\n", part, (unsigned long long)fence);
	}
	fclose(report);
	/* 0 means that it was ours to the end. */
	error = baton_unlock(baton, lock);
	if (error == 0)
		error = baton_sync(baton);
	if (error < 0)
		fprintf(stderr, "cron_job: %s\n", baton_message(baton));
	else
		printf("done, fence %llu\n", (unsigned long long)fence);
	baton_close(baton);
	return error < 0 ? EX_TEMPFAIL : EX_OK;
}
