/*
 * The lease page: a page of memory with this node's lease word (node_lease_word). Clients on this
 * host get its descriptor over the Unix socket, and read the word without asking. Only this process
 * can write to the page, and its size is fixed, so a reader cannot fail. The word's deadline is on
 * the lease clock.
 *
 * A changed word must be stored before any reply that depends on the change is sent: a client that
 * acts on the reply must not read the old word.
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
