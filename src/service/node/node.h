/*
 * The lock node: named locks, sessions of clients and one instance of the cluster's algorithm for
 * each lock, in one process, without I/O.
 *
 * A driver tells a node what happens (a client's command, a frame from another member, a new view,
 * the passing of time) and takes out what the node wants done (frames to send, replies, events)
 * with node_effect. Nothing here reads a clock, opens a socket, starts a thread or logs. The same
 * calls with the same arguments give the same effects, byte for byte.
 *
 * Time. `now` is the lease clock of the host (base/lease_clock.h) in nanoseconds and never goes
 * back. Every call first does what has become due by then; node_tick does only that. Locks of
 * clients that are gone are released by node_tick alone. node_deadline tells by when it must be
 * called.
 *
 * Effects. The driver takes them, oldest first, after every call until there is none. Effects that
 * are not taken stay, in order. An effect's pointers are valid until the next call to this node,
 * except calls of node_effect.
 *
 * Commands. A session has at most one pending command. A command that is accepted (the call returns
 * 0) is answered by exactly one NODE_REPLY to that session, which may be there when the call
 * returns; if the session is closed first, there is none. Until the reply, every other command of
 * the session is refused with BATON_EBUSY; a driver that reads commands from a connection leaves
 * them there. A negative return value means that nothing has happened and no reply will come.
 * node_unlock and node_unsubscribe are answered by their return values.
 *
 * Frames. Links between members must be reliable and keep order, for each pair of members and
 * within an epoch. A link carries whole frames of at most NODE_FRAME_MAX bytes. The link or the
 * receiver may discard frames of older epochs; all others must arrive. node_receive may refuse a
 * frame with BATON_EAGAIN: the driver keeps it, reads nothing more from that link, and offers it
 * again after NODE_READ. There is no other back-pressure, and no frame is lost when a limit is
 * reached.
 *
 * Views. The driver passes them in; they do not come as frames. A member's number, 1..N, is its
 * position when the view's members are sorted by name; the algorithms know members by this number.
 *
 * Memory. A node copies what it is given, unless stated otherwise. Running out of memory stops the
 * process (memory.h). Every table has a limit (struct node_limits).
 */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include "algorithm.h"
#include "histogram.h"
#include "named_link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

enum {
	/* The most bytes in the name of a lock or member, or in a pattern; the least is 1. */
	NODE_NAME_MAX = 255,
	NODE_VALUE_MAX = 4096,      /* the most bytes in the value that ELECT publishes */
	NODE_COMMAND_MAX = 255,     /* the most bytes that are kept of a client's command line */
	NODE_FRAME_MAX = 1 << 20,   /* the most bytes in a frame */
	NODE_MEMBERS_MAX = 1 << 12, /* the most members in a view */
	NODE_TYPES_MAX = 16,        /* the most types of messages of an algorithm */
	/* The most patterns that tell which locks the asker of a STATUS may see. */
	NODE_SIGHTS_MAX = 1 << 10,
};

struct node_bytes {
	const char *bytes; /* the bytes of a text, without a terminating 0 */
	size_t size;
};

/* The greatest fence. Fences are below 2^53, so that JSON and JavaScript keep them exact. */
#define NODE_FENCE_MAX ((UINT64_C(1) << 53) - 1)

/* With a fixed membership (node_view), a fence is the epoch times 2^34 plus the lock's counter in
 * that epoch. */
enum { NODE_COUNTER_BITS = 34 };
#define NODE_COUNTER_MAX ((UINT64_C(1) << NODE_COUNTER_BITS) - 1)
#define NODE_EPOCH_MAX ((UINT64_C(1) << (53 - NODE_COUNTER_BITS)) - 1)

/* The deadline of something that is not due at all. */
#define NODE_NEVER UINT64_MAX

/* Two fixed waiting times, in nanoseconds. A NOWAIT is answered within NODE_NOWAIT_NS, so that the
 * reply can reach the client within a second. A member that has not answered a question within
 * NODE_SILENCE_NS counts as silent. */
#define NODE_NOWAIT_NS UINT64_C(900000000)
#define NODE_SILENCE_NS UINT64_C(200000000)

/* NODE_BUMP is repeated at this interval until the epoch ends. A NODE_BUMP of the next epoch also
 * keeps this distance from the last one. */
#define NODE_BUMP_NS UINT64_C(1000000000)

/* The limits of a node. 0 means the default, which is the number in each comment. */
struct node_limits {
	uint32_t sessions; /* sessions of clients: 65,536 */
	uint32_t waiters;  /* clients that wait for one lock at this node: 65,536 */
	uint32_t locks;    /* locks that this node knows in an epoch: 16,777,216 */
	/* Locks that one user holds or waits for: 65,536, and at most its share of `locks`
	 * (node_share). A new view takes time for each lock that is held. */
	uint32_t user_locks;
	uint32_t subscriptions; /* subscriptions of one session: 1,024 */
	/* Subscriptions of all sessions together: 131,072. It is far below what other members
	 * remember for this one (INTERESTS_MAX), or they would cut this node off. */
	uint32_t all_subscriptions;
	/* Of these, subscriptions to patterns: 256. Each event is matched with all of them, and
	 * with those of the other members. */
	uint32_t patterns;
	/* Elections that this node's clients lead or campaign for at a time: 65,536. */
	uint32_t leaders;
	/* Bytes of frames that wait for a view, for reports or for a closed lock: 16 MiB. */
	uint32_t backlog_bytes;
};

struct node_options {
	const char *name; /* the name of this member */
	/* The first incarnation of this node. In a fixed membership it is greater than all earlier
	 * ones of this name, and node_rejoin sets the next. If voters agree on the members, it may
	 * be 0, because node_enter sets it: to the index of the log entry by which the node
	 * joined. */
	uint64_t incarnation;
	uint64_t cluster; /* the cluster of this node; frames of another cluster are refused */
	/* From here to `texts`, options must be the same at all members, or the members do not
	 * understand each other. */
	const struct algorithm *algorithm; /* an algorithm for mutual exclusion (KIND_MUTEX) */
	/* The topology as on the command line, but not file:PATH; NULL: the algorithm's own. */
	const char *topology;
	uint64_t seed; /* the seed of random:D */
	/* The links between members; if there are any, the topology is not used. */
	struct named_links links;
	/* [PARAMETERS_MAX]: the parameters of the algorithm; NULL: its defaults. */
	const uint64_t *parameters;
	/* [PARAMETERS_MAX]: the texts of parameters that are PARAMETER_TEXT; or NULL. */
	const char *const *texts;
	/* The remaining options may differ from node to node, except lease_ns. */
	/* A random number that clients cannot guess: see name_key. In a simulation it may be 0. */
	uint64_t secret;
	uint32_t turns; /* how many local clients may enter in a row; 0 means 1 */
	/* How long a circulating token rests at a node where nobody wants it. With 0, a simulation
	 * whose links take no time would loop forever. */
	uint64_t idle_hop_ns;
	/* How long a lease lasts, the same at all members; 0: a fixed membership, without
	 * leases. */
	uint64_t lease_ns;
	struct node_limits limits;
};

struct node;

/*
 * Returns a node without a view, which serves nobody yet. If an option is wrong, returns NULL and a
 * sentence that says which one and what would be right. The algorithm must stay valid as long as
 * the node.
 */
struct node *node_create(const struct node_options *options, const char **ret_wrong);
void node_destroy(struct node *node);

/* --- time --- */

/* Returns the latest time at which node_tick must be called, or NODE_NEVER if nothing is due. */
uint64_t node_deadline(const struct node *node);
void node_tick(struct node *node, uint64_t now);

/* --- views --- */

struct node_member {
	const char *name;
	uint64_t incarnation;
	const char *address; /* the member's address, which only STATUS shows; may be NULL */
};

/*
 * Begins the view of an epoch: its members in any order, each name once. The call is ignored if the
 * node has already seen this epoch or a greater one.
 *
 * If this node is in the view (by name and incarnation), everything of older epochs is discarded
 * except waiting clients and holds. The node serves again when all members of the view have
 * reported what they hold (node_waiting_for). If the node is not in the view, its clients lose what
 * they hold (NODE_LOST). Waiting clients go on waiting for a later view that includes this node
 * (after node_rejoin).
 *
 * Returns 0, BATON_EVIEW or BATON_ESTOPPED. BATON_EVIEW means that the topology or the algorithm
 * does not suit that many members (edges: and grid:RxC fix their number), or that the view itself
 * is malformed (too many members, a name that occurs twice, is too long or empty, an epoch of 0 or
 * above NODE_EPOCH_MAX). A view that is only unsuitable begins all the same, but neither this node
 * nor any other member serves in it. A malformed view changes nothing.
 */
int node_view(struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t members_count, uint64_t now);

/*
 * Sets where every lock's counter begins in the next epoch of a fixed membership; 0 unless set. It
 * must be the same at all members. With a floor, fences rise even if all members have lost their
 * memory and begin the same epoch again.
 */
void node_floor(struct node *node, uint64_t floor);

/* Gives the node a new incarnation. Returns 0; BATON_EVIEW if the node is in a view, or if the
 * incarnation is not greater than its last; or BATON_ESTOPPED. */
int node_rejoin(struct node *node, uint64_t incarnation, uint64_t now);

/* A view as the voters have agreed on it. */
#define NODE_NOT_IN UINT32_MAX
struct node_agreement {
	uint64_t epoch;
	uint64_t base, limit; /* the fences of the epoch are greater than base and at most limit */
	const struct node_member *members; /* the members in any order, each name once */
	uint32_t members_count;
	/* The index of this process in `members`; NODE_NOT_IN: it is not in the view. */
	uint32_t self;
};

/*
 * Like node_view, for a membership that voters agree on. If the view has this node with another
 * incarnation, the node was removed and has joined again in between: its clients lose what they
 * hold, and then the node enters as that incarnation. Returns BATON_EVIEW also if base or limit
 * make no sense.
 */
int node_enter(struct node *node, const struct node_agreement *agreement, uint64_t now);

/* The voters have raised the limit of this epoch's fences. The call is ignored if the epoch is
 * another one, or the limit is not higher. */
void node_extend(struct node *node, uint64_t epoch, uint64_t limit, uint64_t now);

/* Returns the greatest epoch seen so far, 0 at first. */
uint64_t node_epoch(const struct node *node);
/* Returns this node's number in the view, or 0 if it is in none. */
uint32_t node_self(const struct node *node);
uint32_t node_members_count(const struct node *node);
/* Does the cluster need a link between this node and this member? Never between a node and
 * itself. */
bool node_linked(const struct node *node, uint32_t member);
/* Returns NULL if the node serves, or what it waits for: "a view that includes this node", "the
 * reports of b, c" … The text is valid until the next call with this node. */
const char *node_waiting_for(struct node *node);

/* Have all members of the view reported? Then the node serves, if its lease lets it. */
bool node_active(const struct node *node);
/* Has this member of the view reported? */
bool node_reported(const struct node *node, uint32_t member);
uint64_t node_incarnation(const struct node *node);

/* --- the lease (only with lease_ns) --- */

/*
 * A node begins without a lease and grants nothing. It asks for renewals by itself (NODE_RENEW),
 * every sixth of the lease, at least every second, whether it is in a view or not. When the voters
 * have acknowledged a renewal, the lease lasts for lease_ns from the time in that NODE_RENEW
 * (`taken`): the driver passes this deadline to node_lease. A deadline that is not later than the
 * last is ignored.
 *
 * With half of the lease left there is a NODE_WARN. With a tenth left (the margin) the node grants
 * nothing new and does not ask for locks. With none left it lapses: every hold here is lost
 * (NODE_LOST, "lease"), and the driver closes the sessions that held something. Leaving the view
 * also ends the lease and counts as a lapse.
 */
void node_lease(struct node *node, uint64_t deadline, uint64_t now);

/* Asks for a renewal at once (NODE_RENEW), because the voters should learn something now. */
void node_renew(struct node *node, uint64_t now);

/*
 * This incarnation leaves the cluster. It grants nothing more, but takes part in views until it is
 * out. NODE_DEPART comes when no client here holds anything, and is repeated until the view is
 * left. Waiting clients stay in the queue until the driver ends their waits
 * (node_session_withdraw).
 */
void node_depart(struct node *node, uint64_t now);

/* Returns when the lease ends, in nanoseconds but rounded down to a whole millisecond; NODE_NEVER:
 * no lease is needed; 0: there is no lease now. */
uint64_t node_lease_deadline(const struct node *node);
/* Returns how often holds were lost because a lease or a view ended. */
uint64_t node_lapses(const struct node *node);
/*
 * Returns a word that clients can read from memory instead of asking: the deadline in milliseconds,
 * times 2^16, plus the lower 16 bits of the count of lapses. A client may go on while the count is
 * still the same as at its grant, and its clock is before the deadline. The driver publishes the
 * word before it carries out any effect.
 */
uint64_t node_lease_word(const struct node *node);

/* --- frames --- */

/*
 * Takes a frame from the link of a peer. `from` is the peer's name, as the link has verified it.
 * The node does not need the bytes after the call.
 *
 * Returns 0 if the frame was taken, or discarded because its epoch is over. Returns BATON_EAGAIN if
 * the driver must offer the frame again after NODE_READ. Other errors refuse the frame for good:
 * BATON_EMESSAGE (malformed), BATON_ECLUSTER (of another cluster), BATON_ESENDER (it is of this
 * epoch, but the peer is not a member, not a neighbour, or another incarnation), BATON_ESTOPPED. A
 * refused frame changes nothing, with two exceptions: it may have been passed on to other members,
 * and if it has several messages, the good ones were taken.
 */
int node_receive(struct node *node, const char *from, const uint8_t *bytes, size_t size,
                 uint64_t now);
/* Writes a sentence about the peer whose frame node_receive has refused for good. */
void node_frame_describe(const uint8_t *bytes, size_t size, int error, char *ret_text,
                         size_t text_size);

/* --- sessions --- */

struct node_client {
	uint32_t pid, uid;
	const char *command; /* the command line of the client's process; NULL: not known */
};

/* Returns the id of a new session, which is never 0 and never used again; or 0 if the limit of
 * sessions is reached. */
uint64_t node_session_open(struct node *node, const struct node_client *client, uint64_t now);

/* Changes the command line that node_session_open got, because it was learnt later. */
void node_session_command(struct node *node, uint64_t session, const char *command);

struct scan;
/* Searches for the answers to STATUS that wait for their turn; used by the node alone. */
struct node_scans {
	uint32_t count;
	size_t bytes;
	TAILQ_HEAD(, scan) list;
	TAILQ_ENTRY(node_scans) turn;
};

/* Counts what all sessions of one user have at this node. The driver owns it, begins with zeros,
 * and keeps it as long as `sessions` or `names` is not 0. */
struct node_user {
	uint32_t sessions;
	uint32_t locks; /* how many locks the sessions hold or wait for */
	uint32_t holds; /* how many of them they hold */
	/* How many locks the node keeps in this epoch because a session of this user was the first
	 * to ask for them here. They stay when the session ends. If a request was withdrawn before
	 * anybody got the lock, the lock may be forgotten and still count. */
	uint32_t names;
	uint32_t leaders;            /* how many elections the sessions lead or campaign for */
	uint32_t subscriptions;      /* how many subscriptions the sessions have */
	uint32_t patterns;           /* how many of them are to patterns */
	LIST_ENTRY(node_user) named; /* linked by the node while `names` is not 0 */
	struct node_scans scans;     /* for what the sessions ask with STATUS */
};

/* Returns how much of a limit one user may have; the rest is kept for others. */
enum { NODE_KEPT_ONE_IN = 8 };
static inline uint32_t node_share(uint32_t limit)
{
	return limit - limit / NODE_KEPT_ONE_IN;
}

/* Makes what the session has count for this user, who may use only a share of each limit
 * (node_share), and of locks only `user_locks`. NULL, as at first: it counts for nobody. The session must hold nothing, wait for
 * nothing and have no subscriptions. An unknown session is ignored. */
void node_session_user(struct node *node, uint64_t session, struct node_user *user);

/* Closes a session: its locks are released, its wait is withdrawn, and its pending command gets no
 * reply. If it holds many locks, only some of them are released in this call and the others by
 * node_tick, some in each call: node_deadline is in the past until then. They still count for the
 * user. An unknown session is ignored. See node_session_lease for clients that may still believe
 * that they hold something. */
void node_session_close(struct node *node, uint64_t session, uint64_t now);
/* Closes the session of a client that says that it has stopped. */
void node_session_quit(struct node *node, uint64_t session, uint64_t now);

/*
 * Tells a client that cannot read the lease word how long it may go on. Such a client must ask
 * before its first lock, and then again and again. The answer is what is left of the lease
 * (NODE_NEVER: no lease is needed), and the lapses. The client notes its own clock before it asks.
 * It may go on until that time plus what is left of the lease, less the possible difference of the
 * two clocks. If the session is closed without node_session_quit, the client may not know of it:
 * its locks stay held until the last deadline that it was told, and cannot be broken or evicted
 * until then. Returns 0, BATON_ESESSION or BATON_ESTOPPED.
 */
int node_session_lease(struct node *node, uint64_t session, uint64_t now, uint64_t *ret_left_ns,
                       uint64_t *ret_lapses);

/* Sets how long the client needs to stop when the lease ends; 0 unless set. The client is granted
 * nothing while less than this time plus the margin is left of the lease. An unknown session is
 * ignored. */
void node_session_grace(struct node *node, uint64_t session, uint64_t grace_ns);

/*
 * Makes a session linger. When a lock that it holds is broken, the session is told at once
 * (NODE_LOST, the event). But nobody else is let in before the session has released the lock or is
 * closed, because its client may need time to stop. The driver must bound that time. An unknown
 * session is ignored.
 */
void node_session_linger(struct node *node, uint64_t session);
/* Makes a session linger because its client cannot stop. From now on STATUS says so:
 * NODE_CANNOT_STOP comes before the client's command line. */
void node_session_stay(struct node *node, uint64_t session);
#define NODE_CANNOT_STOP "cannot stop: "

/* Takes some locks from a session, as BREAK does. `why` is the reason. Returns true if more are left:
 * call it again, after others were served. */
bool node_session_evict(struct node *node, uint64_t session, const char *why, uint64_t now);

/* Ends the session's wait for a lock: its command is answered with BATON_ENOVIEW. */
void node_session_withdraw(struct node *node, uint64_t session, uint64_t now);
/* Returns how many locks the session holds. */
uint32_t node_session_holds(const struct node *node, uint64_t session);
/* Has the session lost something that it has not released yet? */
bool node_session_losing(const struct node *node, uint64_t session);
/* The session did not release in time what it has lost: some of those locks go to others now. Returns
 * true if more are left: call it again, after others were served. */
bool node_session_forfeit(struct node *node, uint64_t session, uint64_t now);

/*
 * Commands. All of them can return BATON_ESESSION (no such session), BATON_EBUSY and
 * BATON_ESTOPPED; commands with a name or pattern can also return BATON_ENAME.
 */

enum node_patience { NODE_WAIT, NODE_TIMEOUT, NODE_NOWAIT };

/*
 * Asks for a lock. The reply is one of
 *
 * 	REPLY_FENCE  the fence: the session holds the lock.
 * 	REPLY_NIL    another client is known to be inside or to wait. NODE_NOWAIT: sent as soon as
 * 	             that is known; NODE_TIMEOUT: sent when the time is over.
 * 	REPLY_ERROR with BATON_ESILENT: nobody can say whether the lock is free. `silent` has
 * 	             the names of the members that did not answer, separated by spaces. If it is
 * 	             empty, all have answered, but the lock did not come.
 *
 * NODE_NOWAIT is answered within NODE_NOWAIT_NS. NODE_TIMEOUT is answered within NODE_SILENCE_NS
 * after the timeout, because the other members are asked only then. Errors: BATON_EHELD,
 * BATON_EWAITERS, BATON_ELOCKS, BATON_EUSERLOCKS, BATON_EUSERNAMES, BATON_ENOVIEW. A client that
 * waits when the node drops out of the view goes on waiting.
 */
int node_lock(struct node *node, uint64_t session, const char *name, size_t name_size,
              enum node_patience patience, uint64_t timeout_ns, uint64_t now);

/*
 * Asks for a lock as node_lock does, and publishes the value. The reply is the fence, once every
 * member has acknowledged who leads or has left the view. If the lock was taken away before that,
 * the reply is REPLY_ERROR with BATON_ELOST. The other replies to node_lock are possible too.
 * Errors: those of node_lock, BATON_EVALUE, BATON_ELEADERS, BATON_EUSERLEADERS.
 */
int node_elect(struct node *node, uint64_t session, const char *name, size_t name_size,
               const void *value, size_t value_size, enum node_patience patience,
               uint64_t timeout_ns, uint64_t now);

/* Releases a lock; a leader resigns by the same call. Returns 1, or 0 if this session does not hold
 * the lock with this fence. A fence of 0 stands for any. */
int node_unlock(struct node *node, uint64_t session, const char *name, size_t name_size,
                uint64_t fence, uint64_t now);

/*
 * Asks who leads. The reply is REPLY_LEADER or REPLY_NIL, from the answers of all members that are
 * not silent, and names the silent ones. If the leader's own node is silent, the reply has the
 * leader that others remember, which may lead no longer. REPLY_NIL does not exclude a leader at a
 * silent member. In a new view the reply waits until all members have reported. Error:
 * BATON_ENOVIEW.
 */
int node_leader(struct node *node, uint64_t session, const char *name, size_t name_size,
                uint64_t now);

/*
 * Takes a lock from the client that holds it with this fence, at any member. The reply is
 * REPLY_NUMBER: 1, or 0 if nobody holds the lock with this fence (any more). It is REPLY_ERROR with
 * BATON_ESILENT if a member is silent and no other member has the lock. If the view changes before
 * the reply, 0 may also mean that this very command took the lock. Errors: BATON_EFENCE (0, or not
 * below 2^53), BATON_ENOVIEW.
 */
int node_break(struct node *node, uint64_t session, const char *name, size_t name_size,
               uint64_t fence, uint64_t now);

/*
 * The reply is REPLY_STATUS. The pattern selects locks by name (NULL: all). `seen` has the patterns
 * of the locks that the client may see, at most NODE_SIGHTS_MAX, each after a byte with its size;
 * without any it sees no lock, with NULL it sees all. Each member reports at most `count` of the
 * locks that are selected and may be seen (0: 1,000), in no particular order. Locks that nobody
 * holds or waits for are left out. Without a view the node shows what it knows alone.
 *
 * Each member reports the clients of each lock as they were at one moment between question and
 * reply. It looks at a few hundred locks at a time and serves others in between; locks that come
 * into use meanwhile may be left out. The moments differ: a lock that is handed on in between may
 * appear with two holders (then the one with the greater fence is shown), with a client that both
 * waits and holds, or with nobody. A member that has not reported everything within
 * NODE_SILENCE_NS counts as silent; what it reported before that is shown.
 */
int node_status(struct node *node, uint64_t session, const char *pattern, size_t pattern_size,
                struct node_bytes seen, uint32_t count, uint64_t now);

/*
 * Subscribes to the events of a lock, or of all locks whose names match a pattern, as in Redis: * ?
 * [abc] [^a-z] and \. The reply is REPLY_NUMBER, the number of the session's subscriptions. It
 * comes when all members that are not silent have acknowledged. From then on the session is told of
 * everything that happens at these members. Subscribing twice is the same as once. Errors:
 * BATON_ESUBSCRIPTIONS, BATON_EPATTERNS.
 */
int node_subscribe(struct node *node, uint64_t session, bool pattern, const char *text,
                   size_t text_size, uint64_t now);
/* Returns how many subscriptions are left. A text that the session is not subscribed to is ignored.
 * NULL ends all subscriptions of that kind. */
int node_unsubscribe(struct node *node, uint64_t session, bool pattern, const char *text,
                     size_t text_size, uint64_t now);

struct interest; /* a subscription of a session */
struct node_bytes;
/* Returns the oldest subscription of the session, or NULL. */
const struct interest *node_subscriptions(const struct node *node, uint64_t session);
/* Reads the subscription *at, and moves *at to the next one or NULL, so that the caller may end the
 * one that was read. Returns false if *at is NULL. The text is valid until the subscription
 * ends. */
bool node_subscription_next(const struct interest **at, bool *ret_pattern,
                            struct node_bytes *ret_text);

/*
 * Call it when the link to a member becomes congested, because it has too much to send, or no
 * longer is. While a link is congested, no events are sent over it; afterwards the subscribers are
 * told how many events were dropped. Nothing but events is ever dropped. In a new view no link
 * counts as congested at first.
 */
void node_congested(struct node *node, uint32_t member, bool congested, uint64_t now);

/* The first word of the reason why a lock was lost. After an operator's BREAK the text continues
 * with the operator: "broken uid 0 pid 12 at n2". */
#define NODE_LOST_BROKEN "broken"
#define NODE_LOST_LEAVING "leaving"       /* the client's node is leaving */
#define NODE_LOST_CONNECTION "connection" /* the client's connection is gone */
#define NODE_LOST_VIEW "view"             /* the node is not in the view any more */
#define NODE_LOST_LEASE "lease"           /* the node's lease has ended */
#define NODE_LOST_CONFLICT "conflict"     /* another member has the lock with a greater fence */

/* --- effects --- */

enum node_effect_kind {
	NODE_SEND,  /* send a frame to a member; frames to the same member must keep their order */
	NODE_REPLY, /* reply to the command of a session */
	NODE_EVENT, /* report an event to a subscription of a session */
	NODE_LOST,  /* a session has lost a lock that it did not give back */
	NODE_READ,  /* links that were refused with BATON_EAGAIN may be read again */
	/* Propose BUMP{epoch}: the epoch's numbers or tables are used up; repeated every
	 * NODE_BUMP_NS. */
	NODE_BUMP,
	NODE_STOP, /* the node has stopped for good, because going on could do harm: log it */
	/* Something happened that must never happen, but the node goes on: log it, loudly. */
	NODE_SHOUT,
	NODE_RENEW, /* send a renewal to all voters (outside a view: a petition to join) */
	NODE_WARN,  /* half of the lease has passed without an acknowledgement: log it */
	/* Propose EXTEND{epoch, limit}: half of the fences up to this limit are used; repeated
	 * until the limit is raised. */
	NODE_EXTEND,
	/* Propose LEAVE: no client here holds anything; repeated until this node is out of the
	 * view. */
	NODE_DEPART,
};

enum node_reply_kind {
	REPLY_NIL,
	REPLY_FENCE,
	REPLY_NUMBER,
	REPLY_LEADER,
	REPLY_STATUS,
	REPLY_ERROR,
};

/* EVENT_DROPPED: a link or a subscriber was too slow, and some events were dropped. */
enum node_event_kind { EVENT_GRANTED, EVENT_RELEASED, EVENT_LOST, EVENT_LEADER, EVENT_DROPPED };

/* When a waiting client is let in, as far as its own member knows. */
enum node_status_turn {
	STATUS_TURN_NEXT, /* the client is let in when its member is let in next */
	/* The client's member is inside, and lets the client in before it gives the lock away. */
	STATUS_TURN_NOW,
	/* The client is let in only after its member has asked again, because other clients of that
	 * member come first. */
	STATUS_TURN_LATER,
};

/* One client, in a STATUS. */
struct node_status_client {
	uint32_t member; /* the client's member, as an index into `members` */
	uint32_t pid, uid;
	/* The command line of the process that connected, not of a command that it runs. */
	struct node_bytes command;
	uint64_t since_ms;
	/* The holder was told that it lost the lock, but has not stopped yet. */
	bool losing;
	enum node_status_turn turn; /* waiters only: when the client will be let in */
};

struct node_status_lock {
	struct node_bytes name;
	uint64_t fence; /* the holder's fence; 0 if nobody holds the lock */
	/* The client that holds the lock; NULL: nobody holds it, or the holder's member is
	 * silent. */
	const struct node_status_client *holder;
	/* The waiting clients. Clients of the same member are in the order of its queue. */
	const struct node_status_client *waiters;
	uint32_t waiters_count;
	/* The waiters are in the order in which they will be let in, unless one gives up; later
	 * clients may still come between them. If false, the order is not known, and the waiters
	 * are sorted by member. */
	bool in_order;
};

struct node_status_member {
	const char *name, *address; /* the member's name and address; the address may be NULL */
	uint64_t incarnation;
	/* The member has not answered, or not completely: fields that it did not report are 0. */
	bool silent;
	bool active;
	bool leased; /* the member has a lease; lease_ms is what is left of it */
	uint64_t lease_ms;
	uint64_t grants;
	/* How many messages of the algorithm the member has sent and received, as the laboratory
	 * counts them. */
	uint64_t sent, received;
	/* [algorithm->messages_count]: messages sent of each type, in the table's order. */
	const uint64_t *sent_by_type;
	/* How many other frames were sent: touches, questions, reports …. */
	uint64_t control_sent;
};

struct node_status {
	uint64_t epoch;
	const struct node_status_member *members; /* all members, in the order of their numbers */
	uint32_t members_count;
	uint32_t self; /* the node that was asked, as an index into `members` */
	/* About how long after a member's death others can get the locks of its clients; 0:
	 * unknown, because there are no leases. */
	uint64_t takeover_ms;
	const struct node_status_lock *locks; /* the locks, sorted by name; see node_status_step */
	uint32_t locks_count;
	const char *waiting_for; /* what node_waiting_for says at the node that was asked */
};

/*
 * Adds some locks to the status, in much less than a millisecond. A status begins without its
 * locks, because sorting a hundred thousand of them at once would take too long. Returns false when
 * `locks` is complete.
 *
 * A status is valid as long as the effect that has it or, if it is kept, until it is freed; it may
 * outlive the node.
 */
bool node_status_step(struct node_status *status);
/* Returns how much memory the locks of the status take. */
size_t node_status_room(const struct node_status *status);
void node_status_keep(struct node_status *status);
void node_status_free(struct node_status *status);

struct node_effect {
	enum node_effect_kind kind;
	union {
		struct {
			uint32_t to; /* the number of the receiving member */
			/* The epoch of the frame; `to` is a number in the view of this epoch. */
			uint64_t epoch;
			const uint8_t *bytes;
			size_t size;
		} send;
		struct {
			uint64_t session;
			enum node_reply_kind kind;
			/* The number of REPLY_NUMBER; the fence of REPLY_FENCE and REPLY_LEADER. */
			uint64_t number;
			int error; /* the error code of REPLY_ERROR */
			/* The leader's member and value, for REPLY_LEADER. */
			struct node_bytes member, value;
			/* The members that did not answer, separated by spaces: for node_leader,
			 * and with BATON_ESILENT. */
			struct node_bytes silent;
			struct node_status *status;
			/* REPLY_FENCE: the lapses so far, and what is left of the lease. */
			uint64_t lapses, left_ns;
		} reply;
		struct {
			uint64_t session;
			/* The pattern of the subscription; bytes NULL: the subscription is by
			 * name. */
			struct node_bytes pattern;
			/* The lock; EVENT_DROPPED: the text that is subscribed to. */
			struct node_bytes name;
			enum node_event_kind kind;
			/* The fence of the hold; EVENT_DROPPED: how many events were dropped. */
			uint64_t fence;
			struct node_bytes member; /* the member where the event happened */
			/* EVENT_LEADER: the value; EVENT_LOST: the reason. */
			struct node_bytes value;
		} event;
		struct {
			uint64_t session;
			struct node_bytes name;
			uint64_t fence;
			/* A NODE_LOST_… text, perhaps followed by more words. */
			struct node_bytes why;
		} lost;
		struct {
			uint64_t epoch;
		} bump;
		struct {
			const char *why;
		} stop;
		struct {
			const char *text;
		} shout;
		struct {
			/* If the voters acknowledge this renewal, the lease lasts until this time
			 * plus lease_ns. */
			uint64_t taken;
		} renew;
		struct {
			uint64_t left_ns;
		} warn;
		struct {
			uint64_t epoch, limit;
		} extend;
	};
};

/* Returns the oldest effect that was not taken, or false if there is none. */
bool node_effect(struct node *node, struct node_effect *ret_effect);

/* --- for tests --- */

/* Does this node have a token of the lock: unused, in use, or as a message that rests on the road?
 * Always false for an algorithm without tokens. */
bool node_has_token(struct node *node, const char *name, size_t name_size);

/* Has the algorithm let this node in? A client need not have the lock. */
bool node_is_inside(struct node *node, const char *name, size_t name_size);

/* Returns the number of the lock's home: the member that has the token before the lock is first
 * used in this epoch; 0 without a view. */
uint32_t node_home(const struct node *node, const char *name, size_t name_size);

/* --- measurement --- */

/* The reasons why a client lost a lock: the NODE_LOST_… texts, in their order. */
enum node_loss {
	LOSS_BROKEN,
	LOSS_LEAVING,
	LOSS_CONNECTION,
	LOSS_VIEW,
	LOSS_LEASE,
	LOSS_CONFLICT,
	LOSSES_COUNT
};
const char *node_loss_text(enum node_loss loss);

/* When a client asked, the token was already here, or it had to come from another node. For an
 * algorithm without a token: the node need not wait for messages, or it had to. */
enum node_origin { TOKEN_HERE, TOKEN_CAME, TOKEN_ORIGINS };

/* The counters of this node since it was created. Reading them sends no message. */
struct node_figures {
	uint64_t locks;      /* how many locks the node knows */
	uint64_t lock_bytes; /* the memory that the locks take, tables included */
	uint64_t backlog_bytes;
	uint64_t sessions;
	/* Locks that a client here holds; locks that clients here only wait for. */
	uint64_t locks_held, locks_waited;
	uint64_t waiters; /* clients here that wait for a lock */
	uint64_t views;   /* how many views the node has entered */
	uint64_t grants;
	struct histogram acquire[TOKEN_ORIGINS]; /* times from LOCK to its grant */
	struct histogram hold;                   /* times from a grant to its end */
	uint64_t losses[LOSSES_COUNT];
	/* How many clients were not let in because they said NOWAIT and the lock was busy; because
	 * their timeout was over; because members did not answer. */
	uint64_t refused_busy, refused_timeout, refused_silent;
	uint64_t regenerated; /* how many lost tokens the algorithm has replaced */
	uint64_t sent, received, control_sent, control_received;
	/* How many messages had to wait and turned out to be malformed afterwards. */
	uint64_t malformed;
	uint64_t sent_by_type[NODE_TYPES_MAX], received_by_type[NODE_TYPES_MAX];
};

void node_figures(const struct node *node, struct node_figures *ret_figures);

#endif
