/*
 * The state that the voters agree upon: who the members are, in which epoch, with which fences. It
 * is the same at all voters that have applied the same entries; nothing in it depends on a clock.
 *
 * A member is a seat: a name, the process that has it, and its incarnation, which is the index of
 * the entry by which it joined. A process may have several incarnations one after the other.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "entries.h"

/* Fences stay below this, so that JSON and JavaScript keep them exact. */
#define STATE_FENCE_END (UINT64_C(1) << 53)
enum { STATE_STRIKES_MAX = 7, STATE_SEATS_MAX = 1 << 12 };

/* What is fixed when a cluster is born. */
struct state_settings {
	uint64_t lease_ns;
	uint64_t base;  /* of the first epoch */
	uint64_t block; /* how many fences an epoch begins with */
};

struct seat {
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t process, incarnation;
	uint64_t renewed; /* the index of the last entry that renewed its lease */
};

/* What is remembered of a name, member or not. */
struct name_record {
	char name[ENTRY_NAME_MAX + 1];
	uint32_t strikes; /* how often in a row it was removed because its lease was over */
	bool forbidden;
};

/* Fields are read by everybody and written here only. */
struct agreed_state {
	struct state_settings settings;
	uint64_t index; /* of the last entry that was applied */
	uint64_t version;
	uint64_t epoch; /* 0: nobody has ever been a member */
	uint64_t base, limit;
	struct seat *seats; /* the view, sorted by name */
	uint32_t seats_count;
	size_t seats_size;
	struct name_record *names;
	uint32_t names_count;
	size_t names_size;
};

void state_init(struct agreed_state *state, const struct state_settings *settings);
void state_free(struct agreed_state *state);

/*
 * Applies an entry; indices follow each other. What is void, or malformed, changes nothing but the
 * index. A renewal or JOIN was accepted if its seat has `renewed` == index afterwards.
 */
void state_apply(struct agreed_state *state, uint64_t index, const uint8_t *bytes, size_t size);

/* NULL: no such member. */
struct seat *state_seat(const struct agreed_state *state, struct entry_text name);
const struct seat *state_process(const struct agreed_state *state, uint64_t process);
/* NULL: nothing is remembered. */
struct name_record *state_name(const struct agreed_state *state, struct entry_text name);

/* A snapshot: all of it as bytes, and back. False: malformed, and nothing has changed. */
void state_write(const struct agreed_state *state, struct out *out);
bool state_read(struct agreed_state *state, const uint8_t *bytes, size_t size);

#endif
