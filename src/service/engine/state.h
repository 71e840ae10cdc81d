/*
 * The state that the voters agree upon: the members, the epoch and its fences. It is the same at
 * all voters that have applied the same entries; nothing in it depends on a clock.
 *
 * A member has a seat: a name, the process that has the name, and its incarnation, which is the
 * index of the entry by which it joined. A process may have several incarnations one after the
 * other.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "entries.h"
#include "invitations.h"

/* Fences stay below this, so that JSON and JavaScript keep them exact. */
#define STATE_FENCE_END (UINT64_C(1) << 53)
enum {
	STATE_STRIKES_MAX = 7,
	STATE_SEATS_MAX = 1 << 12,
	STATE_NAMES_MAX = 1 << 12, /* how many names are remembered, members or not */
	/* While at least this many names are forbidden, only names that the leader knows can be
	 * forbidden. */
	STATE_STRANGERS_MAX = 1 << 11,
	STATE_ORDERS_MAX = 256, /* how many orders are remembered */
};
/* The lowest and the highest version of the protocol that this program speaks. */
enum { STATE_VERSION_LEAST = 1, STATE_VERSION = 1 };

/* The identity of a cluster: a random number, drawn when the cluster is born, so that no other
 * cluster has the same. */
struct cluster_id {
	uint64_t high, low; /* the two halves of a random number; both 0: there is no cluster */
};

static inline bool cluster_is(struct cluster_id a, struct cluster_id b)
{
	return a.high == b.high && a.low == b.low;
}

/* The settings that are fixed when a cluster is created. */
struct state_settings {
	uint64_t lease_ns;
	uint64_t base;  /* the base of the first epoch's fences */
	uint64_t block; /* how many fences an epoch begins with */
	struct cluster_id cluster;
};

struct seat {
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t process, incarnation;
	uint64_t renewed; /* the index of the last entry that renewed this member's lease */
};

/* The voters' memory of a name, whether it is a member or not. */
struct name_record {
	char name[ENTRY_NAME_MAX + 1];
	uint32_t strikes; /* how often in a row this name was removed because its lease ran out */
	bool forbidden;
	enum vote_wish vote;
};

/* Everybody may read the fields; only state.c writes them. */
struct agreed_state {
	struct state_settings settings;
	uint64_t index; /* the index of the last entry that was applied */
	uint64_t version;
	/* The cluster was rescued after it had lost most of its voters, so the last entries of the
	 * old log may be missing. True until the next epoch begins. */
	bool rescued;
	uint64_t epoch; /* the number of the present view; 0: nobody has ever been a member */
	uint64_t base, limit;
	struct seat *seats; /* the members of the view, sorted by name */
	uint32_t seats_count;
	size_t seats_size;
	struct name_record *names;
	uint32_t names_count;
	size_t names_size;
	struct invitations invitations;
	/* The orders that were obeyed last, the oldest first. */
	struct order_id orders[STATE_ORDERS_MAX];
	uint32_t orders_count;
};

void state_init(struct agreed_state *state, const struct state_settings *settings);
void state_free(struct agreed_state *state);

/*
 * Applies an entry; indices must be consecutive. A void or malformed entry changes only the index.
 * A renewal or JOIN was accepted if its seat has `renewed` == index afterwards.
 */
void state_apply(struct agreed_state *state, uint64_t index, const uint8_t *bytes, size_t size);

/*
 * Turns the state into that of another cluster, with the same view and the same indices. The fences
 * of its next epoch begin at `base` or higher, and far above all that the old cluster can have
 * used. Returns false if no fences are left.
 */
bool state_rescue(struct agreed_state *state, struct cluster_id cluster, uint64_t base);

/* Finds a member by its name. Returns NULL if there is none. */
struct seat *state_seat(const struct agreed_state *state, struct entry_text name);
const struct seat *state_process(const struct agreed_state *state, uint64_t process);
/* Finds the record of a name. Returns NULL if there is none. */
struct name_record *state_name(const struct agreed_state *state, struct entry_text name);
/*
 * Is there room for the name of this order? No, if all room is taken by names that are forbidden.
 * If half of the room is taken by them, there is room only for names that the leader knew. So
 * inventing names cannot keep an operator from removing a node that exists.
 */
bool state_has_room(const struct agreed_state *state, const struct log_entry *order);
/* Was this order obeyed? If an order that was obeyed comes again, it is void, so that it cannot
 * undo a later one. Only the last STATE_ORDERS_MAX orders are remembered. */
bool state_obeyed(const struct agreed_state *state, struct order_id order);
/* Has an operator removed this name, and not allowed it since? */
bool state_forbids(const struct agreed_state *state, struct entry_text name);

/* Would this INVITE, ADMIT or order change the state? If not, it need not be proposed again.
 * Returns false for all other kinds of entries. */
bool state_wants(const struct agreed_state *state, const struct log_entry *entry);

/* Write the whole state as bytes (a snapshot), and read it back. state_read returns false if the
 * bytes are malformed; then nothing has changed. */
void state_write(const struct agreed_state *state, struct out *out);
bool state_read(struct agreed_state *state, const uint8_t *bytes, size_t size);

#endif
