/*
 * A writer whose file refuses it once a later holder of the lock has written.
 *
 *     fenced_writer LOCK FILE     takes the lock; each line of standard input replaces FILE
 *
 * A process can be suspended at any moment, also between "the lock is mine" and the write. So the
 * file, not the writer, must know: FILE.fence has the highest fence that wrote, and FILE is locked
 * with flock around the check and the write, so that no other writer passes in between.
 *
 * Exit: 0 all is written; 1 refused, a later holder has written; 69 no lock.
 */
#include <baton/baton.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* Returns 0 or an error. */
static int write_fenced(const char *path, uint64_t fence, const char *text)
{
	char guard[PATH_ROOM];
	uint64_t highest;
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (file < 0 || flock(file, LOCK_EX) != 0) {
		perror(path);
		return BATON_EFILE;
	}
	snprintf(guard, sizeof(guard), "%s.fence", path);
	int error = baton_fence_check(guard, fence, &highest);
	if (error == BATON_ESTALE)
		fprintf(stderr, "fenced_writer: refused: my fence is %llu, and %llu has written\n",
		        (unsigned long long)fence, (unsigned long long)highest);
	else if (error < 0)
		fprintf(stderr, "fenced_writer: %s: %s\n", guard, baton_error_text(error));
	else if (ftruncate(file, 0) != 0 || write(file, text, strlen(text)) < 0)
		error = BATON_EFILE;
	close(file);
	return error;
}

int main(int argc, char **argv)
{
	char line[1024];
	uint64_t fence;

	if (argc != 3) {
		fprintf(stderr, "usage: fenced_writer LOCK FILE\n");
		return 64;
	}
	struct baton *baton = baton_open(NULL);
	if (baton == NULL)
		return 71;
	int error = baton_lock(baton, argv[1], BATON_FOREVER, &fence);
	if (error < 0) {
		fprintf(stderr, "fenced_writer: %s\n", baton_message(baton));
		baton_close(baton);
		return 69;
	}
	printf("fence %llu\n", (unsigned long long)fence);
	fflush(stdout);
	while (error == 0 && fgets(line, sizeof(line), stdin) != NULL) {
		error = write_fenced(argv[2], fence, line);
		if (error == 0)
			printf("written\n");
		fflush(stdout);
	}
	baton_close(baton);
	return error < 0;
}
