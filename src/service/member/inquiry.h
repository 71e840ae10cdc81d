/*
 * Inquiries: questions to the voters about invitations, and orders of operators. Only voters know
 * what was agreed, and only their leader can change it. So a member asks all voters, repeatedly,
 * until it has the answer that it needs or the time is over. A question may carry an entry (INVITE,
 * ADMIT or an order), which the leader proposes if it would change something. Voters answer only
 * from what is committed, so an answer stays true under later leaders.
 *
 * A question may arrive late, when its answer is long known and an operator has ordered the
 * opposite. It then changes nothing: an order has the id of its inquiry, and the voters remember
 * which orders they have obeyed (state_obeyed). For the same reason the answer "obeyed" cannot come
 * from a voter that lags and knows only an earlier order to the same effect.
 */
#ifndef MEMBER_INQUIRY_H
#define MEMBER_INQUIRY_H

#include "post.h"
#include "warden.h"

struct visit;

struct inquiry {
	LIST_ENTRY(inquiry) all;
	struct member *member;
	uint64_t number;     /* the number of the inquiry in this process */
	struct visit *visit; /* the guest for whom the voters are asked; NULL: an operator asks */
	struct entry_digest secret;
	/* The name that a guest wants, or that an order is about; "": none. */
	char name[ENTRY_NAME_MAX + 1];
	/* The bytes of the entry that the leader should propose. */
	uint8_t entry[ENTRY_NAME_MAX + 128];
	size_t entry_size; /* the size of the entry; 0: the leader should propose nothing */
	/* When the leader first refused to propose the entry; 0: it has not. */
	uint64_t refused_since;
	uint64_t ask_at; /* when the voters are asked again */
	uint64_t until;
};

LIST_HEAD(inquiries, inquiry);

/* A voter's answer: what it knows about the entry in the question, the invitation and the name. */
struct inquiry_answer {
	uint64_t number;      /* the number of the inquiry, as in the question */
	bool leads;           /* this voter leads */
	bool done;            /* INVITE: the invitation is made; an order: it was obeyed */
	enum refusal refusal; /* why this voter, which leads, does not propose the entry */
	bool known;           /* the voter knows the invitation */
	uint64_t expiry;      /* when the invitation expires, in seconds since 1970 */
	/* the name of the node that has used the invitation; "": none */
	char user[ENTRY_NAME_MAX + 1];
	struct entry_digest ticket; /* the ticket of the node that has used the invitation */
	bool taken;                 /* a member has the name */
	bool forbidden;             /* an operator has removed the name */
};

/* Begins an inquiry. The caller may then set the entry that the leader should propose. */
struct inquiry *inquiry_begin(struct member *member, struct visit *visit,
                              const struct entry_digest *secret, const char *name);
void inquiry_end(struct inquiry *inquiry);
/* Repeats the questions that are due. Returns when the next one is due. */
uint64_t inquiries_tick(struct member *member);
void inquiries_free(struct member *member);

/* How long a new leader may lack what was agreed before it led. Until then, its refusals may be
 * wrong. */
#define INQUIRY_LEADER_LAGS_NS (UINT64_C(300) * 1000000)

/* inquiry_asked takes a question of another node, inquiry_answered an answer. They return false if
 * the bytes are malformed. The answer of a node that does not vote changes nothing. */
bool inquiry_asked(struct member *member, const struct post *post, const uint8_t *bytes,
                   size_t size);
bool inquiry_answered(struct member *member, bool believed, const uint8_t *bytes, size_t size);

/* The parts of a question, as bytes. The entry points into the bytes. */
struct inquiry_question {
	uint64_t number;
	struct entry_digest secret;
	char name[ENTRY_NAME_MAX + 1];
	const uint8_t *entry;
	size_t entry_size;
};
bool inquiry_question_read(const uint8_t *bytes, size_t size,
                           struct inquiry_question *ret_question);
bool inquiry_answer_read(const uint8_t *bytes, size_t size, struct inquiry_answer *ret_answer);
/* Clears `out` first. */
void inquiry_answer_write(struct out *out, const struct inquiry_answer *answer);

#endif
