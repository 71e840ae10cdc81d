/*
 * Inquiries about an invitation. Only voters know invitations, and only their leader can change
 * one. So a member asks all voters, repeatedly, until it has the answer that it needs or the time
 * is over. A question may carry an entry, INVITE or ADMIT; the leader proposes it if it would
 * change something. Voters answer only from what is committed, so an answer stays true under later
 * leaders.
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
	        /* the guest for whom the voters are asked; NULL: an operator makes an invitation */
	        *visit;
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
	uint64_t number; /* the number in the question */
	bool leads;      /* this voter leads */
	bool known;      /* the voter knows the invitation */
	uint64_t expiry; /* when the invitation expires, in seconds since 1970 */
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

/* inquiry_asked takes a question of another node, inquiry_answered an answer. They return false if
 * it is malformed. An answer that is not believed changes nothing: its sender does not vote. */
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
