/*
 * A voter's side of the membership. It applies the entries that the voters' log has committed, and
 * notes by its own clock when each member's lease was renewed. While it leads, it proposes new
 * entries.
 *
 * 	in:  entries as they are committed (warden_committed), whether this voter leads
 * 	     (warden_leads), petitions of members and candidates, the time
 * 	out: entries to propose, bulletins for members
 *
 * The log promises little. A proposal may be lost, or be committed much later, even under another
 * leader. A voter may believe that it leads while another one does. But all voters see the
 * committed entries in the same order. Everything here is safe under that promise alone.
 *
 * A member is removed when the time W has passed since this voter noted its last renewal. W is how
 * long a lease can last by the slowest clock allowed, and a little more (warden_patience). The
 * removal names that renewal, and is void if another has been committed by then. So when a removal
 * takes effect, the member's own deadline has passed, even if the two clocks run at different
 * rates.
 *
 * Time is the lease clock of the host in nanoseconds. No I/O, no clock, nothing is logged.
 */
#ifndef ENGINE_WARDEN_H
#define ENGINE_WARDEN_H

#include "electorate.h"
#include "electors.h"
#include "state.h"
#include "wiring.h"

#define WARDEN_NEVER UINT64_MAX

struct warden_options {
	struct state_settings settings; /* the settings of a cluster that has no snapshot yet */
	struct wiring wiring;
	const uint8_t *snapshot; /* the last snapshot of the state; NULL: there is none */
	size_t snapshot_size;
};

struct warden;

/* Creates a warden. All leases in the snapshot count as renewed at `now`. Returns NULL if the
 * snapshot is malformed. */
struct warden *warden_create(const struct warden_options *options, uint64_t now);
void warden_destroy(struct warden *warden);
/* Replaces the state by that of a snapshot, as when a voter starts. Returns false if the snapshot
 * is malformed; then nothing has changed. */
bool warden_restore(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now);

const struct agreed_state *warden_state(const struct warden *warden);

/* Applies the next committed entry. */
void warden_committed(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now);
void warden_leads(struct warden *warden, bool leads, uint64_t now);
/* Sets the committed list of voters, which is in this voter's own log. A list that is older than
 * the last one is ignored. The list is copied. */
void warden_electors(struct warden *warden, const struct electors *electors);
/* Lists all processes with a data directory that were heard lately. The caller frees the list; its
 * names are valid until the next call. */
uint32_t warden_standing(const struct warden *warden, struct standing **ret_list);
/* Takes a petition. Returns false if it is malformed. */
bool warden_petition(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now);
/* The reasons why a leader does not propose what it was asked to. */
enum refusal {
	REFUSAL_NONE,
	REFUSAL_NAME, /* no member, voter or candidate has the name */
	REFUSAL_ROOM, /* too many names are remembered */
};

/* Returns the refusal as a sentence. */
const char *refusal_text(enum refusal refusal);

/* Proposes an INVITE, an ADMIT or an order, if this voter leads and that would change something.
 * Entries of other kinds are ignored. */
enum refusal warden_request(struct warden *warden, const struct log_entry *entry, uint64_t now);

/* Returns the latest time at which warden_tick must be called. */
uint64_t warden_deadline(const struct warden *warden);
void warden_tick(struct warden *warden, uint64_t now);

enum warden_effect_kind {
	WARDEN_PROPOSE, /* propose the bytes to the log */
	WARDEN_NOTIFY,  /* send the bytes, a bulletin, to a process */
};

struct warden_effect {
	enum warden_effect_kind kind;
	uint64_t process; /* NOTIFY: the process that the bulletin is for */
	const uint8_t *bytes;
	size_t size;
};

/* Returns the oldest effect that was not taken, or false if there is none. Valid until the next
 * call. */
bool warden_effect(struct warden *warden, struct warden_effect *ret_effect);

/* Returns how long a voter waits after its note of a renewal before it may propose to remove the
 * member. */
uint64_t warden_patience(uint64_t lease_ns);

#endif
