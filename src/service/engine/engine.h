/*
 * A membership engine decides who is in the cluster, and in which epoch. It puts out views, and
 * takes the wish for a new epoch. It does no I/O: it reads the notices of other members' engines
 * and writes its own.
 *
 * This is the engine of a fixed membership: the members are those in the list given at the start,
 * for ever. Each member tells its incarnation and the epoch that it proposes (from the time at
 * which it started: hours, and the fraction of an hour). This spreads along the links. A member
 * that knows it of all members has the view: all members, and the largest epoch proposed.
 *
 * A member that has the view says so in its notices (the epoch, and a digest of the members'
 * incarnations), on each connection before any frame. The receiver of that notice then knows all
 * members too, and either has the same view or ends the connection. So a member may send frames as
 * soon as it has a view, if the notice goes first. A receiver must not take a frame before the peer
 * has told its view (engine_agrees). Hence all members that take each other's frames have the same
 * view, whatever restarted when.
 *
 * A name that comes back as another incarnation is refused. BUMP is possible: the next epoch has
 * the same members, so there can be only one view of it. The greatest epoch spreads along the
 * links, as everything does.
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
	uint64_t incarnation; /* 0: this member has not been heard of */
};

struct engine_view {
	uint64_t epoch;
	uint64_t floor; /* where the counters of the locks begin in this epoch */
	const struct engine_member *members; /* sorted by name */
	uint32_t members_count;
};

struct engine;

/* The epoch and the floor that a process proposes when it starts. The largest proposal wins; the
 * epoch is compared first. */
struct engine_proposal {
	uint64_t epoch; /* 1 to ENGINE_EPOCH_MAX */
	uint64_t floor; /* 0 to ENGINE_FLOOR_MAX */
};

/* `names` has each name once, in any order; `self` is the index of the own name. The names are
 * copied. */
struct engine *engine_create(const char *const *names, uint32_t names_count, uint32_t self,
                             uint64_t incarnation, struct engine_proposal proposal);
void engine_destroy(struct engine *engine);

/* Returns the view, or NULL if it is not known yet. *ret_changed tells whether the view or its
 * epoch is new since the last call with a `ret_changed` that was not NULL. */
const struct engine_view *engine_view(struct engine *engine, bool *ret_changed);
/* Returns the members that nothing is known of yet, as "n2, n3", or NULL if there are none. The
 * text is valid until the next call. */
const char *engine_missing(struct engine *engine);
/* Returns the incarnation of a name, or 0 if it is not known. */
uint64_t engine_incarnation(const struct engine *engine, const char *name);

/*
 * Input from a peer. Both return 0, or BATON_EMESSAGE (malformed) or BATON_ESENDER (a member
 * restarted, a name is not in our list, or the peer has another view). After an error the
 * connection must end, nothing has changed, and *ret_text is a sentence for the logs of both sides,
 * valid until the next call.
 */
/* A connection to the peer is open, and the peer gave this incarnation in its HELLO (not 0). */
int engine_met(struct engine *engine, const char *peer, uint64_t incarnation,
               const char **ret_text);
/* Takes a notice of a peer for which engine_met was called. */
int engine_notice(struct engine *engine, const char *peer, const uint8_t *bytes, size_t size,
                  const char **ret_text);

/* Writes everything that a peer must know as one notice: for a new connection, or after
 * engine_news. Valid until the next call. */
size_t engine_write(struct engine *engine, const uint8_t **ret_bytes);
/* Returns true once after a change that all peers must be told. */
bool engine_news(struct engine *engine);
/* True if frames of this peer may be taken: it has said on this connection that its view has our
 * members. */
bool engine_agrees(const struct engine *engine, const char *peer);
/* The connection to the peer has ended. */
void engine_parted(struct engine *engine, const char *peer);

/* Ends this epoch, if it is still the present one and not the last possible one. */
void engine_bump(struct engine *engine, uint64_t epoch);

#endif
