/*
 * Connections in virtual time: a byte stream each way, with what the network, the kernels and dying
 * hosts do to it. Bytes are delayed and come in pieces; a connection holds only so many of them, so
 * that writes are short; it is cut at any byte, and each end learns of that at once, late or last.
 *
 * Shared by cluster.c, members.c and wires.c only.
 */
#ifndef TORTURE_WIRES_H
#define TORTURE_WIRES_H

#include "cluster.h"

struct connection;

/* Kinds of events below CLUSTER_EVENTS. `node` is a place, `from` the other one or a side. */
enum {
	EVENT_LINK,
	EVENT_TICK,
	EVENT_TELL,
	EVENT_DIALLED,  /* connecting has come to a result */
	EVENT_ACCEPT,   /* the listener looks into its queue */
	EVENT_READABLE, /* bytes have arrived, or the end of the stream */
	EVENT_WRITABLE,
	EVENT_BROKEN /* the kernel finds out that a connection is dead */
};

void wires_init(struct cluster *cluster);
void wires_free(struct cluster *cluster);
void wires_dial(struct cluster *cluster, uint32_t from, struct connection *connection, uint32_t to);
/* It has output, or may be read, or not any more. */
void wires_changed(struct cluster *cluster, struct connection *connection);
/* The member wants it closed. */
void wires_close(struct cluster *cluster, struct connection *connection);
/* The process dies: all its connections are closed, as far as its member is concerned. `polite`: the
 * others get all that was written. */
void wires_crash(struct cluster *cluster, uint32_t place, bool polite);
/* A stall has begun, has changed or is over. */
void wires_stalled(struct cluster *cluster, uint32_t from, uint32_t to);
bool wires_on_event(struct cluster *cluster, const struct event *event);
/* Connections that nobody has any more are forgotten. */
void wires_sweep(struct cluster *cluster);

/* --- members.c --- */

void members_start(struct cluster *cluster, uint32_t place);
void members_after(struct cluster *cluster, uint32_t place);
void members_crash(struct cluster *cluster, uint32_t place, bool leaves);

#endif
