/*
 * How the voters of a realm agree: what a process has beside its resident if it votes, and the log
 * that the voters share. There are two: a log that is atomic and spiteful (spiteful_log.h), and the
 * real one on simulated disks (raft_log.h).
 */
#ifndef TORTURE_LOG_ENGINE_H
#define TORTURE_LOG_ENGINE_H

#include "realm.h"

struct log_engine {
	void (*create)(struct realm *realm);
	void (*destroy)(struct realm *realm);
	void (*begin)(struct realm *realm);

	/* The voter of a process begins with what its disk has, and ends with the process. */
	void (*start)(struct realm *realm, uint32_t place);
	void (*stop)(struct realm *realm, uint32_t place);
	/* Its clock says what it waited for (realm_await_voter). */
	void (*tick)(struct realm *realm, uint32_t place);
	/* False: malformed. */
	bool (*petition)(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size);
	bool (*letter)(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size);
	void (*on_event)(struct realm *realm, const struct event *event);

	/* An operator asks the leader. */
	void (*forbid)(struct realm *realm, const char *name, bool forbids);
	/* Faults: entries take up to so long; the leader is deposed, and does not hear of it before
	 * then; nobody leads before then. */
	void (*slow)(struct realm *realm, uint64_t delay_max);
	void (*depose)(struct realm *realm, uint64_t until);
	void (*headless)(struct realm *realm, uint64_t until);

	/* May be NULL, all that follow: */
	/* A disk is emptied, of a host without a process. False: then too few votes would be left. */
	bool (*wipe)(struct realm *realm, uint32_t place);
	/* The id of the data directory of a host. */
	uint64_t (*server)(const struct realm *realm, uint32_t place);
	/* A process has learned who the voters are. */
	void (*told)(struct realm *realm, uint32_t place);
	/* Everything has been mended: NULL, or what is not yet as it should be. */
	const char *(*unsettled)(const struct realm *realm, char room[192]);
	bool voters_change; /* voters are chosen by themselves */

	uint64_t (*committed)(const struct realm *realm);
};

#endif
