/*
 * A voter's part of the membership: it applies what the voters' log has committed, notes by its own
 * clock when each member's lease was renewed, and, while it leads, proposes what comes next.
 *
 *	in:  entries as they are committed (warden_committed), whether this voter leads
 *	     (warden_leads), petitions of members and candidates, the time
 *	out: entries to propose, bulletins for members
 *
 * The log behind it promises little. What is proposed may be lost, or be committed much later, under
 * another leader, too; a voter may believe that it leads when another does. It is committed in one
 * order, which all voters see. Everything here is safe under that.
 *
 * A member is removed when W has passed since this voter noted its last renewal: its lease, by a clock
 * that is as much too slow as any may be, and a little. The removal names that renewal, and is void if
 * another has been committed by then. So the member's own deadline has passed, whatever the clocks of
 * the two, when its removal takes effect.
 *
 * Time is the lease clock of the host in nanoseconds. No I/O, no clock, nothing is logged.
 */
#ifndef ENGINE_WARDEN_H
#define ENGINE_WARDEN_H

#include "state.h"
#include "wiring.h"

#define WARDEN_NEVER UINT64_MAX

struct warden_options {
	struct state_settings settings; /* of a cluster that has no snapshot yet */
	struct wiring wiring;
	const char *const *voters; /* names, which must stay */
	uint32_t voters_count;
	const uint8_t *snapshot; /* NULL: none */
	size_t snapshot_size;
};

struct warden;

/* NULL: the snapshot is malformed. `now` is when all that it says is taken to have been renewed. */
struct warden *warden_create(const struct warden_options *options, uint64_t now);
void warden_destroy(struct warden *warden);

const struct agreed_state *warden_state(const struct warden *warden);

/* The entry after the last one. */
void warden_committed(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now);
void warden_leads(struct warden *warden, bool leads, uint64_t now);
/* False: malformed. */
bool warden_petition(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now);
/* An operator's wish: proposed if this voter leads. */
void warden_forbid(struct warden *warden, const char *name, bool forbid, uint64_t now);

/* When warden_tick must be called at the latest. */
uint64_t warden_deadline(const struct warden *warden);
void warden_tick(struct warden *warden, uint64_t now);

enum warden_effect_kind {
	WARDEN_PROPOSE, /* to the log */
	WARDEN_NOTIFY,  /* a bulletin, to a process */
};

struct warden_effect {
	enum warden_effect_kind kind;
	uint64_t process; /* NOTIFY */
	const uint8_t *bytes;
	size_t size;
};

/* The oldest effect that has not been taken; false: there is none. Good until the next call. */
bool warden_effect(struct warden *warden, struct warden_effect *ret_effect);

/* How long after its note of a renewal a voter may propose to remove the member. */
uint64_t warden_patience(uint64_t lease_ns);

#endif
