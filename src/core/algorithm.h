/*
 * The contract between an algorithm and what drives it.
 *
 * An algorithm is a const table and a few pure functions on a flat state. A step takes a site (what
 * a node knows from the start), a state and an input, changes the state and writes its effects into
 * the driver's `struct out`. It knows nothing of time, chance, memory, sockets or lock names: the
 * simulator, the checker, the lock node and the page call the very same functions.
 *
 * What must hold of every algorithm:
 *
 * - A state is flat: no pointer, no byte left unset, and two states that mean the same have the
 *   same bytes. memcpy clones it, memcmp compares it. Drivers keep it at an address that is a
 *   multiple of 8. What a node does not have (the queue in a token that is elsewhere) is all zeros;
 *   queues are kept left-justified.
 * - A step is a function of (site, state, input): the same input gives the same state and the same
 *   effects, on every machine.
 * - A message is bytes: its type in the first byte (an index into `messages`), then what it carries
 *   (wire.h). The receiver gets these bytes and, on a ring, the side by which they came, and nothing
 *   else: an algorithm that must know the sender puts it into the message. So a message in flight is
 *   (receiver, side, bytes) to the checker too.
 * - `receive` decodes everything before it changes anything; bad bytes give BATON_EMESSAGE and
 *   change nothing, send nothing. In the laboratory, where bytes are never damaged, a refusal is a
 *   violation; so is entering without having asked, and sending to a node that is no neighbour.
 * - Sizes follow from the number of nodes. There is no other limit.
 * - What a node sends to itself is part of the same step and not a message, except on a ring of
 *   one.
 *
 * A node is idle, waiting (from `request` to EFFECT_ENTER), inside (until `release`), or leaving:
 * it has left, and `ready` still says no. An election has no inside: a process waits from `request`
 * until it has learned the leader, and takes part while `ready` says no.
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

/* A class of graphs. Every node of a GRAPH_STAR has node 1 as a neighbour; more links do no harm
 * there. */
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
 * What a node knows from the start; valid during one step. `neighbours` are those of the graph that
 * the algorithm asks for (the logical tree of neilsen and raymond), in increasing order; NULL in a
 * complete graph, where they are everybody else: use site_neighbour. `left` and `right` are set on
 * a ring only; `toward` in a tree only.
 */
struct site {
	uint32_t self; /* 1..nodes */
	uint32_t nodes;
	uint32_t holder; /* who has the token at the start; nobody but `init` should look */
	uint32_t toward; /* the neighbour on the path to the holder, 0 at the holder itself */
	uint32_t left, right;
	uint32_t identifier;         /* elections: the identifier at this place; else `self` */
	const uint32_t *identifiers; /* of all places; for processes that know each other (bully) */
	uint32_t neighbours_count;
	const uint32_t *neighbours;
	const uint64_t *parameters; /* in the order of the algorithm's table */
	const void *shared;         /* what `prepare` made, the same for all */
};

/* The k-th neighbour, k from 0. */
static inline uint32_t site_neighbour(const struct site *site, uint32_t k)
{
	if (site->neighbours != NULL)
		return site->neighbours[k];
	return k + 1 < site->self ? k + 1 : k + 2;
}

/* What a message does, in the one language in which all algorithms are drawn. */
enum role {
	ROLE_ASKS,
	ROLE_PERMITS, /* the right to enter, or a part of it */
	ROLE_REFUSES, /* or asks back, or yields, what was permitted */
	ROLE_GIVES_BACK,
	ROLE_ANNOUNCES,
	ROLE_PREPARES, /* before any request */
};

struct message_type {
	const char *name;
	enum role role;
	bool token;        /* it carries the privilege */
	bool init;         /* sent before any request, and counted apart */
	bool announcement; /* elections: counted apart */
};

/* What kind of thing a variable is that `describe` writes, so that it can be drawn: */
enum variable_kind {
	VARIABLE_PLAIN,
	VARIABLE_NODE,  /* a node; 0 or null: none */
	VARIABLE_QUEUE, /* an array of nodes, in order or a set */
	VARIABLE_ROW,   /* an array with a value for each node, from node 1 on */
};

/* A node of a VARIABLE_NODE or VARIABLE_QUEUE may be the first element of an array, with what is known
 * of it after it. */
struct variable {
	const char *name;
	enum variable_kind kind;
};

/*
 * A parameter is a choice among names, or, without choices, a number from least to most. If it also
 * takes text, a value that is not among the choices is PARAMETER_TEXT, and network->texts has it;
 * `prepare` judges it.
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
	        *choices; /* the first is the default; ends with a NULL name */
	bool takes_text;
	bool breaks; /* every value but the default breaks the algorithm, to show why it is as it is */
	uint64_t least, most, initial; /* of a number */
};

/* All of a system at one moment, for an invariant that speaks of more than one node. */
struct flight {
	uint32_t to;
	uint32_t origin; /* of the message: see `origin` of an algorithm */
	struct message message;
};

struct snapshot {
	const struct network *network;
	const void *const *states; /* states[i] of node i + 1 */
	const struct flight *flights;
	size_t flights_count;
};

/*
 * An invariant speaks of one node (`local`) or of all of them (`global`); the other is NULL. False:
 * broken. One that claims to be exact, to hold in no state of the system but those that can be
 * reached, says in how many states of that network it holds: a checker that has reached all of
 * them, with no bound on entries, compares. UINT64_MAX: too many to count.
 */
struct invariant {
	const char *name;
	bool (*local)(const struct site *site, const void *state);
	bool (*global)(const struct snapshot *snapshot);
	uint64_t (*permitted)(const struct network *network);
};

/*
 * Numbers that grow for ever, but of which only the differences count: whatever can happen with some
 * numbers can happen with all of them less by the same. So a checker that lowers all numbers of a
 * system, in states and messages alike, as far as they go, sees every behaviour and has an end.
 */
struct differences {
	/* By how much its numbers can be lowered; UINT64_MAX if it has none. */
	uint64_t (*state_slack)(const void *state);
	uint64_t (*message_slack)(const struct message *message);
	void (*lower_state)(void *state, uint64_t by);
	/* Makes the message with lower numbers; it is the caller's to send it. */
	void (*lower_message)(const struct message *message, uint64_t by, struct out *out);
};

/* Where the rules of an algorithm come from, as they are written here. */
enum source {
	SOURCE_PAPER,         /* the paper that published it */
	SOURCE_ACCOUNT,       /* what another document says of it */
	SOURCE_RECONSTRUCTED, /* a document has the idea, or the name; the rules are not in it */
};

struct algorithm {
	const char *name;
	const char *title;
	unsigned year;
	enum source source;
	const char *rules; /* the document and section: "Neilsen 2.1" */
	/* The nodes for which a search of all interleavings takes a few seconds: with one entry each;
	 * and with two each or with no bound on them, 0 if as many. */
	uint32_t nodes_checked, nodes_checked_twice;
	/* What grows without bound if entries do, so that there is no end of states: "clocks". NULL:
	 * nothing. And the parameter that keeps it bounded unless it is 0, or NULL. */
	const char *grows, *grows_unless;
	const struct differences *differences; /* then that is no matter; or NULL */
	enum kind kind;
	enum graph_class links; /* the weakest network that its messages need */
	enum graph_class shape; /* a logical structure upon it, or GRAPH_NONE */
	const char *topology;   /* the best for it, as on the command line */
	bool needs_fifo;
	bool one_way; /* on a ring: it sends to the right only */
	bool has_token;
	bool circulates;  /* its token goes round for ever: hops while nobody wants in are counted
	                     apart */
	bool regenerates; /* a lost token is made anew */
	/* Messages for one entry, and the synchronisation delay in messages: as a paper claims it,
	   or as it follows from the rules where none says anything. */
	const char *claim_messages, *claim_delay;
	const struct message_type *messages;
	size_t messages_count;
	const struct variable *variables; /* all that `describe` may write; ends with a NULL name */
	const struct parameter *parameters; /* NULL, or ends with a NULL name */
	const struct invariant *invariants; /* NULL, or ends with a NULL name */

	/*
	 * What all nodes know beforehand and what takes some work to find, such as committees: made
	 * once for a network, never changed, and the same whoever is the holder: the locks of a node
	 * share it. NULL if there is nothing of the kind. `prepare` gives NULL, or a sentence that
	 * says what is wrong with the parameters or the network.
	 */
	size_t (*shared_size)(const struct network *network);
	const char *(*prepare)(const struct network *network, void *shared);

	size_t (*state_size)(const struct site *site);
	/* The state is all zeros before. What is sent here is in flight before any request. */
	void (*init)(const struct site *site, void *state, struct out *out);
	/* Called only for a node that neither waits nor is inside, and is ready. An election:
	 * initiate. */
	void (*request)(const struct site *site, void *state, struct out *out);
	/* Called only for a node that is inside; NULL for an election. */
	void (*release)(const struct site *site, void *state, struct out *out);
	/* 0, or BATON_EMESSAGE. */
	int (*receive)(const struct site *site, void *state, const struct message *message,
	               struct out *out);
	/* A timer that this node armed has run out; NULL if it arms none. */
	void (*expire)(const struct site *site, void *state, uint32_t timer, struct out *out);
	/* May the node ask? NULL: always, when it neither waits nor is inside. */
	bool (*ready)(const struct site *site, const void *state);
	/* Does the node have the token? NULL without a token. */
	bool (*has_privilege)(const struct site *site, const void *state);
	/* The variables, by the paper's names, as members of an object that is already open. */
	void (*describe)(const struct site *site, const void *state, struct writer *writer);
	/* What a message carries, as "(2,2)"; nothing if it carries nothing. The message is
	 * well-formed. */
	void (*show)(const struct message *message, struct writer *writer);
	/* Whose request the message is a copy of, 0 if it is none. NULL: no message names one. */
	uint32_t (*origin)(const struct message *message);
	/*
	 * The nodes that wait, in the order in which they will be served, as far as states and
	 * messages decide it already: no request that comes later, and no order of delivery, changes
	 * what is told. Who waits and is not told has a place after those who are. Whoever is inside
	 * is not in it. There is room for all nodes; returns how many there are. NULL: states do not
	 * tell.
	 */
	uint32_t (*queue)(const struct snapshot *snapshot, uint32_t *ret_queue);
};

#endif
