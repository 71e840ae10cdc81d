/*
 * The paths between hosts. Petitions, bulletins and the voters' letters go as datagrams that may be
 * lost, doubled and overtake each other. Links use lines: connections that keep order, carry bytes
 * in pieces of any size, and may break at any byte; either end may learn of the break much later.
 */
#ifndef TORTURE_PATHS_H
#define TORTURE_PATHS_H

#include "realm.h"

struct path_net *paths_create(uint64_t seed);
void paths_destroy(struct path_net *paths);

/* Adds `more` to the number of cuts from one host to another. Nothing gets through while that
 * number is not 0. */
void paths_cut(struct realm *realm, uint32_t from, uint32_t to, bool links, bool engine, int more);
bool paths_reach(const struct realm *realm, uint32_t from, uint32_t to);
/* Sets how many percent of datagrams are lost or duplicated, and how late they may be. */
void paths_trouble(struct realm *realm, uint32_t percent, uint64_t late_max);
/* Makes the process of the host wait this long between two reads from a connection; 0: it does not
 * wait. */
void paths_slow(struct realm *realm, uint32_t place, uint64_t between);
/* Breaks one line of the host, if it has any. */
void paths_break(struct realm *realm, uint32_t place);
/* Ends all cuts and losses. */
void paths_heal(struct realm *realm);

enum path_kind {
	PATH_PETITION, /* a petition, to the process of a host and its voter */
	PATH_LETTER,   /* a letter from one voter to another */
	PATH_BULLETIN, /* a bulletin, to the resident of a host */
};

void paths_send(struct realm *realm, uint32_t from, uint32_t to, enum path_kind kind,
                const uint8_t *bytes, size_t size);
void paths_dial(struct realm *realm, uint32_t place, struct strand *line, const char *address);
void paths_close(struct realm *realm, struct strand *line);
void paths_changed(struct realm *realm, struct strand *line);
/* Ends the lines of a process that is gone. */
void paths_kill(struct realm *realm, uint32_t place);

void paths_on_datagram(struct realm *realm, const struct event *event);
void paths_on_line(struct realm *realm, const struct event *event);

#endif
