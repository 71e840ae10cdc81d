/*
 * For the checker: an algorithm as a transition system whose states are rows of small numbers.
 *
 * Each distinct local state of a node and each distinct message is interned, so that the whole
 * system is a short row of numbers: the local state of each node, then the messages in flight.
 * Steps of the algorithm are pure, so each (local state, input) is computed once and remembered.
 *
 * A local state is (the node's phase, the leader it knows of, its armed timers, the entries it has
 * left, the algorithm's state). A message is (receiver, side, bytes); when channels keep order also
 * its sender. The messages of a row are grouped by channel, oldest first. If channels do not keep
 * order, each message is a channel of its own, so that the messages of a row are sorted by number.
 */
#ifndef LAB_MODEL_H
#define LAB_MODEL_H

#include "faults.h"
#include "intern.h"
#include "must.h"
#include "setup.h"
#include "world.h"

#include <string.h>

#define ENTRIES_UNLIMITED UINT32_MAX

/* Kinds of actions. ACTION_LOSE and all kinds after ACTION_EXPIRE are faults, or changes of the
 * network. */
enum action_kind {
	ACTION_REQUEST,
	ACTION_RELEASE,
	ACTION_DELIVER,
	ACTION_LOSE,
	ACTION_EXPIRE,
	ACTION_DUPLICATE, /* a message in flight is duplicated */
	ACTION_CRASH,     /* the node takes no step any more, and messages to it are lost */
	ACTION_RESTART,   /* the node begins again as at the start, and has forgotten everything */
	/* The link between the node and another is cut: all messages on it are lost from now on. */
	ACTION_CUT,
	/* The node gets or loses a neighbour. A link has two ends: the lower node makes this step
	 * first, and then the other one, before anything else happens. */
	ACTION_LINK,
	ACTION_UNLINK,
};

struct action {
	/* Identifies the node's local state and the input. It is 0 if no node makes a step,
	 * because a message is lost or its receiver is dead. */
	uint64_t key;
	enum action_kind kind;
	uint32_t node;
	uint32_t what;  /* the number of the message, of the timer, or of the link's other end */
	uint32_t place; /* the index of the message in the row, or PLACE_NONE */
};
#define PLACE_NONE UINT32_MAX

/* The result of a step in a local state. */
struct transition {
	uint64_t key;         /* the key of the action */
	uint64_t hash_change; /* what the step adds to the row's hash, unless channels keep order */
	uint32_t local;       /* the node's new local state */
	uint32_t sends;       /* index in model->sends of the first message that the step sends */
	uint16_t sends_count; /* how many messages the step sends */
	/* How many of the sent messages count as messages of a run; those of INITIALIZE do not. */
	uint16_t messages;
	uint8_t node;   /* the node that makes the step */
	bool enters;    /* the node enters its critical section */
	uint8_t broken; /* the rule that the step broke, an enum step_fault */
};

/* The phase of a node that has crashed; see enum world_phase for the others. */
enum { PHASE_DEAD = PHASE_LEAVING + 1 };

/* The ways in which a step can break the contract. */
enum step_fault {
	FAULT_NONE,
	FAULT_NO_NEIGHBOUR,
	FAULT_LEFT,
	FAULT_ENTERED,
	FAULT_DECLARED_TWICE,
	FAULT_CHANGED_LEADER,
	FAULT_IMPURE,
	FAULT_REFUSED,
	FAULT_NOT_DRAWN,
};
const char *step_fault_text(enum step_fault fault);

/* Facts about an interned local state. */
struct local {
	uint64_t hash, marks;
	const char *broken_invariant;
	const void *state; /* the algorithm's state */
	uint8_t phase;     /* an enum world_phase */
	bool may_request;  /* the algorithm is ready for a request */
	bool requests;     /* the algorithm is ready, and the node has entries left: it can ask */
	bool takes_part;   /* the node takes part in an election that is not over for it */
	bool armed;        /* at least one timer runs */
	bool privileged;   /* the node has the token */
	bool dead;         /* the node has crashed and not restarted */
	/* How many messages to this node were lost and how many duplicated, how often it has
	 * crashed, and the other end of its link that is cut, or 0. */
	uint8_t lost, duplicated, crashes;
	uint32_t cut;
	/* If links may change: in how many changes this node was the end with the lower number; and
	 * a set of neighbours, with bit j for neighbour j + 1. */
	uint32_t rewired;
	uint64_t neighbours;
	uint32_t leader; /* the identifier of the leader that the node knows, or 0 */
	/* For each timer, 1 + the number of delays for which it is armed; 0: not armed. */
	uint32_t timers[TIMERS_MAX];
};

struct model_letter {
	uint64_t hash, marks;
	uint64_t origin;  /* bit i: this message is a copy of node i + 1's request */
	uint32_t channel; /* the number of the message's channel, if channels keep order */
	/* The sender; 0 if it does not matter, because channels do not keep order and no link
	 * can be cut. */
	uint32_t from;
	uint8_t type;         /* the type of the message */
	struct flight flight; /* receiver, origin and content */
	bool token, init;     /* the message carries the token; it is sent before any request */
	bool lost;            /* the receiver of the message is dead */
};

/* Three counters in one number, so that one sum over a row counts all of them. */
enum { MARK_BITS = 20, MARK_MASK = (1 << MARK_BITS) - 1 };
enum mark { MARK_INSIDE, MARK_TOKEN, MARK_BROKEN };

enum { MODEL_NODES_MAX = 64 };

struct row_format {
	/* How many bytes a row has for the number of a local state and for that of a message. */
	uint32_t local_width, letter_width;
	bool fifo; /* channels keep order */
};

/* The usual format. Functions that are called often are compiled twice: for any format, and for
 * this one, where the compiler knows the constants. */
static const struct row_format row_usual = {.local_width = 2, .letter_width = 1, .fifo = false};

struct model {
	const struct setup *setup;
	const struct algorithm *algorithm;
	/* A writable pointer to this same model: making a row may intern states and messages. */
	struct model *learns;
	uint32_t nodes;
	const uint32_t *entries;
	bool *dead; /* elections: [place - 1]: the place is dead, so messages to it are lost */
	/* [i * nodes + j]: how many channels go from node j + 1 to i + 1. */
	uint8_t *channels_count;
	bool lose_token; /* token messages may be lost, one at a time */
	struct faults faults;
	bool faulty; /* faults are possible in this model */
	enum sought sought;
	uint32_t tokens_at_start;
	struct intern locals, letters, channels;
	struct row_format format;
	bool usual;    /* the format is row_usual */
	bool lowers;   /* rows are lowered (see struct differences); only one thread may search */
	bool outgrown; /* a number did not fit into the format */
	struct local *local;
	size_t local_size;
	struct model_letter *letter;
	size_t letter_size;
	uint32_t *sends;
	size_t sends_count, sends_size;
	/* All transitions computed so far; their numbers begin with 1. */
	struct transition *transitions;
	size_t transitions_count, transitions_size;
	uint32_t *memo; /* a hash table from keys to the numbers of transitions; 0: free */
	size_t memo_size;
	uint32_t memo_shift;
	uint64_t steps; /* how many steps of the algorithm were computed */
	struct out out, out_again;
	uint8_t *buffer; /* the local state that a step makes */
	size_t buffer_size;
	/* The local state that the same step makes when it is run again; it must be equal. */
	uint8_t *again;
};

/* entries[i-1]: how often node i may enter, or ENTRIES_UNLIMITED. The array must outlive the
 * model. */
void model_init(struct model *model, const struct setup *setup, const uint32_t *entries,
                bool lose_token, const struct faults *faults, enum sought sought);
void model_free(struct model *model);
size_t model_memory(const struct model *model);

/*
 * A row: the numbers of the local states, then of the messages, in as few bytes as they need. All
 * rows have the same format. When a number does not fit (model->outgrown), the format is widened
 * and the search starts again; what was interned and computed is kept.
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

/* Returns the number of the local state of node i + 1. */
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

/* Writes the first row and returns its size, at most ROW_BYTES_MAX. */
uint32_t model_start(struct model *model, uint8_t *ret_bytes);

/* All actions that are possible in a row, in a fixed order, and two facts about the row. */
struct actions {
	struct action *list;
	size_t count, size;
	uint64_t hash;  /* the hash of the row */
	uint64_t known; /* bit i: node i + 1 waits and no copy of its request is in flight */
};
void actions_free(struct actions *actions);
void model_actions(const struct model *model, struct state_row row, struct actions *ret_actions);

/*
 * Keeps only the actions of some nodes, a persistent set. Channels keep order, and each channel
 * from another node into the set has a message waiting. So nothing that the other nodes do can
 * change what the nodes of the set can do next. Actions of different nodes commute, so for every
 * run there is one among the remaining runs that ends in the same state. Of all such sets, the one
 * with the fewest actions is taken; it may be all nodes.
 */
void model_reduce(const struct model *model, struct actions *actions);

/* Returns a key that identifies the action in its local state; never 0. */
static inline uint64_t action_key(enum action_kind kind, uint32_t local, uint32_t what)
{
	enum { KIND_BITS = 4 };

	must(what < UINT32_MAX >> KIND_BITS);
	return ((uint64_t)local << 32 | (uint64_t)what << KIND_BITS | kind) + 1;
}

/* Adds the faults that may happen now. A message on a cut link is lost when it would be
 * delivered. The list has room for all. */
void model_add_faults(const struct model *model, struct state_row row, struct actions *actions);

/* Returns the node's site. If the network may change, the site's neighbours are taken from
 * `neighbours` (bit j: node j + 1), and listed in `room`, which must outlive the site. */
struct site model_site(const struct model *model, uint32_t node, uint64_t neighbours,
                       uint32_t room[MODEL_NODES_MAX]);

static inline bool model_is_loss(const struct action *action)
{
	return action->key == 0;
}

static inline uint32_t *memo_home(const struct model *model, uint64_t key)
{
	return &model->memo[key * 0x9e3779b97f4a7c15u >> model->memo_shift];
}

/* Returns the slot of the transition with this key, or the free slot where it belongs. */
static inline uint32_t *memo_find(const struct model *model, uint64_t key)
{
	uint32_t *slot = memo_home(model, key);

	while (*slot != 0 && model->transitions[*slot].key != key)
		slot = slot + 1 < model->memo + model->memo_size ? slot + 1 : model->memo;
	return slot;
}

/* Prefetch what model_find needs. Call both, in this order, before model_find, and leave some time
 * between the calls, so that memory has time to answer. */
static inline void model_prefetch(const struct model *model, const struct action *action)
{
	__builtin_prefetch(memo_home(model, action->key));
}
static inline void model_prefetch_transition(const struct model *model, const struct action *action)
{
	__builtin_prefetch(&model->transitions[*memo_home(model, action->key)]);
}

/* Returns the transition for an action that is not a loss, or NULL if it has not been computed
 * yet (model_learn). The pointer is valid until the next model_learn; the transition's number
 * stays valid. */
static inline const struct transition *model_find(const struct model *model,
                                                  const struct action *action)
{
	uint32_t number = *memo_find(model, action->key);
	return number != 0 ? &model->transitions[number] : NULL;
}
const struct transition *model_learn(struct model *model, const struct action *action);

/* Inserts a message after the last one of its channel and returns the row's new size. Channels are
 * sorted. If they do not keep order, each message is a channel of its own. */
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

/* Copies a row. Rows are short, so it copies whole blocks: it may read up to ROW_SLACK bytes
 * after the row and write as many after the copy. */
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

/* Lowers all numbers of a row as far as possible and returns its size. The lowered states and
 * messages are interned if they are new. */
uint32_t model_lower(const struct model *model, uint8_t *bytes, uint32_t size);

/* Writes the row after a step and returns its size, at most ROW_BYTES_MAX. The message at
 * `place` (or PLACE_NONE) is removed; `transition` is NULL for a loss. Both rows need ROW_SLACK
 * more bytes of room after their end. */
static inline uint32_t model_apply(const struct model *model, struct state_row row, uint32_t place,
                                   const struct transition *transition, uint8_t *ret_bytes)
{
	if (model->usual)
		return row_apply(model, row, place, transition, ret_bytes, row_usual);
	uint32_t size = row_apply(model, row, place, transition, ret_bytes, model->format);
	return model->lowers ? model_lower(model, ret_bytes, size) : size;
}

/* Returns the hash of a row. It is a sum over the row, so that each transition adds a fixed
 * number. If channels keep order it is computed again after each step, because it then depends
 * on the places of the messages. */
uint64_t model_hash(const struct model *model, struct state_row row);

/* Returns the three counters of a row, for mark_count. */
uint64_t model_marks(const struct model *model, struct state_row row);
static inline uint32_t mark_count(uint64_t marks, enum mark mark)
{
	return (uint32_t)(marks >> mark * MARK_BITS) & MARK_MASK;
}

#endif
