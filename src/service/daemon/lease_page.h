/*
 * The lease word of this node (node_lease_word), where clients on this host can read it without
 * asking: in a page of memory whose descriptor they get over the Unix socket. Only this process can
 * write to it, and its size is fixed, so that a reader needs no care. The word's deadline is on the
 * lease clock.
 *
 * The word must be stored before anything leaves that follows from its change: a client that acts on
 * a reply must not read an older word.
 */
#ifndef DAEMON_LEASE_PAGE_H
#define DAEMON_LEASE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

struct daemon;

struct word_page {
	/* The descriptor of the page; -1: there is no page, and clients have to ask (LEASE). */
	int fd;
	_Atomic uint64_t *word; /* the lease word in the page; NULL: there is no page */
	uint64_t published;     /* the value that the page holds */
};

/* Makes the page. If the system refuses it, logs that. */
void lease_page_open(struct word_page *page);
void lease_page_close(struct word_page *page);
/* Stores the word, if it has changed. Call it before effects are carried out. */
void lease_page_publish(struct daemon *daemon);

#endif
