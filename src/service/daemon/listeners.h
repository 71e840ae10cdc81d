/*
 * Where clients come in: a Unix socket and, if asked, a port. Who they are, and what is told to those
 * for whom there is no room.
 */
#ifndef DAEMON_LISTENERS_H
#define DAEMON_LISTENERS_H

#include "loop.h"

#include <stdbool.h>
#include <sys/types.h>

struct daemon;

struct listener {
	struct loop_watch watch; /* the first member; its descriptor is -1: there is none */
	struct daemon *daemon;
};

struct listeners {
	struct listener local, tcp;
	bool paused;      /* there is no descriptor for another client */
	int spare_fd;     /* closed for a moment to accept somebody and say that there is no room */
	bool socket_made; /* the Unix socket's file is ours: this device and inode */
	dev_t socket_device;
	ino_t socket_inode;
};

/* Before anything else: there are none. */
void listeners_init(struct listeners *listeners);
/* 0, or -1 and the reason is in the log. If a killed node has left its socket, daemon->serve_at is set. */
int listeners_open(struct daemon *daemon);
/* A client has gone, or some time has passed: there may be room again. */
void listeners_resume(struct daemon *daemon);
void listeners_close(struct daemon *daemon);

#endif
