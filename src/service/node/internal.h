/*
 * What the files of the node share: its parts, and the functions that one file has for the others.
 *
 *	node.c      creation, time, sessions        lock.c    one lock: queue, steps, grants
 *	table.c     the locks by name               road.c    tokens that circulate
 *	pool.c      the memory of locks             state.c   the states of algorithms at rest
 *	outbox.c    effects, and frames on their way out
 *	receive.c   frames that come in             view.c    views, reports, closed locks
 *	ask.c       questions to all members        leader.c  elections
 *	status.c, status_merge.c    STATUS          events.c  subscriptions and events
 *	stream.c    the events of a name in order   timers.c  deadlines of sessions
 */
#ifndef NODE_INTERNAL_H
#define NODE_INTERNAL_H

#include "network.h"
#include "node.h"

struct lock;
struct live;
struct road;
struct session;
struct interest;
struct stream;
struct publication;

/* A piece of text or bytes that belongs to somebody else. */
struct slice {
	const uint8_t *bytes;
	uint32_t size;
};

/* --- one lock --- */

/* Of the algorithm: before `init` there is no state; INSIDE also with no client inside. */
enum phase { PHASE_NONE, PHASE_IDLE, PHASE_WAITING, PHASE_INSIDE };

/*
 * A lock that this node knows in this epoch. There may be millions, so that it is small; behind it
 * lie a pointer to the road (circulating algorithms only) and the name.
 */
struct lock {
	uint64_t counter;  /* the Lamport clock: the last grant that this node knows of */
	struct live *live; /* NULL: no client here, and open */
	uint8_t *packed;   /* the algorithm's state (state.c); NULL: all zeros */
	uint32_t hash;     /* of the name, the lower half */
	uint16_t home;
	uint8_t phase;
	uint8_t name_size;
};

_Static_assert(NODE_MEMBERS_MAX <= UINT16_MAX, "a home has 16 bits");

/* A message of the algorithm that has arrived. */
struct letter {
	uint64_t counter; /* of the sender's lock */
	enum side side;   /* by which it left the sender */
	uint32_t size;
	const uint8_t *body;
};

/* One that waits. */
struct parcel {
	struct parcel *next;
	uint64_t counter;
	uint32_t size;
	uint8_t side;
	uint8_t body[];
};

static inline struct letter parcel_letter(const struct parcel *parcel)
{
	return (struct letter){parcel->counter, (enum side)parcel->side, parcel->size,
	                       parcel->body};
}

/* A PROBE of another member that came while only clients with NOWAIT waited here: the first that is
 * let in makes the lock busy. */
struct probe {
	struct probe *next;
	uint64_t question;
	uint32_t origin;
};

/* The part of a lock that exists while clients hold it or wait for it, or while it is closed. */
struct live {
	struct lock *lock;
	struct live *previous, *next; /* of all */
	struct session *holder;       /* the client inside, or NULL */
	struct live *hold_previous, *hold_next;
	uint64_t fence, since; /* of the holder */
	uint8_t *value;        /* what the holder publishes as a leader, or NULL */
	uint32_t value_size;
	bool lost;                    /* the holder was told so, and is given time to stop */
	bool carried;                 /* the grant is from an older epoch: a RETURN will end it */
	bool touched;                 /* a TOUCH came while it was closed */
	struct session *first, *last; /* who waits */
	uint32_t waiters_count;       /* … */
	uint32_t firm_count;          /* … of them those that did not say NOWAIT */
	uint32_t turns;     /* local clients that have gone since the algorithm let us in */
	uint32_t closed_by; /* the member whose RETURN will open it; 0: open */
	struct parcel *pending, **end; /* messages that wait for the lock to open */
	struct probe *probes;
	uint32_t probes_count;
};

/* --- sessions --- */

enum command {
	COMMAND_NONE,
	COMMAND_LOCK,
	COMMAND_ELECT,
	COMMAND_LEADER,
	COMMAND_BREAK,
	COMMAND_STATUS,
	COMMAND_SUBSCRIBE,
};

/* What a member has told about a lock's leader, the best of it. */
struct claim {
	uint64_t fence; /* 0: none */
	uint32_t member;
	uint8_t *value;
	uint32_t value_size;
};

/* A question to all members: whose answers are missing, and what is known so far. */
struct question {
	uint64_t number;   /* of the question under way; 0: none */
	uint64_t *missing; /* a bit for each member, or NULL */
	uint32_t missing_count;
	uint8_t name_size;
	char name[NODE_NAME_MAX]; /* of the lock, or a pattern */
	uint64_t fence;           /* BREAK */
	bool done;                /* BREAK: somebody had it */
	uint32_t count;           /* STATUS: how many locks of a member */
	bool pattern;             /* SUBSCRIBE */
	struct claim own, stored; /* LEADER: what the leader itself says, what others remember */
	struct answer *answers;   /* STATUS */
};

/* Has this member not answered yet? */
static inline bool question_missing(const struct question *question, uint32_t member)
{
	return question->missing != NULL &&
	       (question->missing[member / 64] >> member % 64 & 1) != 0;
}

struct session {
	uint64_t id;
	uint32_t pid, uid;
	char *command_line;
	enum command command; /* under way */
	enum node_patience patience;
	bool asks_last; /* its time is over: all are asked once more whether the lock is busy */
	uint64_t since; /* when it began to wait */
	struct live *waits;
	struct session *queue_previous, *queue_next;
	struct live *holds;
	bool lingers;      /* see node_session_linger */
	uint64_t deadline; /* NODE_NEVER: none */
	uint32_t timer;    /* place in the heap, from 1; 0: not there */
	uint8_t *value;    /* of an ELECT that waits, or NULL */
	uint32_t value_size;
	struct question question;
	struct interest *subscriptions;
	uint32_t subscriptions_count;
};

struct session_slot {
	struct session *session; /* NULL: free */
	uint32_t generation;
	uint32_t free_next;
};

/* --- the view --- */

struct member {
	char *name, *address;
	uint64_t incarnation;
	uint64_t hash;       /* of the name, for homes */
	uint32_t route;      /* the neighbour by which it is reached */
	uint32_t backlog;    /* frames of it in the backlog that are of this epoch */
	uint64_t flood_seen; /* the last number of its floods */
	uint64_t stamp;      /* of the last event sent to it */
	bool linked, reported;
	bool congested;          /* its link: events do not go by it */
	uint64_t events_dropped; /* for it, and it has not been told */
};

/* A RETURN that came before the REPORT that it answers to. */
struct returned {
	struct returned *next;
	uint32_t member;
	uint8_t name_size;
	char name[];
};

struct view {
	uint32_t count, self; /* 0: no view */
	struct member *members;
	struct network network;
	struct site site;       /* of this node; holder and toward are those of one lock */
	const uint32_t *toward; /* in a tree: the neighbour on the path to each holder */
	void *memory, *shared;
	bool complete; /* every pair is linked */
	bool starts;   /* the holder's `init` sends: a lock must be touched at home to work */
	bool active;
	char *unsuitable;
	uint32_t reported_count, closed_count;
	uint64_t flood_number;
	struct returned *returned;
	size_t state_size;
};

/* A frame that waits. */
struct waiting_frame {
	struct waiting_frame *next;
	size_t bytes_all; /* of this */
	uint32_t size;
	uint8_t bytes[]; /* the frame, then the peer's name, which ends with 0 */
};

struct backlog {
	struct waiting_frame *first, **end;
	size_t bytes;      /* of these and of messages for closed locks */
	bool refused;      /* a link is not being read because of us … */
	size_t refused_at; /* … since there were so many bytes */
	bool again;        /* what waits may have become possible */
};

/* --- effects on their way out --- */

struct span {
	uint32_t offset, size;
};

struct record {
	enum node_effect_kind kind;
	enum node_reply_kind reply;
	enum node_event_kind event;
	uint32_t to;
	int error;
	bool named;       /* EVENT: subscribed to by name, not by pattern */
	bool appendable;  /* SEND: a frame of messages that only this record uses */
	uint64_t session; /* SEND, BUMP: the epoch */
	uint64_t number;
	struct span a, b, c, d;
	struct status *status;
};

struct outbox {
	struct record *records;
	size_t records_count, records_size, taken;
	uint8_t *bytes;
	size_t bytes_count, bytes_size;
	size_t frame; /* where the frame begun last starts */
	bool single;  /* it has the message sent last and no other */
};

/* --- tables --- */

struct table {
	uint32_t *tags; /* 32 bits of the hash, so that a search seldom looks at a lock */
	struct lock **locks;
	uint32_t size, count; /* the size is a power of two, or 0 */
};

/* Pieces of whole words of 8 bytes, all of which go at once. */
struct pool {
	struct chunk *chunks;
	uint64_t *next;
	size_t left;       /* words behind `next` */
	size_t bytes;      /* of all chunks */
	void **free;       /* pieces that were given back, by their size in words … */
	size_t free_sizes; /* … which is below this */
};

/* The state of the lock that was looked at last, as its algorithm knows it. */
struct opened {
	struct lock *lock; /* NULL: none */
	uint8_t *state;
	uint8_t *packed; /* room for it, packed */
	size_t size;     /* of the state, in whole words */
};

/* Chained by the hash of the text; patterns in a list of their own. */
struct interests {
	struct interest **buckets;
	uint32_t buckets_count;
	struct interest *patterns;
	uint32_t count, local_count;
};

struct streams {
	struct stream **buckets;
	uint32_t count;
	struct stream *oldest, *newest; /* by last use */
	struct stream *due, *due_last;  /* that hold something back, by deadline */
};

struct publications {
	struct publication **buckets;
	uint32_t buckets_count, count;
};

struct node {
	char *name;
	uint64_t incarnation, cluster, seed, idle_hop;
	const struct algorithm *algorithm;
	char *topology_text;
	struct topology topology;
	uint64_t parameters[PARAMETERS_MAX];
	char *texts[PARAMETERS_MAX];
	uint32_t turns;
	struct node_limits limits;

	uint64_t now;
	uint64_t epoch;             /* the greatest seen */
	uint64_t floor, floor_next; /* where counters begin, in this epoch and in the next */
	bool stopped;
	struct view view;
	char *waiting_text;

	struct table table;
	struct pool pool;
	struct opened opened;
	size_t name_offset; /* in a lock */
	struct live *lives, *lives_last, *lives_free;
	struct live_chunk *live_chunks;

	struct session_slot *slots;
	size_t slots_size;
	uint32_t slots_count, slot_free, sessions_count;
	struct session **timers; /* a heap, from 1 */
	size_t timers_size;
	uint32_t timers_count;
	uint64_t question_serial;
	uint32_t leaders_count; /* sessions that lead or campaign */

	struct lock **due; /* whose messages go on at hop_deadline */
	size_t due_count, due_size;
	uint64_t hop_deadline;
	uint8_t *moving; /* the message that goes on now */
	size_t moving_size;
	uint64_t bump_deadline; /* when BUMP is proposed; NODE_NEVER: the epoch may go on */
	uint64_t bump_earliest; /* … in any epoch */

	struct interests interests;
	struct streams streams;
	struct publications publications;
	uint64_t stamp;

	struct backlog backlog;
	struct out out; /* of the algorithm's last step */
	struct outbox outbox;
	struct node_figures figures;
};

/* --- node.c --- */

/* What is due by `now`, before anything else; every call begins with it. */
void advance(struct node *node, uint64_t now);
/* What every call ends with: links are read again when there is room. */
void finish(struct node *node);
/* Going on could do harm: nothing is granted, sent or answered any more. */
void stop(struct node *node, const char *why);
/* Proposes that the epoch end, until it does. */
void bump(struct node *node);
/* What every command begins with: the session if it may give one, or NULL and the error. */
struct session *command_begin(struct node *node, uint64_t id, uint64_t now, int *ret_error);
/* The same for one that needs a name. */
struct session *command_begin_named(struct node *node, uint64_t id, const char *name,
                                    size_t name_size, uint64_t now, int *ret_error);
/* The command under way is over. */
void session_reply(struct node *node, struct session *session, enum node_reply_kind kind,
                   uint64_t number);
void session_fail(struct node *node, struct session *session, int error);
bool name_is_good(const void *name, size_t size);

/* --- table.c --- */

uint64_t name_hash(const void *name, size_t size);
uint32_t name_home(const struct view *view, uint64_t hash);
struct lock *lock_find(const struct node *node, const void *name, uint32_t size, uint64_t hash);
/* A lock that is not there yet. The limit is the caller's to ask (table_has_room). */
struct lock *lock_make(struct node *node, const void *name, uint32_t size, uint64_t hash);
struct lock *lock_get(struct node *node, const void *name, uint32_t size, uint64_t hash);
void lock_drop(struct node *node, struct lock *lock);
struct live *lock_live(struct node *node, struct lock *lock);
void live_drop(struct node *node, struct live *live);
/* Everything anew: locks with a live part stay, and have no state. */
void table_renew(struct node *node);
void table_free(struct node *node);
size_t table_bytes(const struct node *node);

static inline bool table_has_room(const struct node *node, uint32_t count)
{
	/* What others hold is known whatever the limit says. */
	return node->table.count <= node->limits.locks &&
	       node->limits.locks - node->table.count >= count;
}

static inline struct slice lock_name(const struct node *node, const struct lock *lock)
{
	return (struct slice){(const uint8_t *)lock + node->name_offset, lock->name_size};
}

/* --- pool.c --- */

void *pool_take(struct pool *pool, size_t words);
void pool_give(struct pool *pool, void *piece, size_t words);
void pool_free(struct pool *pool);

static inline size_t words_of(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* --- state.c --- */

/* The algorithm's state; until it is asked for that of another lock. */
void *lock_state(struct node *node, struct lock *lock);
void state_drop(struct node *node, struct lock *lock);
/* No state is known any more; those to come have the view's size. */
void states_renew(struct node *node);

/* --- lock.c --- */

/* What the algorithm knows of this node in this lock; until it is asked for another lock. */
const struct site *lock_site(struct node *node, const struct lock *lock);
/* A message of the algorithm, at a lock that is open, in an active view; 0 or BATON_EMESSAGE. */
int lock_message(struct node *node, struct lock *lock, const struct letter *letter);
/* The algorithm takes a message, now. */
int lock_deliver(struct node *node, struct lock *lock, const struct letter *letter);
void lock_touch(struct node *node, struct lock *lock);
/* Does what can be done now: grants, leaves, asks; then forgets what is not needed. */
void lock_settle(struct node *node, struct lock *lock);
void lock_open(struct node *node, struct live *live);
/* A client that waits does so no more; nothing is told. */
void live_withdraw(struct node *node, struct session *session);
/* A client is inside no more. */
void live_release(struct node *node, struct live *live);
/* The same, through no deed of the client's, who is told, and why. */
void live_lose(struct node *node, struct live *live, const char *why);
/* The same by an operator: who lingers is inside until it has stopped. */
void live_break(struct node *node, struct live *live, const char *why);
/* The time of a session that waits is over: is the lock busy? */
void live_expire(struct node *node, struct session *session);
struct parcel *parcel_make(const struct letter *letter);

/* --- road.c --- */

/* A message arrives and rests. */
void road_add(struct node *node, struct lock *lock, const struct letter *letter);
/* What rests here goes on at once, as long as somebody here waits for it (or all of it). */
void road_move(struct node *node, struct lock *lock, bool all);
/* Somebody waits somewhere: at home nothing is parked. */
void road_touch(struct node *node, struct lock *lock);
/* Will the token pass by here once more, whatever the home does? */
bool road_is_fresh(const struct node *node, struct lock *lock);
void road_hop(struct node *node);
bool road_rests(const struct node *node, struct lock *lock);

/* --- outbox.c --- */

void outbox_free(struct outbox *outbox);
void outbox_clear_taken(struct outbox *outbox);
struct span outbox_keep(struct outbox *outbox, const void *bytes, size_t size);
struct record *outbox_record(struct outbox *outbox, enum node_effect_kind kind);
/* One message of the algorithm, as an effect of its step says it; `same`: the one sent last, to
 * another. */
void send_message(struct node *node, const struct lock *lock, const struct effect *effect,
                  bool same);

/* A control frame: begun, filled, sent. To a member, or to all (0). */
void control_begin(struct node *node, uint8_t kind, uint32_t destination);
void put_byte(struct node *node, uint8_t byte);
void put_uint(struct node *node, uint64_t value);
void put_name(struct node *node, const void *name, size_t size);
void put_text(struct node *node, const void *text, size_t size);
size_t control_size(const struct node *node);
void control_end(struct node *node, uint32_t destination);

/* --- receive.c --- */

/* Frames that waited, again, in the order of their arrival. */
void backlog_replay(struct node *node);
void backlog_free(struct backlog *backlog);

/* --- view.c --- */

void view_free(struct view *view);
uint64_t view_fence(const struct node *node, uint64_t counter);
void send_return(struct node *node, const struct live *live);

/* --- ask.c --- */

/* Asks all other members what the session's command says; it may be answered by then. */
void ask(struct node *node, struct session *session);
/* The same question to the members of a new view. */
void ask_again(struct node *node);
void ask_probe(struct node *node, struct session *session);
/* The names of the members that have not answered, with blanks between. */
struct span ask_keep_silent(struct node *node, const struct question *question);
/* The wait is over, and it cannot be known whether the lock is busy. */
void ask_give_up(struct node *node, struct session *session);
/* Those who asked whether the lock is busy are told that it is. */
void probes_answer(struct node *node, struct live *live);
void probes_forget(struct live *live);
/* All have answered, or the time is over. */
void ask_finish(struct node *node, struct session *session);
void ask_forget(struct session *session);
/* The session whose question it is, or NULL; the member's answer is there. */
struct session *ask_answered(struct node *node, uint64_t number, uint32_t member, bool last);
/* To a question that wants to know only that it was heard; 0: to none. */
void answer_heard(struct node *node, uint64_t question, uint32_t to);

/* --- leader.c --- */

void leader_publish(struct node *node, const struct live *live, uint64_t question);
void leader_ended(struct node *node, struct live *live);
void leader_reply(struct node *node, struct session *session);
void publications_clear(struct publications *publications);

/* --- status.c, status_merge.c --- */

void status_reply(struct node *node, struct session *session);
void status_forget(struct question *question);
/* The outbox has no more use for it; a driver may keep it. */
void status_free(struct status *status);
struct node_status *status_view(struct status *status);

/* --- events.c --- */

void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value);
/* A subscription; false at the limit. */
bool interest_add(struct node *node, struct session *session, bool pattern, struct slice text);
/* All that is subscribed to here, to the members of a new view. */
void interests_send(struct node *node);
void interests_clear_remote(struct node *node);
void interests_forget(struct node *node, struct session *session);
void interests_free(struct interests *interests);
bool glob_matches(struct slice pattern, struct slice text);
/* May an event for that member be sent now? If not, it is counted as dropped. */
bool event_may_go(struct node *node, uint32_t destination);

/* An event of any member, for the subscriptions here. */
struct happening {
	enum node_event_kind kind;
	struct slice name, member, value;
	uint64_t fence;
};
void event_deliver(struct node *node, const struct happening *happening);

/* --- stream.c --- */

void stream_take(struct node *node, const struct happening *happening);
/* A lock that was closed is open: what waited for that is told. */
void stream_opened(struct node *node, struct slice name);
void stream_expire(struct node *node);
uint64_t stream_deadline(const struct node *node);
/* What was under way in the old epoch is lost: nothing is held back for it. */
void streams_flush(struct node *node);
void streams_clear(struct streams *streams);

/* --- timers.c --- */

void timer_set(struct node *node, struct session *session, uint64_t deadline);
void timer_clear(struct node *node, struct session *session);

#endif
