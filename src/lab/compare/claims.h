/*
 * The documents' claims about the cost of the algorithms, as data: a formula, the quantity that it
 * is about, and the place in the document. `baton compare` measures and judges the claims
 * (compare.h).
 *
 * A formula may have these variables. N is the number of nodes, E the number of edges, and D the
 * diameter. K and k are the most and the fewest nodes that a first request concerns, including the
 * requester (the sizes of Maekawa's committees). Every parameter of the algorithm whose name is a
 * single letter is a variable too, such as L of suzuki-kasami-b.
 */
#ifndef LAB_CLAIMS_H
#define LAB_CLAIMS_H

#include "setup.h"

/* The quantities that are measured. Under light load there is one request at a time, from a random
 * node; under heavy load every node always wants to enter. An entry that has to ask is one that
 * takes at least one message. */
enum quantity {
	LIGHT_MEAN, /* messages for an entry under light load, mean */
	LIGHT_MIN,  /* fewest messages for a single entry, including runs in which delays vary */
	LIGHT_MAX,
	LIGHT_ASKED_MIN, /* fewest messages for an entry that has to ask */
	LIGHT_TOKEN_MIN, /* fewest messages that carry the token, for an entry that has to ask */
	LIGHT_TOKEN_MAX, /* most messages that carry the token, for an entry that has to ask */
	LIGHT_OTHERS_MIN, /* fewest messages that do not carry the token, for an entry that has to ask */
	LIGHT_OTHERS_MAX, /* most messages that do not carry the token, for an entry that has to ask */
	/* The next three are times in message delays. If a claim is about the longest delay, runs
	 * in which delays vary count too, in units of the longest delay. */
	LIGHT_RESPONSE_MAX, /* the longest time from request to entry */
	/* Time from a request until it has reached every node that it concerns. */
	LIGHT_ASKED_TIME,
	LIGHT_TOKEN_TIME, /* time from the token's departure to the entry */
	/* Messages for one request while the token is at the node with the most neighbours. */
	FIRST_CENTRE_MEAN,
	/* Messages for one request while the token is at the node with the fewest neighbours. */
	FIRST_LEAF_MEAN,
	HEAVY_MEAN,        /* messages for an entry under heavy load, mean */
	HEAVY_VARIED_MEAN, /* HEAVY_MEAN with delays that vary */
	HEAVY_SYNC_MEAN,   /* time from an exit to the next entry, in message delays */
	HEAVY_SYNC_MAX,
	HEAVY_BYPASS,    /* most entries of others between a request and its entry */
	COMMITTEE_MAX,   /* nodes that a first request concerns, including the requester */
	STATE_BYTES,     /* bytes of state of the node that needs most */
	TOKEN_BYTES,     /* bytes of the largest message that carries the token */
	REQUEST_BYTES,   /* bytes of the largest message that does not carry the token */
	REGENERATED_MAX, /* hops of the tokens from a loss until the lost one is replaced */
	ALL_MEAN, /* elections: messages to elect when all begin, mean over random arrangements */
	ALL_MIN,  /* ALL_MEAN's quantity, the fewest over all arrangements that were tried */
	ALL_MAX,  /* ALL_MEAN's quantity, the most over all arrangements that were tried */
	ALL_TIME_MAX,     /* message delays until the leader knows that it leads, when all begin */
	ONE_MIN,          /* ALL_MIN when one process begins */
	ONE_MAX,          /* ALL_MAX when one process begins */
	ONE_TIME_MAX,     /* ALL_TIME_MAX when one process begins */
	ANNOUNCEMENT_MAX, /* messages that announce the leader */
	QUANTITIES,
};

enum relation {
	AT_MOST,
	AT_LEAST,
	EXACTLY,
	AT_BEST, /* no measured value is less, and a run that is long enough has this value */
	/* The measured mean is off by at most five standard errors or one per cent, whichever is
	 * more. */
	ON_AVERAGE,
	ABOUT, /* the measured value is within a quarter of the claimed one */
	/* The measured value grows no faster than the claimed one; judged by sizes that are far
	 * apart. */
	OF_ORDER,
};

/* The graph that a claim is about. A graph may be of several kinds. */
enum claim_graph {
	ON_ANY,
	ON_TREE,
	ON_STAR,
	ON_LINE,
	/* A radiating star whose arms branch: a tree of diameter 2 log N at most in which at
	 * least two nodes have three neighbours. A plain star has only one such node. */
	ON_BRANCHING,
	ON_RING,
	ON_COMPLETE,
	CLAIM_GRAPHS,
};

struct paper_claim {
	const char *algorithm;
	/* The parameter NAME=VALUE that the claim is about; NULL: the defaults. */
	const char *parameter;
	enum claim_graph graph;
	uint32_t nodes_min; /* the claim says nothing about fewer nodes */
	enum quantity quantity;
	enum relation relation;
	const char *formula;
	/* The document and section; NULL: our own claim, which follows from the rules. */
	const char *where;
	/* Why the claim is known to fail in some cases; NULL: it should always hold. */
	const char *refuted;
	/* If the claim fails: why our run differs from what the document means; or NULL. */
	const char *other;
};

/* All claims, in the order of the algorithms. The last element has a NULL `algorithm`. */
extern const struct paper_claim claims[];

/* A document's claim about the messages for an entry or an election, in a few words. */
struct headline {
	const char *algorithm;
	/* The parameter NAME=VALUE that the claim is about; NULL: the defaults. */
	const char *parameter;
	const char *text, *where;
	bool apart; /* the headline of a variant that is compared only on request */
};
/* Returns NULL if no document says how many messages the algorithm takes. */
const struct headline *headline_of(const struct algorithm *algorithm, const char *parameter);
/* Does any document claim something about that quantity? */
bool claim_of_document(const struct algorithm *algorithm, enum quantity quantity);

/* The name of a quantity is its path in the report of a row, such as "light.messages.max". Its text
 * is a phrase for people. */
const char *quantity_name(enum quantity quantity);
const char *quantity_text(enum quantity quantity);
const char *relation_text(enum relation relation);
const char *claim_graph_text(enum claim_graph graph);

/* The facts about a network that the evaluation of claims needs. */
struct claim_facts {
	const struct network *network;
	/* The longest distance of two nodes; NAN if the graph is too large to compute it. */
	double diameter;
	bool is[CLAIM_GRAPHS];
	/* The variables k and K of claims; 0 if no claim about the algorithm uses them. */
	uint32_t asked_min, asked_max;
};

void claim_facts_make(const struct setup *setup, struct claim_facts *ret_facts);

/* Is the claim about that algorithm with that parameter (NULL: the defaults)? */
bool claim_concerns(const struct paper_claim *claim, const struct algorithm *algorithm,
                    const char *parameter);

/* Returns the value of the claim's formula for that network, or NAN if the claim says nothing
 * about it. */
double claim_value(const struct paper_claim *claim, const struct claim_facts *facts);

#endif
