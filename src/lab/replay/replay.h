/*
 * Replays a scenario: the steps happen in a world, one after the other, and what the scenario
 * expects is looked at on the way.
 *
 * Messages in flight are kept in the order in which they were sent; `deliver` and `drop` take the
 * K-th oldest that fits. Under fifo only the oldest of a channel (sender, receiver, side of a ring)
 * can be delivered, while any can be dropped.
 *
 * `run` delivers, oldest first, until nothing is in flight and no timer is armed; when nothing is
 * in flight it lets the timer with the smallest duration expire (then: of the smallest node, of the
 * smallest number). Where a token circulates, `run` ends as soon as nobody waits.
 *
 * `expect messages N`: those sent so far, types with `init` left out. A circulating token's hop
 * counts if somebody waits or is inside when it arrives or, while it is in flight, now.
 *
 * `expect leader ID`: somebody has learned that ID leads, and nobody has learned of another.
 * `expect I leader`: I has learned that it leads.
 *
 * In an election places may be dead, from the start (`crash 4,5` in the header) or from a step on
 * (`crash 4`). What is sent to a dead place is lost when it is delivered: one of the steps that
 * happened, but none of the algorithm.
 *
 * `expect invariant NAME`, of an election, looks back from where it stands:
 * - unique_leader: at most one place has declared itself (it has learned that its own identifier
 *   leads), and only once. Places are compared, not identifiers.
 * - agreement: no two places have ever learned different leaders, and none has changed its leader.
 * - termination: everybody alive has learned a leader and nobody alive still takes part, that is,
 *   is not ready. It does not ask whether messages are in flight or timers armed: `run` before it.
 */
#ifndef LAB_REPLAY_H
#define LAB_REPLAY_H

#include "envelope.h"
#include "scenario.h"
#include "setup.h"
#include "trace.h"

/* A `run` that is not done after so many deliveries and timers has failed. */
enum { REPLAY_RUN_MAX = 10000000 };

enum replay_verdict {
	REPLAY_PASSED,
	REPLAY_FAILED, /* an expectation, or a step in which the algorithm did what no step may */
	REPLAY_BAD,    /* a step that cannot happen, a variable that there is not */
};

struct replay_result {
	enum replay_verdict verdict;
	uint32_t line;          /* where it did not pass; 0 if it did */
	char *expected;         /* FAILED: NULL if it was not an expectation that failed */
	char *found;            /* FAILED */
	struct problem problem; /* BAD */
	uint64_t steps;    /* that happened, each delivery of a `run` included, expectations not */
	uint64_t messages; /* as `expect messages` counts them */
	uint64_t expectations; /* that were looked at */
	uint64_t time;         /* of the last step, in millionths: a step a second */
};

/*
 * The scenario is bound to the setup's network (scenario_setup or scenario_bind). A trace may be
 * given; it is the caller's to end. The result is to be freed.
 */
void replay_run(const struct scenario *scenario, const struct setup *setup, struct trace *trace,
                uint64_t run_max, struct replay_result *ret_result);
void replay_result_free(struct replay_result *result);

/*
 * The same one step at a time: replay_begin, then replay_step as long as it returns true, then
 * replay_end, which completes the result. A step is a line of the scenario; of a `run` it is one
 * delivery or timer. The scenario, the setup and the result must stay until then.
 */
struct replay;
struct replay *replay_begin(const struct scenario *scenario, const struct setup *setup,
                            struct trace *trace, uint64_t run_max,
                            struct replay_result *ret_result);
bool replay_step(struct replay *replay);
void replay_end(struct replay *replay);

/* Between two steps, or after the last: a step that is not in the scenario and no expectation; of a
 * `run` one delivery. False, and the result's problem, if it cannot happen. */
bool replay_act(struct replay *replay, const struct step *step);

/* The line of the step that happened last; 0 before the first, and after an act. */
uint32_t replay_line(const struct replay *replay);
const struct world *replay_world(const struct replay *replay);
/* The leader that each node knows, 0: none; and who is dead. */
const uint32_t *replay_learned(const struct replay *replay);
const bool *replay_dead(const struct replay *replay);
/* The messages in flight, oldest first; the replay's until its next step. */
size_t replay_flights(const struct replay *replay, const struct envelope **ret_flights);

#endif
