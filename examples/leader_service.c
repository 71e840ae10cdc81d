/*
 * A service with its own event loop, of which one instance leads and publishes its address.
 *
 *     leader_service NAME ADDRESS
 *
 * SIGTERM: resigns and ends. It polls only three descriptors: the answer to the campaign, the loss
 * of the leadership, and a signal; a real service has more.
 */
#include <baton/baton.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct service {
	struct baton *baton;
	const char *name, *address;
	int lost, signal; /* descriptors */
	bool leads;
};

static int campaign(struct service *service)
{
	service->leads = false;
	printf("campaigning\n");
	return baton_elect_start(service->baton, service->name, service->address,
	                         strlen(service->address));
}

/* The node may have answered. */
static int on_answer(struct service *service)
{
	uint64_t fence;
	int error = baton_finish(service->baton, &fence);

	if (error == BATON_EPENDING)
		return 0;
	/* Elected, but the leadership was taken away before all members knew of it. */
	if (error == BATON_ELOST)
		return campaign(service);
	if (error < 0)
		return error;
	service->leads = true;
	printf("leading, fence %llu\n", (unsigned long long)fence);
	return 0;
}

static int on_loss(struct service *service)
{
	uint64_t fence;
	int error = 0;

	while (error == 0 && baton_lost(service->baton, NULL, &fence) == 1) {
		printf("lost, fence %llu\n", (unsigned long long)fence);
		error = campaign(service);
	}
	return error;
}

static int run(struct service *service)
{
	service->lost = baton_watch(service->baton);
	int error = service->lost < 0 ? service->lost : campaign(service);

	while (error == 0) {
		struct pollfd items[] = {
		        {.fd = service->signal, .events = POLLIN},
		        {.fd = service->lost, .events = POLLIN},
		        /* poll ignores a descriptor below 0. */
		        {.fd = service->leads ? -1 : baton_fd(service->baton), .events = POLLIN},
		};
		if (poll(items, 3, -1) < 0 && errno != EINTR)
			return BATON_ECONNECTION;
		if (items[0].revents != 0)
			return service->leads ? baton_resign(service->baton, service->name) : 0;
		if (items[1].revents != 0)
			error = on_loss(service);
		if (error == 0 && items[2].revents != 0)
			error = on_answer(service);
	}
	return error;
}

int main(int argc, char **argv)
{
	sigset_t signals;

	if (argc != 3) {
		fprintf(stderr, "usage: leader_service NAME ADDRESS\n");
		return 64;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	struct service service = {.baton = baton_open(NULL),
	                          .name = argv[1],
	                          .address = argv[2],
	                          .signal = signalfd(-1, &signals, SFD_CLOEXEC)};
	if (service.baton == NULL)
		return 71;
	int error = run(&service);
	if (error < 0)
		fprintf(stderr, "leader_service: %s\n", baton_message(service.baton));
	else
		printf("standing down\n");
	baton_close(service.baton);
	return error < 0 ? 69 : 0;
}
