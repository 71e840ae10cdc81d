/*
 * The listeners for clients: a Unix socket and, if configured, a TCP port. Finds out who connects,
 * and refuses clients for which there is no room.
 */
#ifndef DAEMON_LISTENERS_H
#define DAEMON_LISTENERS_H

#include "loop.h"

#include <stdbool.h>
#include <sys/types.h>

struct daemon;

struct listener {
	/* Must be the first member; a descriptor of -1 means that there is no such listener. */
	struct loop_watch watch;
	struct daemon *daemon;
	bool ready; /* a client waits to be accepted */
	/* Accepts one client; returns false if none waits, or if it cannot be accepted. */
	bool (*accept)(struct listener *listener);
};

struct listeners {
	struct listener local, tcp;
	/* No clients are accepted now: there is no descriptor for one, or the node does not serve
	 * yet. */
	bool paused;
	/* A descriptor in reserve. It is closed for a moment, so that a client can be accepted and
	 * told that there is no room. */
	int spare_fd;
	bool socket_made; /* the Unix socket's file is ours: it has this device and inode */
	dev_t socket_device;
	ino_t socket_inode;
	/* SIGHUP has removed the last rules. A client that is accepted now may have connected
	 * before that, so the socket's mode must be checked for it. */
	bool judges;
	uid_t owner; /* the owner and the group of the socket's file when the rules were removed */
	gid_t group;
};

/* Call it first: notes that there are no listeners yet. */
void listeners_init(struct listeners *listeners);
/* Opens the listeners. Returns 0, or -1 after logging the reason. If a killed node has left its
 * socket, daemon->serve_at is set. */
int listeners_open(struct daemon *daemon);
/* Accepts clients, if some wait. Call it in each turn of the loop, after other clients were served:
 * one of them may have gone and made room. */
void listeners_turn(struct daemon *daemon);
/* Stops accepting clients until listeners_resume. */
void listeners_pause(struct daemon *daemon);
/* Call it when a client has gone, or some time has passed: there may be room for clients again. */
void listeners_resume(struct daemon *daemon);
/* Call it when the rules have changed: sets the mode of the socket's file, see socket_mode, and
 * notes for each client whether it is shut out. */
void listeners_adjust(struct daemon *daemon);
/* Call it when the command line of a client's process comes late: see command_lines_open. `context`
 * is the daemon. */
void listeners_late_command(void *context, uint64_t session, const char *command);
void listeners_close(struct daemon *daemon);

#endif
