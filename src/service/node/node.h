/*
 * The lock node: named locks, sessions of clients and one instance of the cluster's algorithm for
 * each lock, in one process, without I/O.
 *
 * A driver feeds a node with what happens (a client's command, a frame from another member, a new
 * view, the passing of time) and takes out what the node wants done (frames to send, replies,
 * events) with node_effect. Nothing here reads a clock, opens a socket, starts a thread or logs;
 * the same calls with the same arguments give the same effects, byte for byte.
 *
 * Time. `now` is CLOCK_BOOTTIME in nanoseconds and never goes back. Every call first does what has
 * become due by then; node_tick does only that. node_deadline says when it must be called next.
 *
 * Effects are taken oldest first, after every call, until there is none. An effect's pointers are
 * good until the next call with this node other than node_effect. Effects that are not taken stay,
 * in order.
 *
 * Commands. A session has at most one command under way: one that is accepted (0) is answered by
 * exactly one NODE_REPLY of that session, perhaps already by the time the call returns, unless the
 * session is closed before. Until then every other command of the session is refused with
 * BATON_EBUSY; a driver that reads commands from a connection lets them wait there. A negative
 * return value means that nothing has happened and no reply will come. node_unlock and
 * node_unsubscribe are answered by what they return.
 *
 * Frames. Links between members are reliable and keep order, for each pair and within an epoch; a
 * link carries whole frames of at most NODE_FRAME_MAX bytes. Frames of older epochs may be thrown
 * away by the link or by the receiver, all others must arrive. node_receive may refuse a frame with
 * BATON_EAGAIN: the driver keeps it, reads nothing more from that link, and offers it again after
 * NODE_READ. That is the only back-pressure; nothing is ever lost at a bound.
 *
 * Views come from the driver too, by another way than the links. A member's number, 1..N, is its
 * place when the view's members are sorted by name; the algorithms know members by it.
 *
 * Memory. A node copies what it is given, unless said otherwise. Running out of memory stops the
 * process (memory.h). Every table has a limit (struct node_limits).
 */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include "algorithm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NODE_NAME_MAX = 255,    /* bytes of a lock's name, a pattern, a member's name; at least 1 */
	NODE_VALUE_MAX = 4096,  /* bytes of what ELECT publishes */
	NODE_COMMAND_MAX = 255, /* bytes of a client's command that are kept */
	NODE_FRAME_MAX = 1 << 20,   /* bytes of a frame */
	NODE_MEMBERS_MAX = 1 << 12, /* of a view */
	NODE_TYPES_MAX = 16         /* of an algorithm's messages */
};

/* Fences are below 2^53, so that JSON and JavaScript keep them exact. */
#define NODE_FENCE_MAX ((UINT64_C(1) << 53) - 1)

/* Of a fixed membership (node_view): a fence is the epoch times 2^34 plus the lock's counter in
 * that epoch. */
enum { NODE_COUNTER_BITS = 34 };
#define NODE_COUNTER_MAX ((UINT64_C(1) << NODE_COUNTER_BITS) - 1)
#define NODE_EPOCH_MAX ((UINT64_C(1) << (53 - NODE_COUNTER_BITS)) - 1)

/* No deadline. */
#define NODE_NEVER UINT64_MAX

/* The waits that are no option: a NOWAIT is answered within the first, less than a second so
 * that the client has its answer within one; a member that has not answered a question within
 * the second is silent. In nanoseconds. */
#define NODE_NOWAIT_NS UINT64_C(900000000)
#define NODE_SILENCE_NS UINT64_C(200000000)

/* NODE_BUMP comes again after so long, until the epoch ends; no sooner in the next epoch,
 * either. */
#define NODE_BUMP_NS UINT64_C(1000000000)

/* 0 is the default of each. */
struct node_limits {
	uint32_t sessions;      /* 65,536 */
	uint32_t waiters;       /* of one lock at this node: 65,536 */
	uint32_t locks;         /* that this node knows in an epoch: 16,777,216 */
	uint32_t subscriptions; /* of one session: 1,024 */
	uint32_t leaders;       /* that this node's clients are at a time: 65,536 */
	uint32_t
	        backlog_bytes; /* of frames that wait for a view, for reports, for a closed lock: 16 MiB */
};

struct node_options {
	const char *name;     /* of this member */
	uint64_t incarnation; /* of this process: greater than any of this name before */
	uint64_t cluster;     /* frames of another cluster are refused */
	/* The same at all members, or they do not understand each other. */
	const struct algorithm *algorithm; /* KIND_MUTEX */
	const char *topology; /* as on the command line, not file:PATH; NULL: the algorithm's */
	uint64_t seed;        /* of random:D */
	const uint64_t *parameters; /* [PARAMETERS_MAX], of the algorithm; NULL: its defaults */
	const char *const *texts; /* [PARAMETERS_MAX], of those that are PARAMETER_TEXT; or NULL */
	/* Each node's own business. */
	uint32_t turns; /* how many local clients go in a row; 0 is 1 */
	uint64_t
	        idle_hop_ns; /* how long a circulating token rests where nobody wants it; with 0, and
	                         links that take no time, it goes round without time passing */
	uint64_t
	        lease_ns; /* how long a lease lasts, the same at all members; 0: a fixed membership,
	                      without leases */
	struct node_limits limits;
};

struct node;

/*
 * NULL, and a sentence that says which option is wrong and what would be right, or a node without a
 * view: it serves nobody yet. The algorithm must stay as long as the node.
 */
struct node *node_create(const struct node_options *options, const char **ret_wrong);
void node_destroy(struct node *node);

/* --- time --- */

/* When node_tick must be called at the latest; NODE_NEVER if nothing is due. */
uint64_t node_deadline(const struct node *node);
void node_tick(struct node *node, uint64_t now);

/* --- views --- */

struct node_member {
	const char *name;
	uint64_t incarnation;
	const char *address; /* for STATUS only; may be NULL */
};

/*
 * The members agreed upon for an epoch, in any order, each name once. An epoch that is not greater
 * than any seen before is ignored. In the view (by name and incarnation): everything of older
 * epochs is thrown away but clients that wait and clients that hold, and the node serves again when
 * all members of the view have reported what they hold (node_waiting_for). Not in it: clients that
 * hold lose it (NODE_LOST), those that wait go on waiting for a later view that has this node, as
 * it is after node_rejoin.
 *
 * 0, or BATON_EVIEW: the topology or the algorithm does not suit so many members (edges: and
 * grid:RxC fix their number), or the view itself is malformed (no members, too many, a name twice,
 * too long or empty, an epoch of 0 or above NODE_EPOCH_MAX). In the first case the epoch has begun
 * all the same and the node serves nobody in it, as no member will; a malformed view changes
 * nothing.
 */
int node_view(struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t members_count, uint64_t now);

/*
 * Where every lock's counter begins in the next epoch of a fixed membership, the same at all
 * members: 0 unless said. With it, fences rise even if all members forget everything and begin the
 * same epoch again.
 */
void node_floor(struct node *node, uint64_t floor);

/* A new incarnation of a node that is in no view; BATON_EVIEW if it is in one, or if the
 * incarnation is not greater than the last. */
int node_rejoin(struct node *node, uint64_t incarnation, uint64_t now);

/* A view as the voters have agreed on it. */
#define NODE_NOT_IN UINT32_MAX
struct node_agreement {
	uint64_t epoch;
	uint64_t base, limit; /* fences of the epoch: greater than base, at most limit */
	const struct node_member *members; /* in any order, each name once */
	uint32_t members_count;
	uint32_t self; /* which of them is this process, an index; NODE_NOT_IN: none */
};

/*
 * As node_view, for a membership that is agreed on. If this node is in it with another incarnation
 * than it has, it was removed and has joined again meanwhile: first it loses what its clients hold,
 * then it enters as that incarnation. BATON_EVIEW also if base or limit make no sense.
 */
int node_enter(struct node *node, const struct node_agreement *agreement, uint64_t now);

/* The voters have raised the limit of this epoch's fences. Ignored for another epoch, or if it
 * is no raise. */
void node_extend(struct node *node, uint64_t epoch, uint64_t limit, uint64_t now);

/* The greatest epoch seen, 0 at first. */
uint64_t node_epoch(const struct node *node);
/* This node's number in the view, 0 if it is in none. */
uint32_t node_self(const struct node *node);
uint32_t node_members_count(const struct node *node);
/* Does the cluster need a link between this node and that member? False for itself. */
bool node_linked(const struct node *node, uint32_t member);
/* NULL if the node serves, else what it waits for: "a view that has this node in it", "the reports
 * of b, c", … Good until the next call with this node. */
const char *node_waiting_for(struct node *node);

/* Have all members of the view reported, so that the node serves (if its lease lets it)? */
bool node_active(const struct node *node);
/* Has this member of the view reported? */
bool node_reported(const struct node *node, uint32_t member);
uint64_t node_incarnation(const struct node *node);

/* --- the lease (only with lease_ns) --- */

/*
 * A node begins without a lease and grants nothing. It asks for renewals by itself (NODE_RENEW),
 * every sixth of the lease, in a view or not. When the voters have acknowledged one, its lease
 * lasts until the time at which that renewal was taken plus lease_ns: the driver says so with
 * node_lease. A deadline that is not later than the last is ignored.
 *
 * Half of the lease left: NODE_WARN. A tenth left, the margin: it grants nothing new and asks for
 * nobody. None left: it lapses; every hold here is lost (NODE_LOST, "lease"), and the driver closes
 * the sessions that held something. Leaving the view ends the lease, too, and counts as a lapse.
 */
void node_lease(struct node *node, uint64_t deadline, uint64_t now);

/*
 * This incarnation leaves the cluster: it grants nothing more, but takes part in views until it is
 * out. NODE_DEPART comes when no client here holds anything, and again until the view is left.
 * Clients that wait stay waiting: the driver answers them (node_session_withdraw).
 */
void node_depart(struct node *node, uint64_t now);

/* NODE_NEVER: no lease is needed; 0: there is none now. In whole milliseconds. */
uint64_t node_lease_deadline(const struct node *node);
/* How often holds were lost because a lease or a view ended. */
uint64_t node_lapses(const struct node *node);
/*
 * A word that clients may read instead of asking: the deadline in milliseconds, times 2^16, plus
 * the lower 16 bits of the lapses. A client may go on while the lapses are those of its grant and
 * its clock is before the deadline. The driver publishes it before it carries out any effect.
 */
uint64_t node_lease_word(const struct node *node);

/* --- frames --- */

/*
 * A frame from the link of a peer. `from` is its name, as the link has proved it; the bytes are not
 * needed after the call.
 *
 * 0: taken, or thrown away because its epoch is over. BATON_EAGAIN: see above; NODE_READ will come.
 * Refused for good: nothing has happened, but a frame for others may have been passed on, and the
 * good messages of a frame of several were taken: BATON_EMESSAGE (malformed), BATON_ECLUSTER (of
 * another cluster), BATON_ESENDER (its epoch is ours, but the peer is no member, no neighbour, or
 * another incarnation), BATON_ESTOPPED.
 */
int node_receive(struct node *node, const char *from, const uint8_t *bytes, size_t size,
                 uint64_t now);

/* --- sessions --- */

struct node_client {
	uint32_t pid, uid;
	const char *command; /* NULL: unknown */
};

/* A session, never 0 and never used again, or 0: the limit of sessions is reached. */
uint64_t node_session_open(struct node *node, const struct node_client *client, uint64_t now);
/* Its locks are released, its wait is withdrawn, its command gets no reply. An unknown session is
 * ignored. See node_session_lease for clients that may still believe that they hold something. */
void node_session_close(struct node *node, uint64_t session, uint64_t now);
/* The same for a client that says that it has stopped. */
void node_session_quit(struct node *node, uint64_t session, uint64_t now);

/*
 * The client of this session cannot read the lease word and asks instead, first before it asks for
 * a lock and then again and again: what is left of the lease (NODE_NEVER: there is none), and the
 * lapses. It may go on until its own clock, read before it asked, plus what was left, less what the
 * clocks may differ. If the session is closed without node_session_quit, the client may not know:
 * what it holds stays held until the last deadline that it was told, and is neither broken nor
 * evicted before. 0, BATON_ESESSION or BATON_ESTOPPED.
 */
int node_session_lease(struct node *node, uint64_t session, uint64_t now, uint64_t *ret_left_ns,
                       uint64_t *ret_lapses);

/* The client needs so long to stop when the lease ends: it is granted nothing while less than
 * that and the margin is left. 0 at first. An unknown session is ignored. */
void node_session_grace(struct node *node, uint64_t session, uint64_t grace_ns);

/*
 * When a lock is broken that this session holds, the session is told at once (NODE_LOST, the
 * event). Nobody else is let in before it has given the lock back or is closed, because it may need
 * time to stop. The driver must bound that time. An unknown session is ignored.
 */
void node_session_linger(struct node *node, uint64_t session);

/* Takes all that a session holds, as BREAK does, for another reason, whose text must stay valid.
 * True: the session lingers, and still holds something. */
bool node_session_evict(struct node *node, uint64_t session, const char *why, uint64_t now);

/* Ends its wait for a lock: the command is answered with BATON_ENOVIEW. */
void node_session_withdraw(struct node *node, uint64_t session, uint64_t now);
/* Has it lost something, and not given it back yet? */
bool node_session_losing(const struct node *node, uint64_t session);
/* The time to give back what it has lost is over: those locks go to others. True: the session
 * holds something else, which it has not lost. */
bool node_session_forfeit(struct node *node, uint64_t session, uint64_t now);

/*
 * Commands. All of them can give BATON_ESESSION (no such session), BATON_EBUSY, BATON_ESTOPPED, and
 * those with a name or pattern BATON_ENAME.
 */

enum node_patience { NODE_WAIT, NODE_TIMEOUT, NODE_NOWAIT };

/*
 * Reply: the fence (REPLY_FENCE), or REPLY_NIL: another is known to be inside or to wait for it
 * (NODE_NOWAIT: as soon as that is known; NODE_TIMEOUT: when the time is over), or REPLY_ERROR with
 * BATON_ESILENT: that cannot be known. `silent` has the names of the members that did not answer,
 * separated by spaces; none: all did, and it did not come. NODE_NOWAIT is answered within
 * NODE_NOWAIT_NS; NODE_TIMEOUT within NODE_SILENCE_NS of its end, as the others are asked then.
 * Errors: BATON_EHELD, BATON_EWAITERS, BATON_ELOCKS, BATON_ENOVIEW. A client that waits when the
 * node drops out of the view stays where it is.
 */
int node_lock(struct node *node, uint64_t session, const char *name, size_t name_size,
              enum node_patience patience, uint64_t timeout_ns, uint64_t now);

/*
 * Reply: the fence, once every member has acknowledged who leads or has left the view; or
 * REPLY_ERROR with BATON_ELOST if the lock was taken away before that. Errors: as node_lock,
 * BATON_EVALUE, BATON_ELEADERS.
 */
int node_elect(struct node *node, uint64_t session, const char *name, size_t name_size,
               const void *value, size_t value_size, uint64_t now);

/* 1, or 0 if this session does not hold the lock, or holds it with another fence (0: any). To
 * resign is the same. */
int node_unlock(struct node *node, uint64_t session, const char *name, size_t name_size,
                uint64_t fence, uint64_t now);

/*
 * Reply: REPLY_LEADER or REPLY_NIL, from what all members know that are not silent, and who is. A
 * leader whose own node is silent led when it was last heard; without a leader, one may have been
 * elected at a silent member. While a view is new and not all members have reported, the answer
 * waits for them. Error: BATON_ENOVIEW.
 */
int node_leader(struct node *node, uint64_t session, const char *name, size_t name_size,
                uint64_t now);

/*
 * Takes a lock from the client that has it with this fence, wherever it is. Reply: REPLY_NUMBER 1,
 * or 0 if nobody has it (any more); REPLY_ERROR with BATON_ESILENT if a member is silent and none
 * has it. If the view changes in between, 0 may also mean that this very command has done it.
 * Errors: BATON_EFENCE (0, or not below 2^53), BATON_ENOVIEW.
 */
int node_break(struct node *node, uint64_t session, const char *name, size_t name_size,
               uint64_t fence, uint64_t now);

/*
 * Reply: REPLY_STATUS. The pattern (NULL: all) says which locks; at most `count` of each member (0:
 * 1,000), in no particular order. Locks that nobody holds or waits for are not told. Without a view
 * the node tells what it knows alone.
 *
 * Each member tells how its clients were at one moment between question and reply; for this node
 * that is the moment of the reply. Different members tell of different moments: a lock that is
 * handed on meanwhile may be told with two holders (then the one with the greater fence is shown),
 * with one who waits and holds, or with nobody. A member that has not told everything within
 * NODE_SILENCE_NS is silent; what it told before that is shown.
 */
int node_status(struct node *node, uint64_t session, const char *pattern, size_t pattern_size,
                uint32_t count, uint64_t now);

/*
 * Events of a lock, or of all locks whose names match a pattern, as in Redis: * ? [abc] [^a-z] and
 * \. Reply: REPLY_NUMBER, how many subscriptions the session has, once every member that is not
 * silent has acknowledged it: what happens anywhere after that is told. Twice the same is once.
 * Error: BATON_ESUBSCRIPTIONS.
 */
int node_subscribe(struct node *node, uint64_t session, bool pattern, const char *text,
                   size_t text_size, uint64_t now);
/* Returns how many subscriptions are left. A text that the session is not subscribed to is
 * ignored. NULL: all of that kind. */
int node_unsubscribe(struct node *node, uint64_t session, bool pattern, const char *text,
                     size_t text_size, uint64_t now);

/*
 * The link to a member has much to send, or not any more. While it has, events are not sent by it;
 * afterwards its subscribers are told how many were dropped. Nothing else is ever dropped. A new
 * view begins with links that are not congested.
 */
void node_congested(struct node *node, uint32_t member, bool congested, uint64_t now);

/* Why a lock is lost: the first word of the reason. An operator's BREAK is followed by who it
 * was: "broken uid 0 pid 12 at n2". */
#define NODE_LOST_BROKEN "broken"
#define NODE_LOST_LEAVING "leaving"       /* its node leaves */
#define NODE_LOST_CONNECTION "connection" /* the client's connection is gone */
#define NODE_LOST_VIEW "view"             /* the node is not in the view any more */
#define NODE_LOST_LEASE "lease"           /* the node's lease has ended */
#define NODE_LOST_CONFLICT "conflict"     /* another member has it with a greater fence */

/* --- effects --- */

enum node_effect_kind {
	NODE_SEND,  /* a frame to a member, in order for each */
	NODE_REPLY, /* to the command of a session */
	NODE_EVENT, /* to a subscription of a session */
	NODE_LOST,  /* a session has lost a lock that it did not give back */
	NODE_READ,  /* links that were refused with BATON_EAGAIN may be read again */
	NODE_BUMP,  /* propose BUMP{epoch}: this epoch has come to an end of its numbers or tables;
	              said again every NODE_BUMP_NS */
	NODE_STOP,  /* the node has stopped for good, because going on could do harm: say so */
	NODE_SHOUT, /* something happened that must never happen, but the node goes on: say so, loudly */
	NODE_RENEW, /* send a renewal to all voters (outside a view: a wish to join) */
	NODE_WARN,  /* half of the lease has passed without an acknowledgement: say so */
	NODE_EXTEND, /* propose EXTEND{epoch, limit}: half of the fences below this limit are used up;
	               said again until the limit is raised */
	NODE_DEPART, /* propose LEAVE: no client here holds anything; said again until it is out */
};

enum node_reply_kind {
	REPLY_NIL,
	REPLY_FENCE,
	REPLY_NUMBER,
	REPLY_LEADER,
	REPLY_STATUS,
	REPLY_ERROR,
};

/* EVENT_DROPPED: a link, or its subscriber, was too slow, and so many events were dropped. */
enum node_event_kind { EVENT_GRANTED, EVENT_RELEASED, EVENT_LOST, EVENT_LEADER, EVENT_DROPPED };

struct node_bytes {
	const char *bytes; /* not terminated by 0 */
	size_t size;
};

/* One client, in a status. */
struct node_status_client {
	uint32_t member; /* an index into `members` */
	uint32_t pid, uid;
	struct node_bytes command; /* of the process that connected, not of what it runs */
	uint64_t since_ms;
	bool losing; /* of a holder: it was told that it lost the lock, and has not stopped yet */
};

struct node_status_lock {
	struct node_bytes name;
	uint64_t fence;                           /* of the holder; 0 without */
	const struct node_status_client *holder;  /* NULL: nobody, or its member is silent */
	const struct node_status_client *waiters; /* in order within a member */
	uint32_t waiters_count;
};

struct node_status_member {
	const char *name, *address; /* the address may be NULL */
	uint64_t incarnation;
	bool silent; /* it has not answered, or not told all: the rest is 0, or what it told */
	bool active;
	bool leased; /* it has leases; lease_ms is what is left of it */
	uint64_t lease_ms;
	uint64_t grants;
	uint64_t sent, received;      /* messages of the algorithm, as the laboratory counts them */
	const uint64_t *sent_by_type; /* [algorithm->messages_count], in the table's order */
	uint64_t control_sent;        /* other frames: touches, questions, reports, … */
};

struct node_status {
	uint64_t epoch;
	const struct node_status_member *members; /* in the order of their numbers */
	uint32_t members_count;
	uint32_t self;        /* an index into `members` */
	uint64_t takeover_ms; /* about how long after a member's death others are let in where its
	                         clients were; 0: unknown, there are no leases */
	const struct node_status_lock *locks; /* by name; see node_status_step */
	uint32_t locks_count;
	const char *waiting_for; /* node_waiting_for of the node asked */
};

/*
 * A status comes without its locks, because sorting a hundred thousand of them takes a while. Each
 * step adds some, in much less than a millisecond; false: `locks` is complete.
 *
 * A status is valid as long as the effect that has it or, if it is kept, until it is freed; it may
 * outlive the node.
 */
bool node_status_step(struct node_status *status);
void node_status_keep(struct node_status *status);
void node_status_free(struct node_status *status);

struct node_effect {
	enum node_effect_kind kind;
	union {
		struct {
			uint32_t to;    /* the member's number … */
			uint64_t epoch; /* … in this epoch's view, and the epoch of the frame */
			const uint8_t *bytes;
			size_t size;
		} send;
		struct {
			uint64_t session;
			enum node_reply_kind kind;
			uint64_t number; /* REPLY_FENCE, REPLY_NUMBER; REPLY_LEADER: the fence */
			int error;       /* REPLY_ERROR */
			struct node_bytes member, value; /* REPLY_LEADER */
			/* The members that did not answer, separated by spaces: of node_leader,
			 * and with BATON_ESILENT. */
			struct node_bytes silent;
			struct node_status *status;
			/* REPLY_FENCE: lapses so far, and what is left of the lease. */
			uint64_t lapses, left_ns;
		} reply;
		struct {
			uint64_t session;
			struct node_bytes pattern; /* bytes NULL: subscribed to by name */
			struct node_bytes name;    /* EVENT_DROPPED: what is subscribed to */
			enum node_event_kind kind;
			uint64_t fence;           /* EVENT_DROPPED: how many */
			struct node_bytes member; /* where */
			struct node_bytes value;  /* EVENT_LEADER; EVENT_LOST: why */
		} event;
		struct {
			uint64_t session;
			struct node_bytes name;
			uint64_t fence;
			struct node_bytes why; /* NODE_LOST_… and perhaps more words */
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
			uint64_t taken; /* the lease will last until this plus lease_ns */
		} renew;
		struct {
			uint64_t left_ns;
		} warn;
		struct {
			uint64_t epoch, limit;
		} extend;
	};
};

/* The oldest effect that has not been taken; false if there is none. */
bool node_effect(struct node *node, struct node_effect *ret_effect);

/* --- for tests and measurement --- */

/* Is a token of the lock here: at rest, in use, or as a message that rests here? Always false for
 * an algorithm without one. */
bool node_has_token(struct node *node, const char *name, size_t name_size);

/* The member that has the token of an untouched lock, by its number; 0 without a view. */
uint32_t node_home(const struct node *node, const char *name, size_t name_size);

struct node_figures {
	uint64_t locks;      /* that the node knows */
	uint64_t lock_bytes; /* of memory for them, tables included */
	uint64_t backlog_bytes;
	uint64_t grants;
	uint64_t sent, received, control_sent, control_received;
	uint64_t malformed; /* messages refused by the algorithm after they had waited */
	uint64_t sent_by_type[NODE_TYPES_MAX];
};

void node_figures(const struct node *node, struct node_figures *ret_figures);

#endif
