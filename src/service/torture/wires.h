/*
 * Connections in virtual time: a byte stream in each direction, with what the network, the kernels
 * and dying hosts do to it. Bytes are delayed and arrive in pieces. A connection holds only so many
 * of them, so writes are short. It may be cut at any byte; each end learns of that at once, or
 * late.
 *
 * Used by cluster.c, members.c and wires.c only.
 */
#ifndef TORTURE_WIRES_H
#define TORTURE_WIRES_H

#include "cluster.h"

struct connection;

/* Kinds of events below CLUSTER_EVENTS. `node` is a place; `from` is the other place, or a side. */
enum {
	EVENT_LINK,
	EVENT_TICK,
	EVENT_TELL,
	EVENT_DIALLED,  /* a dial has succeeded or failed */
	EVENT_ACCEPT,   /* the listener looks into its queue */
	EVENT_READABLE, /* bytes have arrived, or the end of the stream */
	EVENT_WRITABLE,
	EVENT_BROKEN /* the kernel notices that a connection is dead */
};

void wires_init(struct cluster *cluster);
void wires_free(struct cluster *cluster);
void wires_dial(struct cluster *cluster, uint32_t from, struct connection *connection, uint32_t to);
/* The connection may have got output, or its member may have changed its mind about reading. */
void wires_changed(struct cluster *cluster, struct connection *connection);
/* The member wants the connection closed. */
void wires_close(struct cluster *cluster, struct connection *connection);
/* The process dies, and all its connections are closed without telling its member. `polite`: the
 * other ends get everything that was written. */
void wires_crash(struct cluster *cluster, uint32_t place, bool polite);
/* A stall has begun, has changed or is over. */
void wires_stalled(struct cluster *cluster, uint32_t from, uint32_t to);
bool wires_on_event(struct cluster *cluster, const struct event *event);
/* Frees connections that both ends have closed. */
void wires_sweep(struct cluster *cluster);

/* --- members.c --- */

void members_start(struct cluster *cluster, uint32_t place);
void members_after(struct cluster *cluster, uint32_t place);
void members_crash(struct cluster *cluster, uint32_t place, bool leaves);

#endif
