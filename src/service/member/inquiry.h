/*
 * Inquiries about an invitation. Only voters know invitations, and only their leader can change
 * something. So a member asks all voters, again and again, until the answer that it waits for has
 * come or the time is over. A question may have an entry with it, INVITE or ADMIT, which the leader
 * proposes if it would change something. What a voter answers has been committed, so it stays true,
 * whoever leads.
 */
#ifndef MEMBER_INQUIRY_H
#define MEMBER_INQUIRY_H

#include "post.h"
#include "state.h"

struct visit;

struct inquiry {
	LIST_ENTRY(inquiry) all;
	struct member *member;
	uint64_t number; /* the number of the inquiry in this process */
	struct visit
	        *visit; /* the guest that wants to know; NULL: an operator makes an invitation */
	struct entry_digest secret;
	char name[ENTRY_NAME_MAX + 1];       /* the name that the guest wants; "": none */
	uint8_t entry[ENTRY_NAME_MAX + 128]; /* what the leader should propose */
	size_t entry_size;                   /* 0: nothing */
	uint64_t ask_at;                     /* when the voters are asked again */
	uint64_t until;
};

LIST_HEAD(inquiries, inquiry);

/* A voter's knowledge of an invitation and of a name. */
struct inquiry_answer {
	uint64_t number;               /* the number in the question */
	bool leads;                    /* this voter leads */
	bool known;                    /* there is such an invitation */
	uint64_t expiry;               /* when it ends, in seconds since 1970 */
	char user[ENTRY_NAME_MAX + 1]; /* the name that has used it; "": none */
	struct entry_digest ticket;    /* the ticket of that node */
	bool taken;                    /* a member has the name */
	bool forbidden;                /* an operator has removed the name */
};

/* The caller fills in what it wants to be proposed, if anything. */
struct inquiry *inquiry_begin(struct member *member, struct visit *visit,
                              const struct entry_digest *secret, const char *name);
void inquiry_end(struct inquiry *inquiry);
/* Asks what is due. Returns when the next thing is due. */
uint64_t inquiries_tick(struct member *member);
void inquiries_free(struct member *member);

/* Take a question, and an answer, of another node. They return false if it is malformed. */
bool inquiry_asked(struct member *member, const struct post *post, const uint8_t *bytes,
                   size_t size);
bool inquiry_answered(struct member *member, const uint8_t *bytes, size_t size);

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
