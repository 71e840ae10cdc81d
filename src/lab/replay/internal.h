/*
 * The state of a replay, which its two halves share: replay.c performs the steps, expect.c checks
 * the expectations.
 */
#ifndef LAB_REPLAY_INTERNAL_H
#define LAB_REPLAY_INTERNAL_H

#include "envelope.h"
#include "replay.h"

/* A node has learned who leads. If `node` is 0, there was no such event. */
struct lesson {
	uint32_t node;
	uint32_t leader; /* the leader's identifier */
	uint32_t before; /* the leader that the node knew until then; 0: none */
};

struct replay {
	const struct setup *setup;
	const struct algorithm *algorithm;
	struct trace *trace;
	struct replay_result *result;
	const struct scenario *scenario;
	size_t next;  /* the index of the scenario's next step, or of the `run` that is going on */
	bool running; /* a `run` is going on */
	uint64_t run_count; /* how many deliveries and timers the present `run` has had so far */
	uint32_t line;      /* the line of the step that happened last */
	struct world world;
	uint32_t nodes;
	uint64_t run_max;

	/* The envelopes in flight, oldest first: [first] … [end - 1]. */
	struct envelope *envelopes;
	size_t envelopes_first, envelopes_end, envelopes_size;
	uint64_t sent; /* the number of the envelope that was sent last */
	/* The messages that `expect messages` counts, except hops of a circulating token that are
	 * in flight. */
	uint64_t counted;

	/* Something went wrong in the network or at a node: a node may now refuse messages. */
	bool faulty;
	bool *dead; /* [node - 1]: the node is dead, so messages to it are lost */
	/* [2k], [2k + 1]: the ends of a link that is cut, so messages on it are lost. */
	uint32_t *cut_ends;
	size_t cut_ends_count, cut_ends_size;
	uint32_t *learned;  /* [node - 1]: the identifier of the leader that the node knows, or 0 */
	uint32_t *declared; /* [node - 1]: how often the node has declared itself the leader */
	/* The first lesson of the replay, and the first one that named another leader. All nodes
	 * agree as long as there is no other_lesson. */
	struct lesson first_lesson, other_lesson;
	/* A description of everything that decides what can happen next, taken where the loop
	 * begins; NULL: there is no loop. */
	char *loop;
	size_t loop_size;
	/* [nodes][TIMERS_MAX]: duration + 1; 0: not armed. NULL if the algorithm has no timers. */
	uint64_t *timers;
};

/* Formats a text, which the caller frees. */
__attribute__((format(printf, 1, 2))) char *replay_text(const char *format, ...);

/* Ends the replay as failed and returns REPLAY_FAILED. The replay takes over both texts and frees
 * them. `expected` may be NULL. */
enum replay_verdict replay_fail(struct replay *replay, char *expected, char *found);

static inline size_t envelopes_count(const struct replay *replay)
{
	return replay->envelopes_end - replay->envelopes_first;
}

/* Is this a message to which the step refers: between its two nodes and, if it names a type, of
 * that type? */
bool envelope_fits(const struct step *step, const struct envelope *envelope);

/* Returns how many messages were sent, as `expect messages` counts them. */
uint64_t replay_count_messages(const struct replay *replay);

/* Records that a node has learned a leader by EFFECT_ELECTED, for later expectations. */
void replay_learn(struct replay *replay, uint32_t node, uint32_t leader);

/* Notes that the loop of the scenario begins here. */
void violation_loop(struct replay *replay);
/* Tells the diagram what failed, if anything did. */
void violation_tell(const struct replay *replay);

/* Checks an expectation (step_expects). It changes nothing except the result. */
enum replay_verdict replay_expect(struct replay *replay, const struct step *step);

#endif
