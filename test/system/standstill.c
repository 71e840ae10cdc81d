/*
 * Makes a daemon stand still where it reads a clock, as if it were stopped there by SIGSTOP. For
 * LD_PRELOAD.
 *
 * After the daemon has received the text "stand still N", the N-th reading of a clock by its first
 * thread does not begin before somebody removes the file $STANDSTILL, which appears meanwhile. A
 * clock is read without a system call, so neither strace nor ptrace can do this.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int left; /* how many readings are left until the daemon stands still; 0: it goes on */

static void stand_still(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const char *path = getenv("STANDSTILL");
	int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		abort();
	close(fd);
	while (access(path, F_OK) == 0)
		nanosleep(&pause, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	static int (*next)(clockid_t clock, struct timespec * ret_time);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	if (left > 0 && gettid() == getpid() && --left == 0)
		stand_still();
	return next(clock, ret_time);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	static const char order[] = "stand still ";
	static ssize_t (*next)(int fd, struct msghdr *message, int flags);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "recvmsg");
	ssize_t size = next(fd, message, flags);
	const char *found = size > 0 ? memmem(message->msg_iov[0].iov_base, (size_t)size, order,
	                                      sizeof(order) - 1)
	                             : NULL;
	if (found != NULL) /* a newline follows the number */
		left = atoi(found + sizeof(order) - 1);
	return size;
}
