/*
 * The contract between an algorithm and what drives it.
 *
 * An algorithm is a const table and a few pure functions on a flat state. A step takes a site (what
 * a node knows from the start), a state and an input, changes the state and writes its effects into
 * the driver's `struct out`. It knows nothing of clocks, random numbers, memory, sockets or lock
 * names. The simulator, the checker, the lock node and the page all call the same functions.
 *
 * Every algorithm must keep these rules:
 *
 * - A state is flat: it has no pointers and no unset bytes, and two states that mean the same have
 *   the same bytes. memcpy clones it, memcmp compares it. Drivers keep it at an address that is a
 *   multiple of 8. Fields that a node does not need now (the queue of a token that is elsewhere)
 *   are all zeros. Queues are kept left-justified.
 * - A step is a function of (site, state, input): the same input gives the same state and the same
 *   effects, on every machine.
 * - A message is bytes: its type in the first byte (an index into `messages`), then what it carries
 *   (wire.h). The receiver gets these bytes and, on a ring, the side by which they came. It gets
 *   nothing else: an algorithm that must know the sender puts it into the message. So for the
 *   checker too a message in flight is (receiver, side, bytes).
 * - `receive` decodes everything before it changes anything. For bad bytes it returns
 *   BATON_EMESSAGE, changes nothing and sends nothing. The laboratory never damages bytes, so a
 *   refusal there is a violation. Entering without having asked, and sending to a node that is not
 *   a neighbour, are violations too.
 * - Sizes follow from the number of nodes. There is no other limit.
 * - A node sends no messages to itself, except on a ring of one: what it would tell itself is part
 *   of the same step.
 *
 * A node is idle, waiting (from `request` to EFFECT_ENTER), inside (until `release`), or leaving
 * (after `release`, while `ready` returns false). In an election no node is ever inside: a process
 * waits from `request` until it has learned the leader, and takes part while `ready` returns false.
 */
#ifndef CORE_ALGORITHM_H
#define CORE_ALGORITHM_H

#include "must.h"
#include "wire.h"
#include "writer.h"

#include <baton/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { KIND_MUTEX, KIND_ELECTION };

/* A class of graphs. In a GRAPH_STAR every node has node 1 as a neighbour; there may be more
 * links. */
enum graph_class {
	GRAPH_NONE,
	GRAPH_COMPLETE,
	GRAPH_STAR,
	GRAPH_RING,
	GRAPH_TREE,
	GRAPH_CONNECTED
};

enum { PARAMETERS_MAX = 4, TIMERS_MAX = 8 };

struct network;

/*
 * A site: what a node knows from the start. Valid during one step. `neighbours` lists this node's
 * neighbours in the graph that the algorithm needs (for neilsen and raymond the logical tree), in
 * increasing order. In a complete graph it is NULL, because all other nodes are neighbours;
 * site_neighbour works for both. `left` and `right` are set on a ring only, `toward` in a tree
 * only.
 */
struct site {
	uint32_t self; /* this node's number, from 1 to `nodes` */
	uint32_t nodes;
	uint32_t holder; /* the node that has the token at the start; only `init` should use it */
	uint32_t toward; /* the neighbour on the path to the holder, 0 at the holder itself */
	uint32_t left, right;
	uint32_t identifier; /* elections: this node's identifier; otherwise `self` */
	/* The identifiers of all places, for processes that know each other (bully). */
	const uint32_t *identifiers;
	uint32_t neighbours_count;
	const uint32_t *neighbours;
	/* The values of the parameters, in the order of algorithm->parameters. */
	const uint64_t *parameters;
	const void *shared; /* data that `prepare` made, the same for all nodes */
};

/* Returns the k-th neighbour; k counts from 0. */
static inline uint32_t site_neighbour(const struct site *site, uint32_t k)
{
	if (site->neighbours != NULL)
		return site->neighbours[k];
	return k + 1 < site->self ? k + 1 : k + 2;
}

/* The role of a message in its algorithm. All algorithms are drawn with the same few roles. */
enum role {
	ROLE_ASKS,
	ROLE_PERMITS, /* gives the right to enter, or a part of it */
	ROLE_REFUSES, /* refuses a permission, asks for it back, or returns it */
	ROLE_GIVES_BACK,
	ROLE_ANNOUNCES,
	ROLE_PREPARES, /* is sent before any request */
};

struct message_type {
	const char *name;
	enum role role;
	bool token; /* the message carries the token */
	bool init;  /* the message is sent before any request, and is counted separately */
	/* elections: the message announces the leader, and is counted separately. */
	bool announcement;
	/* The message is sent only with a certain value of a parameter. Reports leave it out if
	 * none was sent. */
	bool rare;
};

/* The kind of a variable that `describe` writes, so that it can be drawn. */
enum variable_kind {
	VARIABLE_PLAIN,
	VARIABLE_NODE,  /* the number of a node; 0 or null: none */
	VARIABLE_QUEUE, /* an array of nodes, in order or a set */
	VARIABLE_ROW,   /* an array with a value for each node, from node 1 on */
};

/* In a VARIABLE_NODE or VARIABLE_QUEUE, a node may be written as an array: its first element is the
 * node, and the others tell more about it. */
struct variable {
	const char *name;
	enum variable_kind kind;
};

/*
 * A parameter is a choice among names or, if it has no choices, a number from `least` to `most`. If
 * it also takes text, a value that is not among the choices becomes PARAMETER_TEXT. The text itself
 * is in network->texts, and `prepare` checks it.
 */
#define PARAMETER_TEXT UINT64_MAX

struct parameter_choice {
	const char *name;
	uint64_t value;
};

struct parameter {
	const char *name;
	const char *help;
	const struct parameter_choice
	        /* The values to choose from, the default first; the last element has a NULL
	         * name. */
	        *choices;
	bool takes_text;
	/* Only the default is fit for a lock service. The other values are for study; most of them
	 * break the algorithm, to show why the default is needed. */
	bool breaks;
	uint64_t least, most, initial; /* the limits of a number, and its default */
};

/* A message in flight. A snapshot has all of them, and all states: it is the whole system at one
 * moment, for an invariant about more than one node. */
struct flight {
	uint32_t to;
	/* The node whose request the message is a copy of: see algorithm->origin. */
	uint32_t origin;
	struct message message;
};

struct snapshot {
	const struct network *network;
	const void *const *states; /* states[i] is the state of node i + 1 */
	const struct flight *flights;
	size_t flights_count;
};

/*
 * An invariant is about one node (`local`) or about the whole system (`global`); the other pointer
 * is NULL. The function returns false if the invariant is broken. Some invariants claim to be
 * exact: they hold in all states that can be reached and in no others. Such an invariant computes
 * the number of states of the network in which it holds (UINT64_MAX: too many to count). A checker
 * that has reached all states, with unlimited entries, compares this with its own count.
 *
 * Some invariants do not apply with some values of parameters. Such a value breaks the invariant on
 * purpose, to show the harm that follows, and a search must go on to find that harm. `applies`
 * returns false then, and drivers neither check the invariant nor report that it holds. NULL: it
 * always applies.
 */
struct invariant {
	const char *name;
	/* The claim, as the end of a sentence that begins with "it says that", without a full
	 * stop. */
	const char *meaning;
	bool (*applies)(const struct network *network);
	bool (*local)(const struct site *site, const void *state);
	bool (*global)(const struct snapshot *snapshot);
	uint64_t (*permitted)(const struct network *network);
};

static inline bool invariant_applies(const struct invariant *invariant,
                                     const struct network *network)
{
	return invariant->applies == NULL || invariant->applies(network);
}

/*
 * For algorithms whose numbers grow without bound, but where only the differences between numbers
 * matter: if all numbers are lowered by the same amount, the same things can happen. A checker
 * lowers all numbers of a system, in states and in messages, as far as possible. So it sees every
 * behaviour, and the search ends.
 */
struct differences {
	/* Returns by how much all numbers of the state or message can be lowered; UINT64_MAX if it
	 * has no numbers. */
	uint64_t (*state_slack)(const void *state);
	uint64_t (*message_slack)(const struct message *message);
	void (*lower_state)(void *state, uint64_t by);
	/* Begins, in `out`, a copy of the message with its numbers lowered. The caller sends it. */
	void (*lower_message)(const struct message *message, uint64_t by, struct out *out);
};

/*
 * The states of a node as the paper draws them in a figure, and the arrows between them. The
 * checker looks for a step that makes a transition without an arrow.
 */
enum state_cause { STATE_ON_REQUEST, STATE_ON_RELEASE, STATE_ON_RECEIPT };

struct state_arrow {
	const char *number; /* the number of the arrow in the figure */
	const char *from, *to;
	enum state_cause cause;
	uint8_t message; /* STATE_ON_RECEIPT: the type of the message that is received */
};

struct state_meaning {
	const char *name;    /* the state's name in the figure */
	const char *meaning; /* what the state means for a node, in a few words */
};

struct state_figure {
	const char *name; /* the figure as the paper calls it: "Figure 4" */
	/* Returns the name of the state that a node is in, or NULL if the figure has no such state.
	 * The same name is always the same string. */
	const char *(*state)(const struct site *site, const void *state);
	const struct state_meaning *states; /* the states of the figure; the last has a NULL name */
	const struct state_arrow *arrows; /* the arrows of the figure; the last has a NULL number */
};

/* The origin of the rules that we implement. */
enum source {
	SOURCE_PAPER,         /* the paper that published the algorithm */
	SOURCE_ACCOUNT,       /* another document that describes the algorithm */
	SOURCE_RECONSTRUCTED, /* our own rules; a document has only the idea or the name */
};

struct algorithm {
	const char *name;
	const char *title;
	unsigned year;
	enum source source;
	/* The document and section that the rules follow, such as "Neilsen 2.1". */
	const char *rules;
	/* The numbers of nodes for which a search of all interleavings takes a few seconds: the
	 * first if each node enters once; the second if each enters twice or without limit. 0: the
	 * second equals the first. */
	uint32_t nodes_checked, nodes_checked_twice;
	/* `grows` names what grows without bound if entries are unlimited, such as "clocks"; then
	 * there are infinitely many states. NULL: nothing grows. `grows_unless` names a parameter:
	 * any value but 0 bounds the growth. NULL: there is no such parameter. */
	const char *grows, *grows_unless;
	/* Functions that lower numbers, so that their growth does not matter; or NULL. */
	const struct differences *differences;
	enum kind kind;
	enum graph_class links; /* the weakest class of networks that the messages need */
	enum graph_class shape; /* a logical structure on top of the network, or GRAPH_NONE */
	const char *topology;   /* the best topology for the algorithm, as on the command line */
	bool needs_fifo;
	bool one_way; /* on a ring: the algorithm sends to the right only */
	bool has_token;
	/* The token never stops circulating; hops while nobody wants to enter are counted
	 * separately. */
	bool circulates;
	bool regenerates; /* a lost token is replaced */
	/* The number of messages for one entry, and the synchronisation delay in messages, as a
	 * paper claims them or, if none does, as they follow from the rules. */
	const char *claim_messages, *claim_delay;
	const struct message_type *messages;
	size_t messages_count;
	/* All variables that `describe` may write; the last has a NULL name. */
	const struct variable *variables;
	/* The parameters of the algorithm; NULL, or ends with a NULL name. */
	const struct parameter *parameters;
	/* The invariants of the algorithm; NULL, or ends with a NULL name. */
	const struct invariant *invariants;
	const struct state_figure *figure; /* the paper's figure of a node's states, or NULL */

	/*
	 * Data that all nodes share and that takes some work to compute, such as committees. It is
	 * made once for a network and never changes. It must not depend on the holder, because all
	 * locks of a node share it. `shared_size` is NULL if there is no such data; `prepare` then
	 * gets NULL and judges the parameters only. `prepare` returns NULL, or a sentence that says
	 * what is wrong with the parameters or the network. The pointer `prepare` may be NULL.
	 */
	size_t (*shared_size)(const struct network *network);
	const char *(*prepare)(const struct network *network, void *shared);

	size_t (*state_size)(const struct site *site);
	/* Sets up the initial state, whose bytes are all 0 when this is called. Messages that are
	 * sent here are in flight before any request. */
	void (*init)(const struct site *site, void *state, struct out *out);
	/* The node asks to enter. Called only if it neither waits nor is inside, and is ready. In
	 * an election, the node begins one. */
	void (*request)(const struct site *site, void *state, struct out *out);
	/* The node leaves the critical section. Called only if it is inside; NULL for an
	 * election. */
	void (*release)(const struct site *site, void *state, struct out *out);
	/* Takes a message. Returns 0, or BATON_EMESSAGE. */
	int (*receive)(const struct site *site, void *state, const struct message *message,
	               struct out *out);
	/* The algorithm uses timers only as pauses between two steps of the printed text, not to
	 * measure time. */
	bool pauses;
	/* A timer that this node armed has expired. NULL if the algorithm has no timers. */
	void (*expire)(const struct site *site, void *state, uint32_t timer, struct out *out);
	/*
	 * Both functions are for algorithms whose network may change while they run; otherwise they
	 * are NULL. The size of the state must then not depend on the neighbours. `linked`: the
	 * node has a new neighbour, which site->neighbours already includes. `needs_link`: may the
	 * node still have to answer this neighbour? A link is not removed while one of its ends
	 * needs it, or while a message is in flight on it.
	 */
	void (*linked)(const struct site *site, void *state, uint32_t neighbour, struct out *out);
	bool (*needs_link)(const struct site *site, const void *state, uint32_t neighbour);
	/* May the node ask? NULL: always, when it neither waits nor is inside. */
	bool (*ready)(const struct site *site, const void *state);
	/* Does the node have the token? NULL if the algorithm has no token. */
	bool (*has_privilege)(const struct site *site, const void *state);
	/* Writes the variables, by the paper's names, as members of an object that is already
	 * open. */
	void (*describe)(const struct site *site, const void *state, struct writer *writer);
	/* Writes what a well-formed message carries, such as "(2,2)"; nothing if it carries
	 * nothing. */
	void (*show)(const struct message *message, struct writer *writer);
	/* Returns the node whose request the message is a copy of; 0: the message is no copy of a
	 * request. NULL if no message names a requester. */
	uint32_t (*origin)(const struct message *message);
	/*
	 * Lists the nodes that wait in the order in which they will be served, as far as states and
	 * messages have decided it: no later request and no order of delivery can change that part.
	 * Nodes that wait but are not listed come after those that are. A node that is inside is
	 * not listed. The array has room for all nodes; returns how many are listed. NULL if the
	 * states do not tell the order.
	 */
	uint32_t (*queue)(const struct snapshot *snapshot, uint32_t *ret_queue);
	/*
	 * At a moment when no message is in flight: lists all nodes that wait, in the order in
	 * which they will be served. A node that asks later may be served between two of them, but
	 * does not change their order. NULL if the states do not tell the order.
	 *
	 * The states may come from other machines, so the function must accept any bytes in them.
	 * It writes at most as many numbers as there are nodes.
	 */
	uint32_t (*queue_at_rest)(const struct snapshot *snapshot, uint32_t *ret_queue);
};

#endif
