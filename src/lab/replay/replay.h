/*
 * Replays a scenario: performs its steps in a world, one after the other, and checks what the
 * scenario expects along the way.
 *
 * Messages in flight are kept in the order in which they were sent. `deliver`, `drop` and
 * `duplicate` refer to the K-th oldest message that matches. Under FIFO only the oldest message of
 * a channel (sender, receiver, side of a ring) can be delivered, but any message can be dropped.
 *
 * `run` delivers the oldest message again and again until nothing is in flight and no timer is
 * armed. When nothing is in flight but timers are armed, the timer with the shortest duration
 * expires; among equal ones that of the lowest node, then that of the lowest number. With an
 * algorithm whose token circulates, `run` ends as soon as nobody waits.
 *
 * `expect messages N` counts the messages sent so far, except those of types marked `init`. A hop
 * of a circulating token counts if a node waits or is inside when the token arrives. A hop that is
 * still in flight counts if a node waits or is inside now.
 *
 * `expect leader ID` means that a place has learned that ID leads and none has learned of another
 * leader. `expect I leader` means that I has learned that it is the leader itself.
 *
 * In an election places may be dead, from the start (`crash 4,5` in the header) or from some step
 * on (`crash 4`). A message to a dead place is lost when it is delivered. That counts as a step
 * that happened, but the algorithm's code is not called.
 *
 * In an election, `expect invariant NAME` is about everything that happened before it:
 * - unique_leader: at most one place has declared itself (it has learned that its own identifier
 *   leads), and only once. Places are compared, not identifiers.
 * - agreement: no two places have ever learned different leaders, and none has changed its leader.
 * - termination: every place that is alive has learned a leader, and none still takes part, that
 *   is, all are ready. Messages in flight and armed timers are not considered, so put a `run`
 *   before it.
 */
#ifndef LAB_REPLAY_H
#define LAB_REPLAY_H

#include "envelope.h"
#include "scenario.h"
#include "setup.h"
#include "trace.h"

/* A `run` that is not done after this many deliveries and timers has failed. */
enum { REPLAY_RUN_MAX = 10000000 };

enum replay_verdict {
	REPLAY_PASSED,
	REPLAY_FAILED, /* an expectation failed, or a step of the algorithm broke the contract */
	REPLAY_BAD,    /* a step cannot happen, or a variable does not exist */
};

struct replay_result {
	enum replay_verdict verdict;
	uint32_t line; /* the line of the scenario that did not pass; 0 if all passed */
	/* FAILED: what was expected; NULL if something other than an expectation failed. */
	char *expected;
	char *found;            /* FAILED: what was found instead */
	struct problem problem; /* BAD: what is wrong with the scenario */
	/* How many steps happened, counting each delivery of a `run` but no expectations. */
	uint64_t steps;
	uint64_t messages;     /* how many messages were sent, as `expect messages` counts them */
	uint64_t expectations; /* how many expectations were checked */
	/* When the last step happened, in millionths. Each step takes one unit of time. */
	uint64_t time;
};

/*
 * Replays the whole scenario, which must be bound to the setup's network (scenario_setup or
 * scenario_bind). `trace` may be NULL; otherwise the caller ends it. The caller frees the result
 * with replay_result_free.
 */
void replay_run(const struct scenario *scenario, const struct setup *setup, struct trace *trace,
                uint64_t run_max, struct replay_result *ret_result);
void replay_result_free(struct replay_result *result);

/*
 * Replays one step at a time: replay_begin, then replay_step while it returns true, then
 * replay_end, which completes the result. A step is a line of the scenario, or one delivery or
 * timer of a `run`. The scenario, the setup and the result must not move or be freed until
 * replay_end.
 */
struct replay;
struct replay *replay_begin(const struct scenario *scenario, const struct setup *setup,
                            struct trace *trace, uint64_t run_max,
                            struct replay_result *ret_result);
bool replay_step(struct replay *replay);
void replay_end(struct replay *replay);

/* Performs a step that is not in the scenario, between two of its steps or after the last. The step
 * must not be an expectation; if it is a `run`, one delivery or timer is performed. Returns false,
 * and sets the result's problem, if the step cannot happen. */
bool replay_act(struct replay *replay, const struct step *step);

/* Returns the line of the step that happened last; 0 before the first step and after replay_act. */
uint32_t replay_line(const struct replay *replay);
const struct world *replay_world(const struct replay *replay);
/* Return for each node the leader that it knows, or 0; and whether the node is dead. */
const uint32_t *replay_learned(const struct replay *replay);
const bool *replay_dead(const struct replay *replay);
/* Returns twice the number of cut links. The ends of one are two numbers in succession. */
size_t replay_cut_ends(const struct replay *replay, const uint32_t **ret_ends);
/* Returns a sentence for pictures about the expectation that has failed, which the caller frees;
 * NULL if none has failed. */
char *replay_violation(const struct replay *replay);
/* Lists the messages in flight, oldest first. The array belongs to the replay and is valid until
 * its next step. */
size_t replay_flights(const struct replay *replay, const struct envelope **ret_flights);

#endif
