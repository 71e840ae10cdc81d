/*
 * What the two halves of a replay share: replay.c makes the steps happen, expect.c judges
 * what is expected of them.
 */
#ifndef LAB_REPLAY_INTERNAL_H
#define LAB_REPLAY_INTERNAL_H

#include "envelope.h"
#include "replay.h"

/* A node learned who leads; nobody did while `node` is 0. */
struct lesson {
	uint32_t node;
	uint32_t leader; /* an identifier */
	uint32_t before; /* the leader that the node knew until then, 0: none */
};

struct replay {
	const struct setup *setup;
	const struct algorithm *algorithm;
	struct trace *trace;
	struct replay_result *result;
	const struct scenario *scenario;
	size_t next;        /* the step of the scenario that comes next, or goes on */
	bool running;       /* … which is a `run`, of which more is to come */
	uint64_t run_count; /* deliveries and timers of that `run` so far */
	uint32_t line;      /* of what happened last */
	struct world world;
	uint32_t nodes;
	uint64_t run_max;

	/* The envelopes in flight, oldest first: [first] … [end - 1]. */
	struct envelope *envelopes;
	size_t envelopes_first, envelopes_end, envelopes_size;
	uint64_t sent;    /* the number of the last envelope */
	uint64_t counted; /* for `expect messages`, but for circulating hops in flight */

	bool *dead;         /* what is sent there is lost */
	uint32_t *learned;  /* the identifier of the leader that a node knows, 0: none */
	uint32_t *declared; /* how often a node has declared itself the leader */
	/* All agree as long as every lesson is like the first: the first ever, and the first that
	 * was another. */
	struct lesson first_lesson, other_lesson;
	/* [nodes][TIMERS_MAX]: duration + 1, 0: not armed; NULL if the algorithm has none. */
	uint64_t *timers;
};

/* A text, to be freed. */
__attribute__((format(printf, 1, 2))) char *replay_text(const char *format, ...);

/* REPLAY_FAILED; takes over both texts. `expected` may be NULL. */
enum replay_verdict replay_fail(struct replay *replay, char *expected, char *found);

static inline size_t envelopes_count(const struct replay *replay)
{
	return replay->envelopes_end - replay->envelopes_first;
}

/* Is it from the step's node to the other and, if a type is given, of that type? */
bool envelope_fits(const struct step *step, const struct envelope *envelope);

/* As `expect messages` counts them. */
uint64_t replay_count_messages(const struct replay *replay);

/* Remembers, for expectations, what a node has learned by EFFECT_ELECTED. */
void replay_learn(struct replay *replay, uint32_t node, uint32_t leader);

/* Judges a step that step_expects; changes nothing but the result. */
enum replay_verdict replay_expect(struct replay *replay, const struct step *step);

#endif
