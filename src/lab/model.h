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

#define ENTRIES_UNLIMITED UINT32_MAX

enum action_kind { ACTION_REQUEST, ACTION_RELEASE, ACTION_DELIVER, ACTION_LOSE, ACTION_EXPIRE };

struct action {
	enum action_kind kind;
	uint32_t node;
	uint32_t what; /* the message delivered or lost, or the timer */
};

/* What a step makes of a local state. */
struct transition {
	uint32_t local;
	uint32_t sends, sends_count; /* numbers of messages, in model->sends */
	bool enters;
	const char *broken;
};

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
};

struct letter {
	uint32_t from, to; /* from: 0 if unknown, because channels do not keep order */
	enum side side;    /* by which it left the sender */
	uint32_t channel;
	uint32_t origin; /* whose request it is a copy of, or 0 */
	bool token, init;
};

struct model {
	const struct setup *setup;
	const struct algorithm *algorithm;
	uint32_t nodes;
	const uint32_t *entries;
	bool *dead; /* of an election: what is sent there is lost */
	bool lose_token;
	uint32_t tokens_at_start;
	struct intern locals, letters, channels;
	struct local *local;
	size_t local_size;
	struct letter *letter;
	size_t letter_size;
	uint32_t *sends;
	size_t sends_count, sends_size;
	struct transition *transitions;
	size_t transitions_count, transitions_size;
	uint64_t *memo_keys;
	uint32_t *memo_values;
	size_t memo_size;
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

/* A row that grows. */
struct row {
	uint32_t *numbers;
	uint32_t count, size;
};
void row_free(struct row *row);

/* The row at the beginning. */
void model_start(struct model *model, struct row *ret_row);

/* All that can happen in a row, in a fixed order. */
struct actions {
	struct action *list;
	size_t count, size;
};
void actions_free(struct actions *actions);
void model_actions(const struct model *model, const uint32_t *row, uint32_t row_count,
                   struct actions *ret_actions);

/* What an action does: the row behind it, and the transition of its node (NULL if a message is
 * lost), valid until the next call. */
const struct transition *model_step(struct model *model, const uint32_t *row, uint32_t row_count,
                                    const struct action *action, struct row *ret_row);

/* The transition alone; not for a loss. */
const struct transition *model_transition(struct model *model, const uint32_t *row,
                                          const struct action *action);

/* The algorithm's state in a local state, and the bytes of a message. */
const void *model_state(const struct model *model, uint32_t local);
const uint8_t *model_body(const struct model *model, uint32_t letter, uint32_t *ret_size);

/* Tokens in a row: at nodes and in flight. */
uint32_t model_tokens(const struct model *model, const uint32_t *row, uint32_t row_count);

#endif
