/*
 * The engine by which the voters of a realm agree: the voter's part of a process, and the log that
 * the voters share. There are two engines: an atomic log that is as bad as possible
 * (spiteful_log.h), and the real log on simulated disks (raft_log.h).
 */
#ifndef TORTURE_LOG_ENGINE_H
#define TORTURE_LOG_ENGINE_H

#include "realm.h"

struct log_engine {
	void (*create)(struct realm *realm);
	void (*destroy)(struct realm *realm);
	void (*begin)(struct realm *realm);

	/* Start the voter of a process with the content of its disk, and end it with the
	 * process. */
	void (*start)(struct realm *realm, uint32_t place);
	void (*stop)(struct realm *realm, uint32_t place);
	/* Called when the voter's clock has reached the time of realm_await_voter. */
	void (*tick)(struct realm *realm, uint32_t place);
	/* Returns false if the petition is malformed. */
	bool (*petition)(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size);
	bool (*letter)(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size);
	/* Returns the voters according to the log of the voter of a process. */
	const struct electors *(*voters)(const struct realm *realm, uint32_t place);
	void (*on_event)(struct realm *realm, const struct event *event);

	/* Asks the leader to forbid or invite a name, as an operator does. */
	void (*forbid)(struct realm *realm, const char *name, bool forbids);
	/* Faults: delay entries by up to delay_max; depose the leader, which hears of it late (with
	 * the real log, not before `until`); let nobody lead before `until`. */
	void (*slow)(struct realm *realm, uint64_t delay_max);
	void (*depose)(struct realm *realm, uint64_t until);
	void (*headless)(struct realm *realm, uint64_t until);

	/* All functions below may be NULL. */
	/* Empties the disk of a host without a process. Returns false if too few votes would be
	 * left. */
	bool (*wipe)(struct realm *realm, uint32_t place);
	/* Tells the leader, as an operator does, whether this name should vote. */
	void (*wish)(struct realm *realm, const char *name, enum vote_wish vote);
	/* Returns the id of the data directory of a host. */
	uint64_t (*server)(const struct realm *realm, uint32_t place);
	/* Call it after all faults are over. Returns NULL, or a sentence that says what has not
	 * recovered yet. */
	const char *(*unsettled)(const struct realm *realm, char room[192]);
	bool voters_change; /* the cluster chooses its voters itself */

	uint64_t (*committed)(const struct realm *realm);
};

#endif
