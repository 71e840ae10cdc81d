/*
 * Maekawa's algorithm, with Sanders' correction.
 *
 * Mamoru Maekawa, "A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems", ACM
 * Transactions on Computer Systems 3(2), May 1985, pages 145-159. Beverly A. Sanders, "The
 * Information Structure of Distributed Mutual Exclusion Algorithms", ACM Transactions on Computer
 * Systems 5(3), August 1987, pages 284-299. Both as described by Mitchell L. Neilsen, "A DAG-Based
 * Algorithm for Distributed Mutual Exclusion", thesis, Kansas State University, 1989, section 2.6.
 *
 * A node that wants to enter asks only its committee. Any two committees have a node in common, and
 * a node locks itself for one request at a time. So two requests never get the locks of their whole
 * committees at the same time. If a node is locked for a request and an earlier request arrives, it
 * inquires (INQUIRE). The node that has the lock gives it back (RELINQUISH) if it cannot enter
 * anyway because another member has refused it (FAIL).
 *
 * Network: every pair of nodes is linked, no loss, and what a node sends to another arrives in
 * order.
 *
 * Departures. A new request gets a FAIL if the locking request *or one in the queue* precedes it,
 * as in Maekawa's paper: Neilsen's wording compares it with the locking request only, and
 * deadlocks. A request in the queue that the new one precedes also gets a FAIL, if it has had none,
 * as Sanders suggests. Maekawa sends FAIL only when a request arrives, and deadlocks. `--param
 * text=…` brings either rule back. INQUIRE names the request that it is about. A node that is
 * inside, or has left since, ignores it. A node inquires only once for each lock. A request that
 * was relinquished needs no FAIL, because its node knows. 2.6 does not say which of two requests
 * with equal numbers comes first: here that of the lower node. Nor does it say how a number is
 * chosen: here it is one more than the greatest number that the node has used or received.
 */
#include "maekawa_committees.h"
#include "network.h"

#include <string.h>

enum { REQUEST, LOCKED, FAIL, INQUIRE, RELINQUISH, RELEASE, MESSAGES_COUNT };

enum { PARAMETER_OF_TEXT, PARAMETER_OF_COMMITTEES };
enum { TEXT_LOCKING_REQUEST_ONLY = 1, TEXT_FAIL_AT_ARRIVAL_ONLY = 2 };

struct request {
	uint64_t number;
	uint32_t node; /* the node that asks; 0: no request */
	/* For a request in the queue: its node has received a FAIL, or has relinquished. */
	uint8_t failed;
	uint8_t padding[3];
};

/* The vote of a member of the committee, as its last message gave it. A node keeps one for each
 * member while it waits or is inside. */
enum vote {
	VOTE_NONE,
	VOTE_LOCKED,
	VOTE_INQUIRED, /* LOCKED and then INQUIRE have come, and the answer is deferred */
	VOTE_FAILED,   /* FAIL has come, or RELINQUISH was sent, and no LOCKED since */
};

struct state {
	uint64_t highest; /* the largest number that this node has used or received */
	/* The number of this node's own request; 0: it neither waits nor is inside. */
	uint64_t number;

	struct request locking; /* the request that this node is locked for */
	uint8_t inquired;       /* INQUIRE was sent about the locking request */
	uint8_t padding[3];
	uint32_t queue_count;
	/* queue[clients], the first in line first; followed by votes[members]. */
	struct request queue[];
};

/* S_I, the committee of this node, including itself: the nodes that it asks. */
static struct nodes committee(const struct site *site)
{
	return committees_members(site->shared, site->nodes, site->self);
}

/* The nodes that have this one in their committees: the nodes that ask it. */
static struct nodes clients(const struct site *site)
{
	return committees_clients(site->shared, site->nodes, site->self);
}

/* The votes of the members, in the order of the committee. */
static uint8_t *votes(const struct site *site, struct state *node)
{
	return (uint8_t *)(node->queue + clients(site).count);
}

static const uint8_t *votes_seen(const struct site *site, const struct state *node)
{
	return (const uint8_t *)(node->queue + clients(site).count);
}

static size_t state_size(const struct site *site)
{
	size_t votes_size = ((size_t)committee(site).count + 7) / 8 * 8;
	return sizeof(struct state) + clients(site).count * sizeof(struct request) + votes_size;
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

static bool has_vote(const struct site *site, const struct state *node, enum vote vote)
{
	const uint8_t *all = votes_seen(site, node);

	for (uint32_t k = 0; k < committee(site).count; k++) {
		if (all[k] == vote)
			return true;
	}
	return false;
}

/* A node is inside when all members are locked for it. */
static bool is_inside(const struct site *site, const struct state *node)
{
	return node->number != 0 && !has_vote(site, node, VOTE_NONE) &&
	       !has_vote(site, node, VOTE_FAILED);
}

static bool precedes(const struct request *a, const struct request *b)
{
	return a->number < b->number || (a->number == b->number && a->node < b->node);
}

static void act(const struct site *site, struct state *node, uint8_t type, uint32_t from,
                uint64_t number, struct out *out);

/*
 * Sends a message; `number` is that of the request which a REQUEST or an INQUIRE is about.
 *
 * A message of the node to itself is handled at once. That keeps order, because no such message is
 * ever on its way. The handler may be called from within another handler. That is safe: REQUEST,
 * RELINQUISH and RELEASE change the part of the state that belongs to a member of committees, while
 * LOCKED, FAIL and INQUIRE change the part of a node that asks. Only one chain comes back to where
 * it began: REQUEST, INQUIRE, RELINQUISH. There INQUIRE is the last thing that on_request does.
 * (FAIL does not lead back: its request is in the queue, and has no lock to give back.)
 */
static void tell(const struct site *site, struct state *node, uint32_t to, uint8_t type,
                 uint64_t number, struct out *out)
{
	if (to == site->self) {
		act(site, node, type, site->self, number, out);
		return;
	}
	out_message(out, type);
	if (type != RELINQUISH && type != RELEASE)
		out_uint(out, site->self);
	if (type == REQUEST || type == INQUIRE)
		out_uint(out, number);
	out_send(out, to);
}

/* Sends a message to the whole committee; the node "pretends to have received the message
 * itself". */
static void tell_committee(const struct site *site, struct state *node, uint8_t type,
                           uint64_t number, struct out *out)
{
	struct nodes members = committee(site);

	for (uint32_t k = 0; k < members.count; k++) {
		if (members.list[k] != site->self)
			tell(site, node, members.list[k], type, number, out);
	}
	tell(site, node, site->self, type, number, out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->number = ++node->highest;
	tell_committee(site, node, REQUEST, node->number, out);
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->number = 0;
	memset(votes(site, node), VOTE_NONE, committee(site).count);
	tell_committee(site, node, RELEASE, 0, out);
}

/* Puts a request into the queue and returns its place there. */
static uint32_t enqueue(struct state *node, const struct request *new)
{
	uint32_t place = 0;

	while (place < node->queue_count && precedes(&node->queue[place], new))
		place++;
	memmove(node->queue + place + 1, node->queue + place,
	        (node->queue_count - place) * sizeof(*node->queue));
	node->queue[place] = *new;
	node->queue_count++;
	return place;
}

static void lock(const struct site *site, struct state *node, const struct request *request,
                 struct out *out)
{
	node->locking = (struct request){.number = request->number, .node = request->node};
	node->inquired = false;
	tell(site, node, node->locking.node, LOCKED, 0, out);
}

/* "Locks itself for the request with the lowest sequence number in its queue." */
static void lock_next(const struct site *site, struct state *node, struct out *out)
{
	struct request head = node->queue[0];

	if (node->queue_count == 0) {
		node->locking = (struct request){.node = 0};
		node->inquired = false;
		return;
	}
	node->queue_count--;
	memmove(node->queue, node->queue + 1, node->queue_count * sizeof(*node->queue));
	node->queue[node->queue_count] = (struct request){.node = 0};
	lock(site, node, &head, out);
}

static void on_request(const struct site *site, struct state *node, uint32_t j, uint64_t number,
                       struct out *out)
{
	struct request new = {.number = number, .node = j};
	uint64_t text = site->parameters[PARAMETER_OF_TEXT];

	if (number > node->highest)
		node->highest = number;
	if (node->locking.node == 0) {
		lock(site, node, &new, out);
		return;
	}
	uint32_t place = enqueue(node, &new);
	new.failed = precedes(&node->locking, &new);
	/* Neilsen 2.6 compares with the locking request only: "the sequence number of the
	 * request currently locked is smaller". */
	if (place > 0 && !(text & TEXT_LOCKING_REQUEST_ONLY))
		new.failed = true;
	node->queue[place].failed = new.failed;
	if (new.failed)
		tell(site, node, j, FAIL, 0, out);
	/*
	 * Sanders: "to any node with a request in its queue with a larger sequence number, if one
	 * has not already been sent". Maekawa's paper of 1985 has no such rule.
	 */
	for (uint32_t k = place + 1; k < node->queue_count; k++) {
		if (node->queue[k].failed || (text & TEXT_FAIL_AT_ARRIVAL_ONLY))
			continue;
		node->queue[k].failed = true;
		tell(site, node, node->queue[k].node, FAIL, 0, out);
	}
	if (!new.failed && !node->inquired) {
		node->inquired = true;
		tell(site, node, node->locking.node, INQUIRE, node->locking.number, out);
	}
}

static void on_locked(const struct site *site, struct state *node, uint32_t i, struct out *out)
{
	votes(site, node)[nodes_place(committee(site), i)] = VOTE_LOCKED;
	if (!is_inside(site, node))
		return;
	/* Members that have inquired get no answer now. The RELEASE will be their answer. */
	memset(votes(site, node), VOTE_LOCKED, committee(site).count);
	out_enter(out);
}

/* Gives the lock back to the k-th member. */
static void relinquish(const struct site *site, struct state *node, uint32_t k, struct out *out)
{
	votes(site, node)[k] = VOTE_FAILED;
	tell(site, node, committee(site).list[k], RELINQUISH, 0, out);
}

static void on_fail(const struct site *site, struct state *node, uint32_t i, struct out *out)
{
	votes(site, node)[nodes_place(committee(site), i)] = VOTE_FAILED;
	for (uint32_t k = 0; k < committee(site).count; k++) {
		if (votes(site, node)[k] == VOTE_INQUIRED)
			relinquish(site, node, k, out);
	}
}

static void on_inquire(const struct site *site, struct state *node, uint32_t i, uint64_t number,
                       struct out *out)
{
	uint32_t k = nodes_place(committee(site), i);

	if (number != node->number || is_inside(site, node))
		return; /* the RELEASE is on its way or will be sent later */
	if (has_vote(site, node, VOTE_FAILED))
		relinquish(site, node, k, out);
	else
		votes(site, node)[k] = VOTE_INQUIRED;
}

static void on_relinquish(const struct site *site, struct state *node, struct out *out)
{
	node->locking.failed = true;
	enqueue(node, &node->locking);
	lock_next(site, node, out);
}

static void on_release(const struct site *site, struct state *node, struct out *out)
{
	lock_next(site, node, out);
}

static void act(const struct site *site, struct state *node, uint8_t type, uint32_t from,
                uint64_t number, struct out *out)
{
	switch (type) {
	case REQUEST:
		on_request(site, node, from, number, out);
		break;
	case LOCKED:
		on_locked(site, node, from, out);
		break;
	case FAIL:
		on_fail(site, node, from, out);
		break;
	case INQUIRE:
		on_inquire(site, node, from, number, out);
		break;
	case RELINQUISH:
		on_relinquish(site, node, out);
		break;
	default:
		on_release(site, node, out);
	}
}

/* Can node j have sent a REQUEST? It has only one request at a time. */
static bool may_ask(const struct site *site, const struct state *node, uint32_t j)
{
	if (!nodes_have(clients(site), j) || node->locking.node == j)
		return false;
	for (uint32_t k = 0; k < node->queue_count; k++) {
		if (node->queue[k].node == j)
			return false;
	}
	return true;
}

/* Can member i of the committee have sent this message in the current state? */
static bool may_answer(const struct site *site, const struct state *node, uint8_t type, uint32_t i,
                       uint64_t number)
{
	if (!nodes_have(committee(site), i))
		return false;
	if (type == INQUIRE && number != node->number)
		return number <= node->highest;
	if (node->number == 0)
		return false;
	uint8_t vote = votes_seen(site, node)[nodes_place(committee(site), i)];
	switch (type) {
	case LOCKED:
		return vote == VOTE_NONE || vote == VOTE_FAILED;
	case FAIL:
		return vote == VOTE_NONE;
	default:
		return vote == VOTE_LOCKED;
	}
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint32_t from = 0;
	uint64_t number = 0;
	bool possible = false;

	if (type < RELINQUISH)
		from = (uint32_t)in_range(&in, 1, site->nodes);
	if (type == REQUEST || type == INQUIRE)
		number = in_range(&in, 1, UINT64_MAX - 1);
	if (!in_end(&in) || from == site->self)
		return BATON_EMESSAGE;
	switch (type) {
	case REQUEST:
		possible = may_ask(site, node, from);
		break;
	case LOCKED:
	case FAIL:
	case INQUIRE:
		possible = may_answer(site, node, type, from, number);
		break;
	case RELINQUISH:
		possible = node->locking.node != 0 && node->locking.node != site->self &&
		           node->inquired;
		break;
	case RELEASE:
		possible = node->locking.node != 0 && node->locking.node != site->self;
		break;
	default:
		break;
	}
	if (!possible)
		return BATON_EMESSAGE;
	act(site, node, type, from, number, out);
	return 0;
}

/* Writes the members whose vote is `vote` or `other`. */
static void write_voters(const struct site *site, const struct state *node, struct writer *writer,
                         const char *key, enum vote vote, enum vote other)
{
	const uint8_t *all = votes_seen(site, node);
	struct nodes members = committee(site);

	writer_key(writer, key);
	writer_open(writer, '[');
	for (uint32_t k = 0; k < members.count; k++) {
		if (all[k] == vote || all[k] == other)
			writer_uint(writer, members.list[k]);
	}
	writer_close(writer, ']');
}

static void write_request(struct writer *writer, const struct request *request)
{
	writer_open(writer, '[');
	writer_uint(writer, request->node);
	writer_uint(writer, request->number);
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "highest");
	writer_uint(writer, node->highest);
	writer_key(writer, "number");
	writer_uint(writer, node->number);
	write_voters(site, node, writer, "locked_by", VOTE_LOCKED, VOTE_INQUIRED);
	write_voters(site, node, writer, "failed_by", VOTE_FAILED, VOTE_FAILED);
	write_voters(site, node, writer, "inquired_by", VOTE_INQUIRED, VOTE_INQUIRED);
	writer_key(writer, "locked_for");
	if (node->locking.node != 0)
		write_request(writer, &node->locking);
	else
		writer_null(writer);
	writer_key(writer, "inquired");
	writer_bool(writer, node->inquired);
	writer_key(writer, "queue");
	writer_open(writer, '[');
	for (uint32_t k = 0; k < node->queue_count; k++)
		write_request(writer, &node->queue[k]);
	writer_close(writer, ']');
	writer_key(writer, "failed");
	writer_open(writer, '[');
	for (uint32_t k = 0; k < node->queue_count; k++) {
		if (node->queue[k].failed)
			writer_uint(writer, node->queue[k].node);
	}
	writer_close(writer, ']');
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	if (in.next == in.end)
		return;
	writer_open(writer, '(');
	while (in.next < in.end)
		writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);
	return message->body[0] == REQUEST ? (uint32_t)in_uint(&in) : 0;
}

/* The queue is sorted, and it is empty if the node is not locked. */
static bool queue_is_ordered(const struct site *site, const void *state)
{
	const struct state *node = state;

	(void)site;
	for (uint32_t k = 1; k < node->queue_count; k++) {
		if (!precedes(&node->queue[k - 1], &node->queue[k]))
			return false;
	}
	return node->queue_count == 0 || node->locking.node != 0;
}

/* The next number is larger than all that the node knows of, so that every request is served in
 * the end. */
static bool highest_is_the_highest(const struct site *site, const void *state)
{
	const struct state *node = state;

	(void)site;
	for (uint32_t k = 0; k < node->queue_count; k++) {
		if (node->queue[k].number > node->highest)
			return false;
	}
	return node->number <= node->highest && node->locking.number <= node->highest;
}

/*
 * Every node with a request in the queue has been sent FAIL, except perhaps the first: if its
 * request precedes the locking request, INQUIRE was sent to the node of the locking request
 * instead. The mended rule makes sure of this. (The printed variants break it.)
 */
static bool is_mended(const struct network *network)
{
	return network->parameters[PARAMETER_OF_TEXT] == 0;
}

static bool only_the_first_has_no_fail(const struct site *site, const void *state)
{
	const struct state *node = state;

	(void)site;
	for (uint32_t k = 0; k < node->queue_count; k++) {
		bool first = k == 0 && precedes(&node->queue[0], &node->locking) && node->inquired;
		if (!node->queue[k].failed && !first)
			return false;
	}
	return true;
}

/* If node j has LOCKED from node i, node i is locked for j's request. So no two nodes have i's
 * lock at the same time. */
static bool a_vote_is_a_lock(const struct snapshot *snapshot)
{
	for (uint32_t j = 1; j <= snapshot->network->graph.nodes; j++) {
		struct site site = network_site(snapshot->network, j);
		const struct state *node = snapshot->states[j - 1];
		const uint8_t *all = votes_seen(&site, node);
		for (uint32_t k = 0; k < committee(&site).count; k++) {
			const struct state *member = snapshot->states[committee(&site).list[k] - 1];
			if (all[k] != VOTE_LOCKED && all[k] != VOTE_INQUIRED)
				continue;
			if (member->locking.node != j || member->locking.number != node->number)
				return false;
		}
	}
	return true;
}

/* Returns the kind of committees that the parameter asks for. */
static enum committees_kind committees_wanted(const struct network *network)
{
	uint64_t kind = network->parameters[PARAMETER_OF_COMMITTEES];
	return kind == PARAMETER_TEXT ? COMMITTEES_GIVEN : (enum committees_kind)kind;
}

static size_t shared_size(const struct network *network)
{
	return committees_size(network->graph.nodes, committees_wanted(network),
	                       network->texts[PARAMETER_OF_COMMITTEES]);
}

static const char *prepare(const struct network *network, void *shared)
{
	return committees_make(network->graph.nodes, committees_wanted(network),
	                       network->texts[PARAMETER_OF_COMMITTEES], shared);
}

static const struct parameter_choice texts[] = {
        {"mended", 0},
        {"printed", TEXT_LOCKING_REQUEST_ONLY},
        {"printed:neilsen", TEXT_LOCKING_REQUEST_ONLY},
        {"printed:maekawa", TEXT_FAIL_AT_ARRIVAL_ONLY},
        {NULL, 0},
};

static const struct parameter_choice kinds_of_committees[] = {
        {"auto", COMMITTEES_AUTO},
        {"plane", COMMITTEES_PLANE},
        {"grid", COMMITTEES_GRID},
        {"cyclic", COMMITTEES_CYCLIC},
        {NULL, 0},
};

static const struct parameter parameters[] = {
        [PARAMETER_OF_TEXT] =
                {
                        .name = "text",
                        .help = "printed, printed:neilsen: a new request is compared with the "
                                "locking one only; printed:maekawa: FAIL is sent only when a "
                                "request arrives",
                        .choices = texts,
                },
        [PARAMETER_OF_COMMITTEES] =
                {
                        .name = "committees",
                        .help = "auto: the smallest of a plane (if there is one), a grid and a "
                                "cyclic difference cover; or the committees of nodes 1, 2 and 3 as "
                                "1.2/2.3/3.1",
                        .choices = kinds_of_committees,
                        .takes_text = true,
                },
        {.name = NULL},
};

const struct algorithm maekawa = {
        .name = "maekawa",
        .title = "Maekawa and Sanders: ask a committee; any two committees share a node",
        .year = 1985,
        .source = SOURCE_ACCOUNT,
        .rules = "Neilsen 2.6",
        .nodes_checked = 4,
        .nodes_checked_twice = 3,
        .grows = "sequence numbers",
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .needs_fifo = true,
        .claim_messages = "3(K-1) to 7(K-1)",
        .claim_delay = "2",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [LOCKED] = {.name = "LOCKED", .role = ROLE_PERMITS},
                        [FAIL] = {.name = "FAIL", .role = ROLE_REFUSES},
                        [INQUIRE] = {.name = "INQUIRE", .role = ROLE_REFUSES},
                        [RELINQUISH] = {.name = "RELINQUISH", .role = ROLE_REFUSES},
                        [RELEASE] = {.name = "RELEASE", .role = ROLE_GIVES_BACK},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"highest", VARIABLE_PLAIN},
                        {"number", VARIABLE_PLAIN},
                        {"locked_by", VARIABLE_QUEUE},
                        {"failed_by", VARIABLE_QUEUE},
                        {"inquired_by", VARIABLE_QUEUE},
                        {"locked_for", VARIABLE_NODE},
                        {"inquired", VARIABLE_PLAIN},
                        {"queue", VARIABLE_QUEUE},
                        {"failed", VARIABLE_QUEUE},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters = parameters,
        .invariants =
                (const struct invariant[]){
                        {.name = "queue_is_ordered",
                         .meaning = "a member's queue is in the order of the requests, and is "
                                    "empty if the member has not given its vote",
                         .local = queue_is_ordered},
                        {.name = "highest_is_the_highest",
                         .meaning = "a node's highest number is no less than any number that it "
                                    "has seen",
                         .local = highest_is_the_highest},
                        {.name = "only_the_first_has_no_fail",
                         .meaning = "every request in a member's queue has got FAIL, except one at "
                                    "the head for which the member has sent INQUIRE",
                         .applies = is_mended,
                         .local = only_the_first_has_no_fail},
                        {.name = "a_vote_is_a_lock",
                         .meaning =
                                 "a member whose vote a node has is locked for that node's request",
                         .global = a_vote_is_a_lock},
                        {.name = NULL},
                },
        .shared_size = shared_size,
        .prepare = prepare,
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .describe = describe,
        .show = show,
        .origin = origin,
};
