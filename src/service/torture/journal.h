/*
 * The record of what happened in a cluster, in order. It is always hashed, to compare two runs, and
 * also written as text for people if a file is given.
 */
#ifndef TORTURE_JOURNAL_H
#define TORTURE_JOURNAL_H

#include "algorithm.h"

#include <stdio.h>

/* The texts in journal.c show what a, b, c and the bytes of each note mean. */
enum note_kind {
	NOTE_START,
	NOTE_CRASH,
	NOTE_REJOIN,
	NOTE_DECIDE,
	NOTE_TELL,
	NOTE_STALL,
	NOTE_TICK,
	NOTE_SEND,
	NOTE_RECEIVE,
	NOTE_FORGET,
	NOTE_READ,
	NOTE_BUMP,
	NOTE_STOP,
	NOTE_OPEN,
	NOTE_CLOSE,
	NOTE_LOCK,
	NOTE_LOCK_TIMEOUT,
	NOTE_LOCK_NOWAIT,
	NOTE_UNLOCK,
	NOTE_ELECT,
	NOTE_LEADER,
	NOTE_BREAK,
	NOTE_STATUS,
	NOTE_SUBSCRIBE,
	NOTE_UNSUBSCRIBE,
	NOTE_REPLY_NIL,
	NOTE_REPLY_FENCE,
	NOTE_REPLY_NUMBER,
	NOTE_REPLY_LEADER,
	NOTE_REPLY_STATUS,
	NOTE_REPLY_ERROR,
	NOTE_EVENT,
	NOTE_LOST,
	NOTE_ACT,
	NOTES
};

struct note {
	enum note_kind kind;
	uint32_t place; /* the place that the note is about; CLUSTER_NOWHERE: the whole cluster */
	uint64_t a, b, c;
	const void *bytes;
	size_t size;
};

struct journal;

/* `names` are the names of the places and must stay valid; `text` may be NULL. */
struct journal *journal_create(const char *const *names, const struct algorithm *algorithm,
                               FILE *text);
void journal_destroy(struct journal *journal);
void journal_note(struct journal *journal, uint64_t time, const struct note *note);
uint64_t journal_hash(const struct journal *journal);

#endif
