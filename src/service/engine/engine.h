/*
 * A membership engine: who is in the cluster, in which epoch. Views come out of it, and the wish for
 * a new epoch goes in. No I/O: notices of other members' engines in, notices out.
 *
 * This is the engine of a fixed membership: everybody who is in the list given at the start, for ever.
 * Each member says its incarnation and the epoch that it proposes (the time at which it started: hours,
 * and what part of an hour); this spreads along the links. Who knows that of all has the view: all
 * members, the largest of the proposals.
 *
 * Who has the view says so in its notices (the epoch, a digest of the members' incarnations), on each
 * connection before any frame. Who hears it knows all members by then, and either has the same view or
 * ends the connection. So a frame may be sent as soon as there is a view, if the notice that tells of it
 * goes before; who receives one before the peer has said the view (engine_agrees) must not take it, and
 * all who take frames from all others have the same view, whatever restarted when.
 *
 * A name that comes back as another incarnation is refused. BUMP is possible: the next epoch has the same
 * members, so that it can be only one view; the greatest epoch spreads along the links as everything does.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENGINE_NAME_MAX = 255, ENGINE_MEMBERS_MAX = 1 << 12 };
#define ENGINE_EPOCH_MAX ((UINT64_C(1) << 19) - 1)
#define ENGINE_FLOOR_MAX ((UINT64_C(1) << 34) - 1)

struct engine_member {
	const char *name;
	uint64_t incarnation; /* 0: not heard of */
};

struct engine_view {
	uint64_t epoch;
	uint64_t floor;                      /* where the locks' counters begin in it */
	const struct engine_member *members; /* sorted by name */
	uint32_t members_count;
};

struct engine;

/* Where time stands when a process begins; the largest wins, the epoch first. */
struct engine_proposal {
	uint64_t epoch; /* 1 to ENGINE_EPOCH_MAX */
	uint64_t floor; /* 0 to ENGINE_FLOOR_MAX */
};

/* `names` has each name once, in any order, `self` is the place of the own. The names are copied. */
struct engine *engine_create(const char *const *names, uint32_t names_count, uint32_t self,
                             uint64_t incarnation, struct engine_proposal proposal);
void engine_destroy(struct engine *engine);

/* The view; NULL: not known yet. *ret_changed: it is new, or its epoch is, since the last call that asked so
 * (`ret_changed` may be NULL). */
const struct engine_view *engine_view(struct engine *engine, bool *ret_changed);
/* Whom it waits for: members that nothing is known of, "n2, n3", good until the next call; NULL: none. */
const char *engine_missing(struct engine *engine);
/* The incarnation of a name, as far as it is known; 0. */
uint64_t engine_incarnation(const struct engine *engine, const char *name);

/*
 * What comes from a peer. 0, or what is wrong, and *ret_text is a sentence for the log of both sides, good
 * until the next call: BATON_EMESSAGE: malformed; BATON_ESENDER: a member restarted, a name is not
 * in our list, or the peer has another view. Then the connection must end, and nothing has changed.
 */
/* A connection to it stands, and it said in its HELLO which incarnation it is (not 0). */
int engine_met(struct engine *engine, const char *peer, uint64_t incarnation,
               const char **ret_text);
/* A notice of a peer that was met. */
int engine_notice(struct engine *engine, const char *peer, const uint8_t *bytes, size_t size,
                  const char **ret_text);

/* All that a peer must be told on a new connection, or when news is there (engine_news), as one notice;
 * good until the next call. */
size_t engine_write(struct engine *engine, const uint8_t **ret_bytes);
/* True once after something changed that all peers must be told. */
bool engine_news(struct engine *engine);
/* May frames of this peer be taken: has it said on this connection that its view has our members? */
bool engine_agrees(const struct engine *engine, const char *peer);
/* The connection to it is gone. */
void engine_parted(struct engine *engine, const char *peer);

/* Ends this epoch, if it is still the one, unless it is the last there can be. */
void engine_bump(struct engine *engine, uint64_t epoch);

#endif
