/*
 * An algorithm as a transition system of small numbers, for the checker.
 *
 * Each distinct local state of a node and each distinct message is interned, so that the whole
 * system is a short row of numbers: the local state of each node, then the messages in flight.
 * Steps of the algorithm are pure, so each (local state, input) is computed once and remembered.
 *
 * A local state is (what the node is about, the leader it knows of, its armed timers, the entries
 * it has left, the algorithm's state). A message is (receiver, side, bytes); when channels keep
 * order also its sender. The messages of a row are grouped by channel, oldest first; without order
 * a channel is just one message, so that the row is the sorted multiset.
 */
#ifndef LAB_MODEL_H
#define LAB_MODEL_H

#include "intern.h"
#include "setup.h"
#include "world.h"

#include <string.h>

#define ENTRIES_UNLIMITED UINT32_MAX

enum action_kind { ACTION_REQUEST, ACTION_RELEASE, ACTION_DELIVER, ACTION_LOSE, ACTION_EXPIRE };

struct action {
	enum action_kind kind;
	uint32_t node;
	uint32_t what;  /* the message delivered or lost, or the timer */
	uint32_t place; /* of the message among those of the row */
};

/* What a step makes of a local state. */
struct transition {
	uint64_t key; /* of the local state and the input */
	uint32_t local;
	uint32_t sends;       /* numbers of messages, in model->sends */
	uint16_t sends_count; /* of them */
	uint16_t messages;    /* sent, INITIALIZE not counted */
	bool enters;
	uint8_t broken; /* an enum step_fault */
};

/* What no step may do. */
enum step_fault {
	FAULT_NONE,
	FAULT_NO_NEIGHBOUR,
	FAULT_LEFT,
	FAULT_ENTERED,
	FAULT_DECLARED_TWICE,
	FAULT_CHANGED_LEADER,
	FAULT_IMPURE,
	FAULT_REFUSED,
};
const char *step_fault_text(enum step_fault fault);

/* What is to be known of an interned local state. */
struct local {
	uint8_t phase;
	uint32_t timers[TIMERS_MAX]; /* for how many delays each is armed, and 1; 0: not armed */
	bool may_request;
	bool has_privilege;
	bool takes_part; /* in an election that is not over for it */
	bool armed;      /* has a timer that runs */
	uint32_t entries_left;
	uint32_t leader; /* the identifier it has learned, or 0 */
	const char *broken_invariant;
	const void *state; /* the algorithm's */
};

struct letter {
	uint32_t channel;
	uint32_t from;        /* 0 if unknown, because channels do not keep order */
	struct flight flight; /* to whom, whose request it is a copy of, and what */
	bool token, init;
};

enum { MODEL_NODES_MAX = 64 };

struct model {
	const struct setup *setup;
	const struct algorithm *algorithm;
	uint32_t nodes;
	const uint32_t *entries;
	bool *dead;              /* of an election: what is sent there is lost */
	uint8_t *channels_count; /* to node i + 1 from node j + 1, at i * nodes + j */
	bool lose_token;
	uint32_t tokens_at_start;
	struct intern locals, letters, channels;
	uint32_t local_width, letter_width; /* bytes of a number in a row */
	bool outgrown;                      /* a number is too large for them */
	struct local *local;
	size_t local_size;
	struct letter *letter;
	size_t letter_size;
	uint32_t *sends;
	size_t sends_count, sends_size;
	struct transition *memo; /* by the hash of its key; key 0: free */
	size_t memo_count, memo_size;
	uint64_t steps; /* computed, not remembered */
	struct out out, out_again;
	uint8_t *buffer; /* one local state, being made */
	size_t buffer_size;
	uint8_t *again; /* the same, run a second time */
};

/* entries[i-1]: how often node i may enter, ENTRIES_UNLIMITED if it may always; the caller's, and
 * must stay. */
void model_init(struct model *model, const struct setup *setup, const uint32_t *entries,
                bool lose_token);
void model_free(struct model *model);
size_t model_memory(const struct model *model);

/*
 * A row in as few bytes as its numbers need: the local states, then the messages. Which number takes
 * how many bytes is the same for all rows; when a number is too large (model->outgrown), rows must be
 * made wider and all begun again, with what has been learned.
 */
enum { ROW_BYTES_MAX = UINT16_MAX, ROW_SLACK = 16 };

struct row {
	const uint8_t *bytes;
	uint32_t size;
};
void model_widen(struct model *model);

static inline uint32_t row_number(const uint8_t *bytes, uint32_t width)
{
	uint16_t two;
	uint32_t four;

	if (width == 1)
		return *bytes;
	if (width == 2) {
		memcpy(&two, bytes, sizeof(two));
		return two;
	}
	memcpy(&four, bytes, sizeof(four));
	return four;
}

/* The local state of node i + 1. */
static inline uint32_t row_local(const struct model *model, struct row row, uint32_t i)
{
	return row_number(row.bytes + (size_t)i * model->local_width, model->local_width);
}

static inline uint32_t row_letters_count(const struct model *model, struct row row)
{
	uint32_t bytes = row.size - model->nodes * model->local_width;
	return model->letter_width == 1 ? bytes : bytes / model->letter_width;
}

static inline uint32_t row_letter(const struct model *model, struct row row, uint32_t k)
{
	size_t offset = (size_t)model->nodes * model->local_width + (size_t)k * model->letter_width;
	return row_number(row.bytes + offset, model->letter_width);
}

/* The row at the beginning, in at most ROW_BYTES_MAX bytes. */
uint32_t model_start(struct model *model, uint8_t *ret_bytes);

/* All that can happen in a row, in a fixed order. */
struct actions {
	struct action *list;
	size_t count, size;
};
void actions_free(struct actions *actions);
void model_actions(const struct model *model, struct row row, struct actions *ret_actions);

/*
 * Of these actions those of some nodes only, a persistent set: when channels keep order and each
 * channel from the other nodes to these has a message waiting, nothing that the others do can change
 * what these can do next. What different nodes do commutes, so each run has one among those that
 * remain that ends alike. The nodes with the fewest actions are taken; perhaps that is all of them.
 */
void model_reduce(const struct model *model, struct actions *actions);

/* No node makes a step: a message is lost, or nobody is alive to receive it. */
static inline bool model_is_loss(const struct model *model, const struct action *action)
{
	return action->kind == ACTION_LOSE ||
	       (action->kind == ACTION_DELIVER && model->dead[action->node - 1]);
}

/* Never 0. A timer's number is small: it shares the values with request and release, which have
 * none. */
static inline uint64_t action_key(const struct model *model, struct row row,
                                  const struct action *action)
{
	static const uint8_t bits[] = {[ACTION_REQUEST] = 1,
	                               [ACTION_RELEASE] = 2,
	                               [ACTION_DELIVER] = 0,
	                               [ACTION_LOSE] = 0,
	                               [ACTION_EXPIRE] = 3};
	return ((uint64_t)row_local(model, row, action->node - 1) << 32 |
	        (uint64_t)action->what << 2 | bits[action->kind]) +
	       1;
}

static inline size_t memo_home(const struct model *model, uint64_t key)
{
	uint64_t mixed = key * 0x9e3779b97f4a7c15u;
	return (size_t)(mixed ^ mixed >> 32) & (model->memo_size - 1);
}

static inline struct transition *memo_slot(const struct model *model, uint64_t key)
{
	size_t slot = memo_home(model, key);

	while (model->memo[slot].key != 0 && model->memo[slot].key != key)
		slot = (slot + 1) & (model->memo_size - 1);
	return &model->memo[slot];
}

/* Ahead of model_find. */
static inline void model_prefetch(const struct model *model, struct row row,
                                  const struct action *action)
{
	__builtin_prefetch(&model->memo[memo_home(model, action_key(model, row, action))]);
}

/* What the action's node does, not for a loss. NULL: that is not yet known, and has to be learned.
 * Valid until the next is learned. */
static inline const struct transition *model_find(const struct model *model, struct row row,
                                                  const struct action *action)
{
	const struct transition *transition = memo_slot(model, action_key(model, row, action));
	return transition->key != 0 ? transition : NULL;
}
const struct transition *model_learn(struct model *model, struct row row,
                                     const struct action *action);

/* The row behind an action, with what its node does (NULL for a loss), in at most ROW_BYTES_MAX
 * bytes: how many. ROW_SLACK bytes behind both rows belong to the caller too, and are of no
 * meaning. */
uint32_t model_apply(const struct model *model, struct row row, const struct action *action,
                     const struct transition *transition, uint8_t *ret_bytes);

/* Tokens in a row: at nodes and in flight. */
uint32_t model_tokens(const struct model *model, struct row row);

/* The nodes, a bit each from the lowest, that wait and no copy of whose request is under way. */
uint64_t model_requests_known(const struct model *model, struct row row);

#endif
