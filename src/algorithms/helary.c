/*
 * Hélary, Plouzeau and Raynal's algorithm for an arbitrary network.
 *
 * Jean-Michel Hélary, Noël Plouzeau and Michel Raynal, "A distributed algorithm for mutual
 * exclusion in an arbitrary network", INRIA, Rapport de recherche 496, March 1986; section 4.
 *
 * A request floods the network. Each copy carries the names of the nodes that have received the
 * request or are about to, and is not sent to them again. A node remembers from which neighbour a
 * request came, and the token goes back along these marks. The token carries, in lud, each node's
 * clock at the time when it last gave the token away. A request has been served if its time is not
 * greater than its origin's clock in lud.
 *
 * Network: connected, no loss, any order. A node knows the names of its neighbours and nothing else
 * about the graph. It uses the number of nodes only as a bound on the names, for the size of its
 * arrays.
 *
 * Departures. min(X) takes the couple with the smallest time, and among equal times the one with
 * the smallest origin. The printed text compares the origin first, so that nodes with small
 * names that ask again and again are always chosen before the others. A request is new if it is
 * younger than all that were ever received from its origin, as the comment in the paper's
 * procedure receive_request says. The printed test looks only at req_array, so that a copy that
 * arrives after the token has passed counts as a new request and is flooded again. --param
 * text=printed:min and text=printed:seen bring the printed rules back. The lists of req_array
 * are sorted by origin, because nothing depends on the order of arrival. lud is empty at nodes
 * without the token. The token carries each element of lud that is not -1, with its name. So a
 * node that never gave the token away takes no room.
 *
 * The paper says that a running network can be reconfigured by updating the neighbours. That is
 * not enough; see `linked`. --param text=printed:rewire does only that.
 *
 * `--param broadcast=flood` leaves out the control part, to show how much it saves: a process
 * passes a request on to all its neighbours except the one that it came from ("i)" of section 3,
 * before "i')" improves it). The set that a message carries is then only its sender.
 */
#include "algorithm.h"
#include "network.h"

enum { REQ, TOKEN, MESSAGES_COUNT };

enum { PARAM_TEXT, PARAM_BROADCAST };
enum { BROADCAST_CONTROLLED, BROADCAST_FLOOD };
enum { TEXT_MENDED = 0, PRINTED_MIN = 1, PRINTED_SEEN = 2, PRINTED_REWIRE = 4 };

/* No clock gets this far in practice. A clock that is set to this value can still be
 * incremented. */
#define TIME_MAX (INT64_MAX / 2)

/* P_i's knowledge of one process. Each process has at most one couple in all of req_array (Lemma
 * 2). */
struct process {
	/* The time of the youngest request ever received from that process; -1: none. For this
	 * process itself: the time of its request that is not satisfied yet; -1: none. */
	int64_t youngest;
	/* In the token: the process' clock when it last gave the token away; -1: never. */
	int64_t lud;
	uint32_t via; /* (this process, youngest) is in req_array[via]; 0: in no list */
	uint32_t padding;
};

struct state {
	uint64_t C;         /* the logical clock */
	uint8_t token_here; /* this node has the token */
	uint8_t in_CS;      /* this node is in its critical section */
	/* This node is at "wait in_CS" of enter_CS; stands for the program counter. */
	uint8_t waits;
	uint8_t padding[5];
	struct process process[]; /* [name - 1] */
};

/*
 * A set of names in increasing order, read from a message one by one. In the message each name is
 * written as its distance from the one before. A set of one name needs no message.
 */
struct names {
	uint32_t name; /* the first name of the set; 0: the set is empty */
	uint32_t more; /* how many names follow the first */
	struct in in;
};

/* The copy of a request: req((req_origin, req_time), (sender, already_seen)). */
struct req {
	uint32_t req_origin;
	uint64_t req_time;
	uint32_t sender;
	struct names already_seen;
};

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + site->nodes * sizeof(struct process);
}

static void init(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	(void)out;
	node->token_here = site->self == site->holder;
	for (uint32_t j = 0; j < site->nodes; j++) {
		node->process[j].youngest = -1;
		node->process[j].lud = node->token_here ? -1 : 0;
	}
}

/* Removes the first name. */
static void names_next(struct names *names)
{
	if (names->more > 0) {
		names->more--;
		names->name += (uint32_t)in_uint(&names->in);
	} else {
		names->name = 0;
	}
}

/* Returns the next name in neighbours - already_seen, or 0. *k is the index of the neighbour to
 * continue with. */
static uint32_t next_unseen(const struct site *site, uint32_t *k, struct names *already_seen)
{
	while (*k < site->neighbours_count) {
		uint32_t neighbour = site_neighbour(site, (*k)++);
		while (already_seen->name != 0 && already_seen->name < neighbour)
			names_next(already_seen);
		if (already_seen->name != neighbour)
			return neighbour;
	}
	return 0;
}

/* Writes the next name of a set. */
static void put_name(struct out *out, uint32_t *last, uint32_t name)
{
	out_uint(out, name - *last);
	*last = name;
}

/* Writes already_seen U neighbours, which has `unseen_count` more names than already_seen. If
 * `unseen_count` is 0, writes already_seen alone. */
static void put_union(const struct site *site, struct names already_seen, uint32_t unseen_count,
                      struct out *out)
{
	struct names scan = already_seen;
	uint32_t k = 0, last = 0;
	uint32_t unseen = unseen_count > 0 ? next_unseen(site, &k, &scan) : 0;

	out_uint(out, 1 + already_seen.more + unseen_count);
	while (already_seen.name != 0 || unseen != 0) {
		if (unseen == 0 || (already_seen.name != 0 && already_seen.name < unseen)) {
			put_name(out, &last, already_seen.name);
			names_next(&already_seen);
		} else {
			put_name(out, &last, unseen);
			unseen = next_unseen(site, &k, &scan);
		}
	}
}

/* "For all k in neighbours - already_seen: send req(req_id, (i, already_seen U neighbours)) to
 * k." */
static void broadcast(const struct site *site, const struct req *req, struct out *out)
{
	struct names scan = req->already_seen;
	uint32_t unseen_count = 0, k = 0, unseen;

	while (next_unseen(site, &k, &scan) != 0)
		unseen_count++;
	if (unseen_count == 0)
		return;
	out_message(out, REQ);
	out_uint(out, req->req_origin);
	out_uint(out, req->req_time);
	out_uint(out, site->self);
	if (site->parameters[PARAM_BROADCAST] == BROADCAST_FLOOD)
		put_union(site, (struct names){.name = site->self}, 0, out);
	else
		put_union(site, req->already_seen, unseen_count, out);
	scan = req->already_seen;
	k = 0;
	while ((unseen = next_unseen(site, &k, &scan)) != 0)
		out_send(out, unseen);
}

/* The paper's procedure enter_CS. */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	if (node->token_here) {
		node->in_CS = true;
		out_enter(out);
		return;
	}
	node->waits = true;
	node->process[site->self - 1].youngest = (int64_t)node->C;
	/* The request goes to all neighbours, with the set neighbours U {i}. */
	struct req req = {
	        .req_origin = site->self,
	        .req_time = node->C,
	        .already_seen = {.name = site->self},
	};
	broadcast(site, &req, out);
}

/* Sends TOKEN(lud, elec) to a neighbour, with those elements of lud that are not -1. */
static void send_token(const struct site *site, struct state *node, uint32_t elec, uint32_t to,
                       struct out *out)
{
	uint32_t known_count = 0, last = 0;

	for (uint32_t j = 0; j < site->nodes; j++)
		known_count += node->process[j].lud != -1;
	out_message(out, TOKEN);
	out_uint(out, known_count);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		int64_t *lud = &node->process[j - 1].lud;
		if (*lud != -1) {
			put_name(out, &last, j);
			out_uint(out, (uint64_t)*lud);
		}
		*lud = 0;
	}
	out_uint(out, elec);
	out_send(out, to);
	node->token_here = false;
}

/* Removes (origin, x) from req_array and returns the neighbour in whose list it was. */
static uint32_t delete_request(const struct site *site, struct state *node, uint32_t origin)
{
	struct process *process = &node->process[origin - 1];
	uint32_t via = process->via;

	process->via = 0;
	/*
	 * Printed: "(req_origin, req_time) not in req_array and not (exists (req_origin, x) such
	 * that x > req_time)" is a new request. So a deleted request counts as never received.
	 */
	if (site->parameters[PARAM_TEXT] & PRINTED_SEEN)
		process->youngest = -1;
	return via;
}

/* Returns the origin of min(X), where X is {(orig, t) in req_array with lud[orig] < t}; 0 if X
 * is empty. */
static uint32_t find_min(const struct site *site, const struct state *node)
{
	uint32_t elec = 0;

	for (uint32_t j = 1; j <= site->nodes; j++) {
		const struct process *process = &node->process[j - 1];
		if (process->via == 0 || process->lud >= process->youngest)
			continue;
		/*
		 * Printed: (y, z) with "(y < y') or (y = y' and z < z')" for all (y', z'), where y
		 * is the origin. So the first couple that is found is the minimum.
		 */
		if (site->parameters[PARAM_TEXT] & PRINTED_MIN)
			return j;
		if (elec == 0 || process->youngest < node->process[elec - 1].youngest)
			elec = j;
	}
	return elec;
}

static void transmit_token(const struct site *site, struct state *node, struct out *out)
{
	uint32_t elec = find_min(site, node);

	if (elec == 0)
		return;
	uint32_t via = delete_request(site, node, elec);
	node->process[site->self - 1].lud = (int64_t)node->C;
	node->C++; /* line (A) of the proof */
	send_token(site, node, elec, via, out);
}

/* The paper's procedure exit_CS. */
static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->in_CS = false;
	transmit_token(site, node, out);
}

/* The paper's procedure receive_request. A new request replaces an older one of the same origin. */
static void on_req(const struct site *site, struct state *node, const struct req *req,
                   struct out *out)
{
	struct process *process = &node->process[req->req_origin - 1];

	/* A request comes back to its origin only with broadcast=flood. */
	if ((int64_t)req->req_time <= process->youngest || req->req_origin == site->self)
		return;
	node->C = (node->C > req->req_time ? node->C : req->req_time) + 1;
	process->youngest = (int64_t)req->req_time;
	process->via = req->sender;
	broadcast(site, req, out);
	if (node->token_here && !node->in_CS)
		transmit_token(site, node, out);
}

/* The paper's procedure receive_token. */
static void on_token(const struct site *site, struct state *node, uint32_t elec, struct out *out)
{
	node->token_here = true;
	if (elec == site->self) {
		node->waits = false;
		node->process[site->self - 1].youngest = -1;
		node->in_CS = true;
		out_enter(out);
	} else {
		/* The token is following the path that the corresponding request established. */
		uint32_t via = delete_request(site, node, elec);
		send_token(site, node, elec, via, out);
	}
}

/* Sends a copy of a request to one neighbour, with the names of those that are sure to have it. */
static void send_copy(const struct site *site, uint32_t origin, int64_t time, uint32_t to,
                      struct out *out)
{
	uint32_t self = site->self, last = 0;

	out_message(out, REQ);
	out_uint(out, origin);
	out_uint(out, (uint64_t)time);
	out_uint(out, self);
	if (site->parameters[PARAM_BROADCAST] == BROADCAST_FLOOD) {
		put_union(site, (struct names){.name = self}, 0, out);
	} else {
		out_uint(out, 2 + (uint32_t)(origin != self));
		for (uint32_t name = 1; name <= site->nodes; name++) {
			if (name == origin || name == self || name == to)
				put_name(out, &last, name);
		}
	}
	out_send(out, to);
}

/*
 * "The algorithm allows the network to be reconfigured. Only the neighbours set of every process
 * has to be updated" (7). That is not enough: the new neighbour may have counted on a copy that
 * would have come over a link that is gone. So each end of a new link sends all requests that it
 * knows, its own among them, except those that it knows to be satisfied.
 */
static void linked(const struct site *site, void *state, uint32_t neighbour, struct out *out)
{
	const struct state *node = state;

	if (site->parameters[PARAM_TEXT] & PRINTED_REWIRE)
		return;
	for (uint32_t j = 1; j <= site->nodes; j++) {
		const struct process *process = &node->process[j - 1];
		if (j != neighbour && (j == site->self ? node->waits : process->via != 0))
			send_copy(site, j, process->youngest, neighbour, out);
	}
}

/* May the token have to go to this neighbour? Then the link to it is needed. */
static bool needs_link(const struct site *site, const void *state, uint32_t neighbour)
{
	const struct state *node = state;

	for (uint32_t j = 0; j < site->nodes; j++) {
		if (node->process[j].via == neighbour)
			return true;
	}
	return false;
}

static bool is_neighbour(const struct site *site, uint32_t name)
{
	for (uint32_t k = 0; k < site->neighbours_count; k++) {
		if (site_neighbour(site, k) == name)
			return true;
	}
	return false;
}

/*
 * Reads and checks a request. Sender, origin and receiver are in already_seen (5.2, "Property"),
 * and the sender is a neighbour of the receiver.
 */
static bool read_req(const struct site *site, struct in *in, struct req *ret_req)
{
	uint32_t involved = 0;
	struct req req;

	req.req_origin = (uint32_t)in_range(in, 1, site->nodes);
	req.req_time = in_range(in, 0, TIME_MAX);
	req.sender = (uint32_t)in_range(in, 1, site->nodes);
	uint32_t count = (uint32_t)in_range(in, 1, site->nodes);
	uint32_t name = (uint32_t)in_range(in, 1, site->nodes);
	req.already_seen = (struct names){.name = name, .more = count - 1, .in = *in};
	for (; !in->bad; count--) {
		involved += name == req.req_origin || name == req.sender || name == site->self;
		if (count == 1)
			break;
		name += (uint32_t)in_range(in, 1, site->nodes - name);
	}
	*ret_req = req;
	if (!in_end(in) || !is_neighbour(site, req.sender))
		return false;
	if (site->parameters[PARAM_BROADCAST] == BROADCAST_FLOOD)
		return req.already_seen.name == req.sender && req.already_seen.more == 0;
	return req.req_origin != site->self &&
	       involved == 2 + (uint32_t)(req.sender != req.req_origin);
}

/* Reads TOKEN(lud, elec), and stores lud if `node` is not NULL. */
static bool read_token(const struct site *site, struct in *in, struct state *node,
                       uint32_t *ret_elec)
{
	uint32_t name = 0;

	for (uint32_t j = 0; node != NULL && j < site->nodes; j++)
		node->process[j].lud = -1;
	for (uint64_t count = in_range(in, 0, site->nodes); count > 0 && !in->bad; count--) {
		name += (uint32_t)in_range(in, 1, site->nodes - name);
		uint64_t lud = in_range(in, 0, TIME_MAX);
		if (node != NULL)
			node->process[name - 1].lud = (int64_t)lud;
	}
	*ret_elec = (uint32_t)in_range(in, 1, site->nodes);
	return in_end(in);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message), again = in;
	struct req req;
	uint32_t elec;

	switch (message->body[0]) {
	case REQ:
		if (!read_req(site, &in, &req))
			return BATON_EMESSAGE;
		on_req(site, node, &req, out);
		return 0;
	case TOKEN:
		if (!read_token(site, &in, NULL, &elec) || node->token_here)
			return BATON_EMESSAGE;
		/* The token goes to a node that waits for it, through nodes that have a mark for
		 * that node. */
		if (elec == site->self ? !node->waits : node->process[elec - 1].via == 0)
			return BATON_EMESSAGE;
		read_token(site, &again, node, &elec);
		on_token(site, node, elec, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->token_here;
}

/* Writes [[neighbour,[[origin,time],…]],…]. */
static void write_req_array(const struct site *site, const struct state *node,
                            struct writer *writer)
{
	writer_open(writer, '[');
	for (uint32_t k = 0; k < site->neighbours_count; k++) {
		writer_open(writer, '[');
		writer_uint(writer, site_neighbour(site, k));
		writer_open(writer, '[');
		for (uint32_t j = 1; j <= site->nodes; j++) {
			if (node->process[j - 1].via != site_neighbour(site, k))
				continue;
			writer_open(writer, '[');
			writer_uint(writer, j);
			writer_int(writer, node->process[j - 1].youngest);
			writer_close(writer, ']');
		}
		writer_close(writer, ']');
		writer_close(writer, ']');
	}
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "C");
	writer_uint(writer, node->C);
	writer_key(writer, "token_here");
	writer_bool(writer, node->token_here);
	writer_key(writer, "in_CS");
	writer_bool(writer, node->in_CS);
	writer_key(writer, "req_array");
	write_req_array(site, node, writer);
	writer_key(writer, "lud");
	if (!node->token_here) {
		writer_null(writer);
		return;
	}
	writer_open(writer, '[');
	for (uint32_t j = 0; j < site->nodes; j++)
		writer_int(writer, node->process[j].lud);
	writer_close(writer, ']');
}

/* Writes REQ((origin,time),(sender,[name,…])) or TOKEN([[name,lud],…],elec). */
static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);
	uint64_t name = 0;

	writer_open(writer, '(');
	if (message->body[0] == REQ) {
		writer_open(writer, '(');
		writer_uint(writer, in_uint(&in));
		writer_uint(writer, in_uint(&in));
		writer_close(writer, ')');
		writer_open(writer, '(');
		writer_uint(writer, in_uint(&in));
		writer_open(writer, '[');
		for (uint64_t count = in_uint(&in); count > 0; count--)
			writer_uint(writer, name += in_uint(&in));
		writer_close(writer, ']');
		writer_close(writer, ')');
	} else {
		writer_open(writer, '[');
		for (uint64_t count = in_uint(&in); count > 0; count--) {
			writer_open(writer, '[');
			writer_uint(writer, name += in_uint(&in));
			writer_uint(writer, in_uint(&in));
			writer_close(writer, ']');
		}
		writer_close(writer, ']');
		writer_uint(writer, in_uint(&in));
	}
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);
	return message->body[0] == REQ ? (uint32_t)in_uint(&in) : 0;
}

/* "req_array: array[neighbours] of list": all marks are neighbours, so that the token goes along
 * links. */
static bool lists_are_of_neighbours(const struct site *site, const void *state)
{
	const struct state *node = state;

	for (uint32_t j = 0; j < site->nodes; j++) {
		if (node->process[j].via != 0 && !is_neighbour(site, node->process[j].via))
			return false;
	}
	return true;
}

/* A node in its critical section has the token. */
static bool ME2(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return !node->in_CS || node->token_here;
}

/*
 * At most one node has the token, and no node has it while it is on its way. The proof needs both.
 * A lost token does not break this; the invariant one_token says that there is always one.
 */
static bool ME3(const struct snapshot *snapshot)
{
	size_t tokens = 0;

	for (uint32_t i = 0; i < snapshot->network->graph.nodes; i++)
		tokens += ((const struct state *)snapshot->states[i])->token_here;
	for (size_t k = 0; k < snapshot->flights_count; k++)
		tokens += snapshot->flights[k].message.body[0] == TOKEN;
	return tokens <= 1;
}

/* While the token is on its way, the marks lead it to elec, without a cycle. */
static bool lemma_2(const struct snapshot *snapshot)
{
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		struct site site = network_site(snapshot->network, flight->to);
		struct in in = in_message(&flight->message);
		uint32_t elec, at = flight->to, hops = 0;

		if (flight->message.body[0] != TOKEN)
			continue;
		read_token(&site, &in, NULL, &elec);
		while (at != elec) {
			const struct state *node = snapshot->states[at - 1];
			at = node->process[elec - 1].via;
			if (at == 0 || ++hops == site.nodes)
				return false;
		}
	}
	return true;
}

/* Returns where the request (i, rt) came to P_k from: a neighbour; P_k itself if it is the
 * origin; 0 if the mark is gone or belongs to a younger request. */
static uint32_t predecessor(const struct snapshot *snapshot, uint32_t k, uint32_t i, int64_t rt)
{
	const struct state *node = snapshot->states[k - 1];

	if (k == i)
		return k;
	return node->process[i - 1].youngest == rt ? node->process[i - 1].via : 0;
}

/* Is l on the path by which the request came to P_k, or a neighbour of a node on it? *ret_whole
 * tells whether the path can be traced back to its origin; if not, the token has passed since. */
static bool is_of_path(const struct snapshot *snapshot, const struct req *req, uint32_t l,
                       bool *ret_whole)
{
	int64_t rt = (int64_t)req->req_time;
	uint32_t k = req->sender, hops = 0;
	bool found = false;

	while (k != 0) {
		struct site site = network_site(snapshot->network, k);
		uint32_t before = predecessor(snapshot, k, req->req_origin, rt);
		found = found || k == l || is_neighbour(&site, l);
		*ret_whole = before == k;
		if (before == k || ++hops == site.nodes)
			break;
		k = before;
	}
	return found;
}

/* "If P_j receives a message req((i, rt_i), (k, already_seen)) then already_seen = z_a U z_e, where
 * z_a is the set of the names of the processes on the path followed by the request … from P_i to
 * P_k and z_e is the set of the names of the neighbours of every process in z_a." This does not
 * apply to a request that is flooded, which carries no such set. Nor does it apply with the printed
 * test, where a process forgets from where a request came once the token has deleted it. */
static bool has_already_seen(const struct network *network)
{
	return (network->parameters[PARAM_TEXT] & PRINTED_SEEN) == 0 &&
	       network->parameters[PARAM_BROADCAST] != BROADCAST_FLOOD;
}

static bool lemma_1(const struct snapshot *snapshot)
{
	const struct network *network = snapshot->network;

	for (size_t k = 0; k < snapshot->flights_count; k++) {
		struct site site = network_site(network, snapshot->flights[k].to);
		struct in in = in_message(&snapshot->flights[k].message);
		struct req req;
		bool whole = true;

		if (snapshot->flights[k].message.body[0] != REQ)
			continue;
		if (!read_req(&site, &in, &req))
			return false;
		for (uint32_t l = 1; l <= site.nodes && whole; l++) {
			bool seen = req.already_seen.name == l;
			if (is_of_path(snapshot, &req, l, &whole) != seen && whole)
				return false;
			if (seen)
				names_next(&req.already_seen);
		}
	}
	return true;
}

/* Finds lud[i] in the token, wherever that is. Returns false if there is no token. */
static bool find_lud(const struct snapshot *snapshot, uint32_t i, int64_t *ret_lud)
{
	for (uint32_t j = 0; j < snapshot->network->graph.nodes; j++) {
		const struct state *node = snapshot->states[j];
		*ret_lud = node->process[i - 1].lud;
		if (node->token_here)
			return true;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		struct in in = in_message(&snapshot->flights[k].message);
		uint64_t name = 0;
		if (snapshot->flights[k].message.body[0] != TOKEN)
			continue;
		*ret_lud = -1;
		for (uint64_t count = in_uint(&in); count > 0; count--) {
			name += in_uint(&in);
			int64_t lud = (int64_t)in_uint(&in);
			*ret_lud = name == i ? lud : *ret_lud;
		}
		return true;
	}
	return false;
}

/* Returns the time of the youngest request of P_i that any process knows of, or -1. */
static int64_t find_youngest(const struct snapshot *snapshot, uint32_t i)
{
	int64_t youngest = -1;

	for (uint32_t j = 0; j < snapshot->network->graph.nodes; j++) {
		const struct state *node = snapshot->states[j];
		int64_t rt = node->process[i - 1].youngest;
		youngest = rt > youngest ? rt : youngest;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		struct in in = in_message(&snapshot->flights[k].message);
		if (snapshot->flights[k].message.body[0] != REQ || in_uint(&in) != i)
			continue;
		int64_t rt = (int64_t)in_uint(&in);
		youngest = rt > youngest ? rt : youngest;
	}
	return youngest;
}

/* "If a request R(i, rt_i) sent by P_i is not satisfied we have lud[i] < rt_i." This does not apply
 * with the printed test, where a process forgets the time of a request that was deleted when the
 * token passed. */
static bool remembers_times(const struct network *network)
{
	return (network->parameters[PARAM_TEXT] & PRINTED_SEEN) == 0;
}

static bool lemma_3(const struct snapshot *snapshot)
{
	int64_t lud;

	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i - 1];
		if (node->waits && find_lud(snapshot, i, &lud) && lud >= find_youngest(snapshot, i))
			return false;
	}
	return true;
}

const struct algorithm helary = {
        .name = "helary",
        .title = "Hélary, Plouzeau and Raynal: any network, the token retraces the request",
        .year = 1986,
        .source = SOURCE_PAPER,
        .rules = "Hélary 4",
        .nodes_checked = 3,
        .nodes_checked_twice = 2,
        .grows = "clocks",
        .kind = KIND_MUTEX,
        .links = GRAPH_CONNECTED,
        .topology = "random:3",
        .has_token = true,
        .claim_messages = "0, N to 2E+N-1",
        .claim_delay = "1 to D",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQ] = {.name = "REQ", .role = ROLE_ASKS},
                        [TOKEN] = {.name = "TOKEN", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"C", VARIABLE_PLAIN},
                        {"token_here", VARIABLE_PLAIN},
                        {"in_CS", VARIABLE_PLAIN},
                        {"req_array", VARIABLE_PLAIN},
                        {"lud", VARIABLE_ROW},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        {
                                .name = "text",
                                .help = "printed:min compares names before ages; printed:seen "
                                        "floods a request again if it arrives after the token; "
                                        "printed: both; printed:rewire does nothing when the node "
                                        "gets a new neighbour",
                                .choices =
                                        (const struct parameter_choice[]){
                                                {"mended", TEXT_MENDED},
                                                {"printed", PRINTED_MIN | PRINTED_SEEN},
                                                {"printed:min", PRINTED_MIN},
                                                {"printed:seen", PRINTED_SEEN},
                                                {"printed:rewire", PRINTED_REWIRE},
                                                {NULL, 0},
                                        },
                        },
                        {
                                .name = "broadcast",
                                .help = "flood: messages do not carry the names of the nodes that "
                                        "have received them",
                                .choices =
                                        (const struct parameter_choice[]){
                                                {"controlled", BROADCAST_CONTROLLED},
                                                {"flood", BROADCAST_FLOOD},
                                                {NULL, 0},
                                        },
                        },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "lists_are_of_neighbours",
                         .meaning = "req_array names only neighbours, so that the token goes along "
                                    "links",
                         .local = lists_are_of_neighbours},
                        {.name = "ME2",
                         .meaning = "a node that is inside has the token",
                         .local = ME2},
                        {.name = "ME3",
                         .meaning = "one node at most has the token, and none has it while it is "
                                    "in flight",
                         .global = ME3},
                        {.name = "lemma_1",
                         .meaning = "already_seen in a REQ lists exactly the nodes that the REQ "
                                    "has visited and their neighbours",
                         .applies = has_already_seen,
                         .global = lemma_1},
                        {.name = "lemma_2",
                         .meaning = "what the nodes remember of a request leads the token to the "
                                    "node that it is for",
                         .global = lemma_2},
                        {.name = "lemma_3",
                         .meaning = "the token's date of a waiting node is older than the node's "
                                    "request",
                         .applies = remembers_times,
                         .global = lemma_3},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .linked = linked,
        .needs_link = needs_link,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
        .origin = origin,
};
