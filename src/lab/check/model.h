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
#include "must.h"
#include "setup.h"
#include "world.h"

#include <string.h>

#define ENTRIES_UNLIMITED UINT32_MAX

enum action_kind { ACTION_REQUEST, ACTION_RELEASE, ACTION_DELIVER, ACTION_LOSE, ACTION_EXPIRE };

struct action {
	uint64_t key; /* of the node's local state and the input; 0: no node makes a step, a message
	                 is lost or nobody is alive to receive it */
	enum action_kind kind;
	uint32_t node;
	uint32_t what;  /* the message delivered or lost, or the timer */
	uint32_t place; /* of the message among those of the row, or PLACE_NONE */
};
#define PLACE_NONE UINT32_MAX

/* What a step makes of a local state. */
struct transition {
	uint64_t key;         /* of the action */
	uint64_t hash_change; /* of the row, unless channels keep order */
	uint32_t local;
	uint32_t sends;       /* numbers of messages, in model->sends */
	uint16_t sends_count; /* of them */
	uint16_t messages;    /* sent, INITIALIZE not counted */
	uint8_t node;
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
	uint64_t hash, marks;
	const char *broken_invariant;
	const void *state; /* the algorithm's */
	uint8_t phase;
	bool may_request; /* and will, if it has entries left */
	bool requests;
	bool takes_part;             /* in an election that is not over for it */
	bool armed;                  /* has a timer that runs */
	uint32_t leader;             /* the identifier it has learned, or 0 */
	uint32_t timers[TIMERS_MAX]; /* for how many delays each is armed, and 1; 0: not armed */
};

struct model_letter {
	uint64_t hash, marks;
	uint64_t origin; /* a bit for the node whose request it is a copy of, from the lowest */
	uint32_t channel;
	uint32_t from;        /* 0 if unknown, because channels do not keep order */
	struct flight flight; /* to whom, whose request it is a copy of, and what */
	bool token, init;
	bool lost; /* nobody is alive to receive it */
};

/* Numbers that are counted together, in one sum over a row. */
enum { MARK_BITS = 20, MARK_MASK = (1 << MARK_BITS) - 1 };
enum mark { MARK_INSIDE, MARK_TOKEN, MARK_BROKEN };

enum { MODEL_NODES_MAX = 64 };

struct row_format {
	uint32_t local_width, letter_width; /* bytes of a number */
	bool fifo;                          /* channels keep order */
};

/* What is done often is compiled for the usual format too: a compiler makes more of what it
 * knows. */
static const struct row_format row_usual = {.local_width = 2, .letter_width = 1, .fifo = false};

struct model {
	const struct setup *setup;
	const struct algorithm *algorithm;
	struct model *
	        learns; /* itself: what is known of states and messages grows while rows are made */
	uint32_t nodes;
	const uint32_t *entries;
	bool *dead;              /* of an election: what is sent there is lost */
	uint8_t *channels_count; /* to node i + 1 from node j + 1, at i * nodes + j */
	bool lose_token;
	uint32_t tokens_at_start;
	struct intern locals, letters, channels;
	struct row_format format;
	bool usual;    /* that is row_usual */
	bool lowers;   /* rows are lowered: see struct differences; one thread only */
	bool outgrown; /* a number is too large for it */
	struct local *local;
	size_t local_size;
	struct model_letter *letter;
	size_t letter_size;
	uint32_t *sends;
	size_t sends_count, sends_size;
	struct transition *transitions; /* from 1 */
	size_t transitions_count, transitions_size;
	uint32_t *memo; /* numbers of transitions, by the hash of their keys; 0: free */
	size_t memo_size;
	uint32_t memo_shift;
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

struct state_row {
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

static inline void row_set(uint8_t *bytes, uint32_t width, uint32_t number)
{
	uint16_t two = (uint16_t)number;

	if (width == 1)
		*bytes = (uint8_t)number;
	else if (width == 2)
		memcpy(bytes, &two, sizeof(two));
	else
		memcpy(bytes, &number, sizeof(number));
}

/* The local state of node i + 1. */
static inline uint32_t row_local(const struct model *model, struct state_row row, uint32_t i)
{
	return row_number(row.bytes + (size_t)i * model->format.local_width,
	                  model->format.local_width);
}

static inline uint32_t row_letters_count(const struct model *model, struct state_row row)
{
	uint32_t bytes = row.size - model->nodes * model->format.local_width;
	return model->format.letter_width == 1 ? bytes : bytes / model->format.letter_width;
}

static inline uint32_t row_letter(const struct model *model, struct state_row row, uint32_t k)
{
	size_t offset = (size_t)model->nodes * model->format.local_width +
	                (size_t)k * model->format.letter_width;
	return row_number(row.bytes + offset, model->format.letter_width);
}

/* The row at the beginning, in at most ROW_BYTES_MAX bytes. */
uint32_t model_start(struct model *model, uint8_t *ret_bytes);

/* All that can happen in a row, in a fixed order; and what is seen of the row on the way. */
struct actions {
	struct action *list;
	size_t count, size;
	uint64_t hash;  /* of the row */
	uint64_t known; /* the nodes, a bit each from the lowest, that wait and no copy of whose
	                   request is under way */
};
void actions_free(struct actions *actions);
void model_actions(const struct model *model, struct state_row row, struct actions *ret_actions);

/*
 * Of these actions those of some nodes only, a persistent set: when channels keep order and each
 * channel from the other nodes to these has a message waiting, nothing that the others do can change
 * what these can do next. What different nodes do commutes, so each run has one among those that
 * remain that ends alike. The nodes with the fewest actions are taken; perhaps that is all of them.
 */
void model_reduce(const struct model *model, struct actions *actions);

static inline bool model_is_loss(const struct action *action)
{
	return action->key == 0;
}

static inline uint32_t *memo_home(const struct model *model, uint64_t key)
{
	return &model->memo[key * 0x9e3779b97f4a7c15u >> model->memo_shift];
}

/* Where the transition stands that has this key, or would. */
static inline uint32_t *memo_find(const struct model *model, uint64_t key)
{
	uint32_t *slot = memo_home(model, key);

	while (*slot != 0 && model->transitions[*slot].key != key)
		slot = slot + 1 < model->memo + model->memo_size ? slot + 1 : model->memo;
	return slot;
}

/* Ahead of model_find, one after the other, each with time for the memory to answer. */
static inline void model_prefetch(const struct model *model, const struct action *action)
{
	__builtin_prefetch(memo_home(model, action->key));
}
static inline void model_prefetch_transition(const struct model *model, const struct action *action)
{
	__builtin_prefetch(&model->transitions[*memo_home(model, action->key)]);
}

/* What the action's node does, not for a loss. NULL: that is not yet known, and has to be learned.
 * Valid until the next is learned; its number stays. */
static inline const struct transition *model_find(const struct model *model,
                                                  const struct action *action)
{
	uint32_t number = *memo_find(model, action->key);
	return number != 0 ? &model->transitions[number] : NULL;
}
const struct transition *model_learn(struct model *model, const struct action *action);

/* Behind the last message of its channel, the channels in order: how many bytes the row has now.
 * Without order a message is its own channel. */
static inline uint32_t row_insert(const struct model *model, uint8_t *row, uint32_t size,
                                  uint32_t letter, struct row_format format)
{
	uint32_t width = format.letter_width;
	uint32_t channel = format.fifo ? model->letter[letter].channel : letter;
	uint8_t *first = row + (size_t)model->nodes * format.local_width, *place = row + size;

	must(size <= ROW_BYTES_MAX - width);
	for (; place > first; place -= width) {
		uint32_t before = row_number(place - width, width);
		if ((format.fifo ? model->letter[before].channel : before) <= channel)
			break;
		row_set(place, width, before);
	}
	row_set(place, width, letter);
	return size + width;
}

/* Rows are short: the bytes behind one may be read, and those behind its copy written. */
static inline void row_copy(uint8_t *to, const uint8_t *from, uint32_t size)
{
	memcpy(to, from, ROW_SLACK);
	for (uint32_t i = ROW_SLACK; i < size; i += ROW_SLACK)
		memcpy(to + i, from + i, ROW_SLACK);
}

static inline uint32_t row_apply(const struct model *model, struct state_row row, uint32_t place,
                                 const struct transition *transition, uint8_t *bytes,
                                 struct row_format format)
{
	uint32_t size = row.size;

	row_copy(bytes, row.bytes, size);
	if (place != PLACE_NONE) {
		uint32_t offset = model->nodes * format.local_width + place * format.letter_width;
		size -= format.letter_width;
		row_copy(bytes + offset, row.bytes + offset + format.letter_width, size - offset);
	}
	if (transition == NULL)
		return size;
	row_set(bytes + (size_t)(transition->node - 1) * format.local_width, format.local_width,
	        transition->local);
	for (uint32_t k = 0; k < transition->sends_count; k++)
		size = row_insert(model, bytes, size, model->sends[transition->sends + k], format);
	return size;
}

/* The row with all numbers as low as they go: how many bytes it has. What it is made of may be new and
 * is learned. */
uint32_t model_lower(const struct model *model, uint8_t *bytes, uint32_t size);

/* The row behind a step, without the message at a place (or PLACE_NONE), with what the node does
 * (NULL for a loss), in at most ROW_BYTES_MAX bytes: how many. ROW_SLACK bytes behind both rows
 * belong to the caller too, and are of no meaning. */
static inline uint32_t model_apply(const struct model *model, struct state_row row, uint32_t place,
                                   const struct transition *transition, uint8_t *ret_bytes)
{
	if (model->usual)
		return row_apply(model, row, place, transition, ret_bytes, row_usual);
	uint32_t size = row_apply(model, row, place, transition, ret_bytes, model->format);
	return model->lowers ? model_lower(model, ret_bytes, size) : size;
}

/* A sum over the row, so that a transition knows by how much it changes it; but when channels keep
 * order it has to be taken anew, because the places of messages count. */
uint64_t model_hash(const struct model *model, struct state_row row);

/* How many there are in a row, each at its place (see mark_count). */
uint64_t model_marks(const struct model *model, struct state_row row);
static inline uint32_t mark_count(uint64_t marks, enum mark mark)
{
	return (uint32_t)(marks >> mark * MARK_BITS) & MARK_MASK;
}

#endif
