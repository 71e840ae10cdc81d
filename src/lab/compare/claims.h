/*
 * What the documents claim that the algorithms cost, as data: a formula, what it is about, where it
 * is written. `baton compare` measures and judges them (compare.h).
 *
 * The variables of a formula: N nodes, E edges, D the diameter; K and k, the most and the fewest
 * nodes that a first request concerns, the asker included (Maekawa's committees); and every
 * parameter of the algorithm whose name is a single letter (L of suzuki-kasami-b).
 */
#ifndef LAB_CLAIMS_H
#define LAB_CLAIMS_H

#include "setup.h"

/*
 * What is measured. "Light" is one request at a time, from all nodes alike, "heavy" all want in all
 * the time. An entry that has to ask is one that takes a message at all.
 */
enum quantity {
	LIGHT_MEAN,
	LIGHT_MIN, /* extremes of single entries, with delays that vary, too */
	LIGHT_MAX,
	LIGHT_ASKED_MIN, /* of entries that have to ask */
	LIGHT_TOKEN_MIN, /* … messages that carry the token */
	LIGHT_TOKEN_MAX,
	LIGHT_OTHERS_MIN, /* … and those that do not */
	LIGHT_OTHERS_MAX,
	/* Times in message delays; with delays that vary, where a claim speaks of the longest: in
	   these. */
	LIGHT_RESPONSE_MAX, /* from request to entry */
	LIGHT_ASKED_TIME,   /* until the last is asked */
	LIGHT_TOKEN_TIME,   /* from the token's leaving to the entry */
	FIRST_CENTRE_MEAN,  /* one request, the token is at the node with the most neighbours */
	FIRST_LEAF_MEAN,    /* … with the fewest */
	HEAVY_MEAN,
	HEAVY_VARIED_MEAN, /* with delays that vary */
	HEAVY_SYNC_MEAN,   /* from an exit to the next entry, in message delays */
	HEAVY_SYNC_MAX,
	HEAVY_BYPASS,
	COMMITTEE_MAX,   /* nodes that a first request concerns, the asker included */
	STATE_BYTES,     /* of the node that needs most */
	TOKEN_BYTES,     /* of the largest message that carries the token */
	REQUEST_BYTES,   /* … that does not */
	REGENERATED_MAX, /* hops of the tokens from a loss until the lost one is replaced */
	ALL_MEAN, /* elections: messages to elect, all begin at once; of random arrangements */
	ALL_MIN,  /* of all arrangements that were tried */
	ALL_MAX,
	ALL_TIME_MAX, /* until the leader knows that it is, in message delays */
	ONE_MIN,      /* one process begins */
	ONE_MAX,
	ONE_TIME_MAX,
	ANNOUNCEMENT_MAX, /* messages that tell the others */
	QUANTITIES,
};

enum relation {
	AT_MOST,
	AT_LEAST,
	EXACTLY,
	AT_BEST,    /* never less, and so little is seen if one looks long enough */
	ON_AVERAGE, /* within chance, and one per cent */
	ABOUT,      /* within a quarter */
	OF_ORDER,   /* grows no faster: told by sizes that are far apart */
};

/* The graph that a claim is about. A graph may be of several kinds. */
enum claim_graph {
	ON_ANY,
	ON_TREE,
	ON_STAR,
	ON_LINE,
	/* A radiating star whose arms branch: a tree of diameter 2 log N at most in which not only the
	 * node in the middle has three neighbours. A star is none, its arms have no length. */
	ON_BRANCHING,
	ON_RING,
	ON_COMPLETE,
	CLAIM_GRAPHS,
};

struct paper_claim {
	const char *algorithm;
	const char *parameter; /* NAME=VALUE that it is about; NULL: the defaults */
	enum claim_graph graph;
	uint32_t nodes_min; /* says nothing about fewer */
	enum quantity quantity;
	enum relation relation;
	const char *formula;
	const char *where;   /* the document and section; NULL: no document says so, it follows from
	                      the rules */
	const char *refuted; /* NULL; or the claim is known not to hold everywhere, and why */
	const char *other; /* NULL; or where it fails, what was run is not what the document speaks
	                        of: why */
};

/* In the order of the algorithms; `algorithm` is NULL at the end. */
extern const struct paper_claim claims[];

/* In a few words: messages for an entry, or to elect, as a document has it. */
struct headline {
	const char *algorithm;
	const char *parameter; /* as of a claim */
	const char *text, *where;
	bool apart; /* a variant that is compared only if it is asked for */
};
/* NULL if no document says how many messages it takes. */
const struct headline *headline_of(const struct algorithm *algorithm, const char *parameter);
/* Does any document say something about that? */
bool claim_of_document(const struct algorithm *algorithm, enum quantity quantity);

/* "light.messages.max": where it is in the report of a row; and a phrase for people. */
const char *quantity_name(enum quantity quantity);
const char *quantity_text(enum quantity quantity);
const char *relation_text(enum relation relation);
const char *claim_graph_text(enum claim_graph graph);

/* What formulas and claims ask about a network. */
struct claim_facts {
	const struct network *network;
	double diameter; /* NAN if the graph is too large to find it */
	bool is[CLAIM_GRAPHS];
	uint32_t asked_min, asked_max; /* k, K; 0 if no claim about the algorithm asks */
};

void claim_facts_make(const struct setup *setup, struct claim_facts *ret_facts);

/* Does the claim speak of that algorithm and parameter (NULL: the defaults)? */
bool claim_concerns(const struct paper_claim *claim, const struct algorithm *algorithm,
                    const char *parameter);

/* What is claimed for that network; NAN if the claim says nothing about it. */
double claim_value(const struct paper_claim *claim, const struct claim_facts *facts);

#endif
