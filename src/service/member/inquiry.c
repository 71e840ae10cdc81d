#include "inquiry.h"

#include "door.h"
#include "member_state.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum {
	ASK_MS = 100,      /* the time from one question to the next */
	INQUIRY_MS = 3000, /* how long answers to a question without an order are waited for */
	/* How long answers to an order are waited for: long enough for the voters to elect a
	 * leader. */
	ORDER_MS = 10000,
};

/* --- encoding --- */

static void get_text(struct in *in, char *room)
{
	struct entry_text text = entry_get_text(in, 0, ENTRY_NAME_MAX);

	if (in->bad)
		return;
	memcpy(room, text.bytes, text.size);
	room[text.size] = '\0';
}

static void write_question(struct out *out, const struct inquiry *inquiry)
{
	out_clear(out);
	out_uint(out, inquiry->number);
	entry_put_digest(out, &inquiry->secret);
	entry_put_text(out, entry_text_of(inquiry->name));
	out_need(out, (uint32_t)inquiry->entry_size);
	memcpy(out->bytes + out->bytes_count, inquiry->entry, inquiry->entry_size);
	out->bytes_count += (uint32_t)inquiry->entry_size;
}

bool inquiry_question_read(const uint8_t *bytes, size_t size, struct inquiry_question *ret_question)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct inquiry_question question = {.number = in_uint(&in),
	                                    .secret = entry_get_digest(&in)};

	get_text(&in, question.name);
	question.entry = in.next;
	question.entry_size = in.bad ? 0 : (size_t)(in.end - in.next);
	*ret_question = question;
	return !in.bad;
}

void inquiry_answer_write(struct out *out, const struct inquiry_answer *answer)
{
	out_clear(out);
	out_uint(out, answer->number);
	out_uint(out, answer->leads);
	out_uint(out, answer->done);
	out_uint(out, answer->refusal);
	out_uint(out, answer->taken);
	out_uint(out, answer->forbidden);
	out_uint(out, answer->known);
	out_uint(out, answer->expiry);
	entry_put_text(out, entry_text_of(answer->user));
	entry_put_digest(out, &answer->ticket);
}

bool inquiry_answer_read(const uint8_t *bytes, size_t size, struct inquiry_answer *ret_answer)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct inquiry_answer answer = {0};

	answer.number = in_uint(&in);
	answer.leads = in_range(&in, 0, 1) == 1;
	answer.done = in_range(&in, 0, 1) == 1;
	answer.refusal = (enum refusal)in_range(&in, REFUSAL_NONE, REFUSAL_ROOM);
	answer.taken = in_range(&in, 0, 1) == 1;
	answer.forbidden = in_range(&in, 0, 1) == 1;
	answer.known = in_range(&in, 0, 1) == 1;
	answer.expiry = in_uint(&in);
	get_text(&in, answer.user);
	answer.ticket = entry_get_digest(&in);
	if (!in_end(&in))
		return false;
	*ret_answer = answer;
	return true;
}

/* --- the voter's side --- */

/* May a process ask for this entry in an inquiry with this number? The id of an order must be that
 * of its inquiry, so that nobody can use up the id of another's order. */
static bool may_ask_for(const struct log_entry *entry, uint64_t process, uint64_t number)
{
	if (entry_is_order(entry))
		return entry->order.process == process && entry->order.number == number;
	return entry->kind == ENTRY_INVITE || entry->kind == ENTRY_ADMIT;
}

/* Answers a question of a process. Returns false if the entry is malformed. */
static bool look(struct member *member, uint64_t process, const struct inquiry_question *question,
                 struct inquiry_answer *ret_answer)
{
	const struct agreed_state *state = voter_state(member->voter);
	const struct invitation *found = invitations_find(&state->invitations, &question->secret);
	struct entry_text name = entry_text_of(question->name);
	enum refusal refusal = REFUSAL_NONE;
	struct log_entry entry;
	bool done = false;

	if (question->entry_size > 0) {
		if (!entry_read(question->entry, question->entry_size, &entry) ||
		    !may_ask_for(&entry, process, question->number))
			return false;
		member->voter_busy = true;
		refusal = voter_request(member->voter, &entry, member->now);
		done = entry_is_order(&entry) ? state_obeyed(state, entry.order) : found != NULL;
	}
	*ret_answer = (struct inquiry_answer){.number = question->number,
	                                      .leads = voter_leads(member->voter),
	                                      .done = done,
	                                      .refusal = refusal,
	                                      .known = found != NULL,
	                                      .taken = state_seat(state, name) != NULL,
	                                      .forbidden = state_forbids(state, name)};
	if (found == NULL)
		return true;
	ret_answer->expiry = found->expiry;
	ret_answer->ticket = found->ticket;
	memcpy(ret_answer->user, found->user, sizeof(found->user));
	return true;
}

bool inquiry_asked(struct member *member, const struct post *post, const uint8_t *bytes,
                   size_t size)
{
	struct inquiry_question question;
	struct inquiry_answer answer;

	if (!inquiry_question_read(bytes, size, &question))
		return false;
	if (member->voter == NULL)
		return true;
	if (!look(member, post->call.process, &question, &answer))
		return false;
	/* Not an offence: the operator may have mistyped the name. The log line leaves out the
	 * name; otherwise a member that invents names could fill the log. */
	if (answer.refusal != REFUSAL_NONE) {
		char line[256];
		snprintf(line, sizeof(line), "its order is refused: %s",
		         refusal_text(answer.refusal));
		member_complain(member, post->call.name,
		                post->dialled ? post->address : post->connection->from, line);
	}
	inquiry_answer_write(&member->out, &answer);
	post_to_process(member, post->call.process, PACKET_ANSWER, member->out.bytes,
	                member->out.bytes_count);
	return true;
}

/* --- the side that asks --- */

struct inquiry *inquiry_begin(struct member *member, struct visit *visit,
                              const struct entry_digest *secret, const char *name)
{
	struct inquiry *inquiry = calloc(1, sizeof(*inquiry));

	memory_must(inquiry != NULL);
	inquiry->member = member;
	inquiry->number = ++member->inquiries_count;
	inquiry->visit = visit;
	inquiry->secret = *secret;
	memcpy(inquiry->name, name, strlen(name) + 1);
	inquiry->ask_at = member->now;
	inquiry->until = member->now + INQUIRY_MS * MS;
	LIST_INSERT_HEAD(&member->inquiries, inquiry, all);
	member_due(member, member->now);
	return inquiry;
}

void inquiry_end(struct inquiry *inquiry)
{
	LIST_REMOVE(inquiry, all);
	free(inquiry);
}

static void tell_operator(struct inquiry *inquiry, bool done, enum refusal refusal)
{
	struct outcome *outcome = outcome_add(inquiry->member, MEMBER_ANSWERED, 0);

	outcome->effect.answered.number = inquiry->number;
	outcome->effect.answered.done = done;
	outcome->effect.answered.refusal = refusal;
	inquiry_end(inquiry);
}

/* Handles the leader's refusal. It counts only if the leader still refuses after a while. */
static void told_refused(struct inquiry *inquiry, enum refusal refusal)
{
	uint64_t now = inquiry->member->now;

	if (inquiry->refused_since == 0)
		inquiry->refused_since = now;
	if (now >= inquiry->refused_since + INQUIRY_LEADER_LAGS_NS)
		tell_operator(inquiry, false, refusal);
}

static void take_answer(struct inquiry *inquiry, const struct inquiry_answer *answer)
{
	if (inquiry->visit != NULL)
		door_told(inquiry->visit, answer);
	else if (answer->done)
		tell_operator(inquiry, true, REFUSAL_NONE);
	else if (answer->refusal != REFUSAL_NONE)
		told_refused(inquiry, answer->refusal);
}

bool inquiry_answered(struct member *member, bool believed, const uint8_t *bytes, size_t size)
{
	struct inquiry_answer answer;
	struct inquiry *inquiry;

	if (!inquiry_answer_read(bytes, size, &answer))
		return false;
	LIST_FOREACH (inquiry, &member->inquiries, all) {
		if (inquiry->number != answer.number || !believed)
			continue;
		take_answer(inquiry, &answer);
		break;
	}
	return true;
}

static void ask(struct inquiry *inquiry)
{
	struct member *member = inquiry->member;
	struct inquiry_question question = {.number = inquiry->number,
	                                    .secret = inquiry->secret,
	                                    .entry = inquiry->entry,
	                                    .entry_size = inquiry->entry_size};
	struct inquiry_answer answer;

	inquiry->ask_at = member->now + ASK_MS * MS;
	write_question(&member->out, inquiry);
	member_ask_voters(member, PACKET_QUESTION, member->out.bytes, member->out.bytes_count);
	memcpy(question.name, inquiry->name, sizeof(question.name));
	if (member->voter != NULL && look(member, member->process, &question, &answer))
		take_answer(inquiry, &answer); /* this may end the inquiry */
}

uint64_t inquiries_tick(struct member *member)
{
	uint64_t next = NODE_NEVER;
	struct inquiry *inquiry, *after;

	for (inquiry = LIST_FIRST(&member->inquiries); inquiry != NULL; inquiry = after) {
		after = LIST_NEXT(inquiry, all);
		if (inquiry->until <= member->now) {
			if (inquiry->visit != NULL)
				door_not_told(inquiry->visit);
			else
				tell_operator(inquiry, false, REFUSAL_NONE);
		} else if (inquiry->ask_at <= member->now) {
			ask(inquiry);
		}
	}
	LIST_FOREACH (inquiry, &member->inquiries, all) {
		uint64_t due = inquiry->ask_at < inquiry->until ? inquiry->ask_at : inquiry->until;
		next = due < next ? due : next;
	}
	return next;
}

void inquiries_free(struct member *member)
{
	while (!LIST_EMPTY(&member->inquiries))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE moves the head. */
		inquiry_end(LIST_FIRST(&member->inquiries));
}

static void carry(struct inquiry *inquiry, const struct out *entry)
{
	must(entry->bytes_count <= sizeof(inquiry->entry));
	inquiry->entry_size = entry->bytes_count;
	memcpy(inquiry->entry, entry->bytes, inquiry->entry_size);
}

uint64_t member_invite(struct member *member, const uint8_t secret[TOKEN_DIGEST_SIZE],
                       uint64_t real_s, uint64_t expiry_s, uint64_t now)
{
	struct entry_digest digest;

	member_advance(member, now);
	memcpy(digest.bytes, secret, sizeof(digest.bytes));
	struct inquiry *inquiry = inquiry_begin(member, NULL, &digest, "");
	entry_write_invite(&member->out, &digest, real_s, expiry_s);
	carry(inquiry, &member->out);
	return inquiry->number;
}

uint64_t member_order(struct member *member, enum member_order order, const char *name,
                      uint64_t now)
{
	static const struct {
		enum entry_kind kind;
		enum vote_wish vote;
	} acts[] = {[ORDER_INVITE] = {.kind = ENTRY_ALLOW},
	            [ORDER_FORBID] = {.kind = ENTRY_FORBID},
	            [ORDER_PROMOTE] = {ENTRY_VOTE, VOTE_WANTED},
	            [ORDER_DEMOTE] = {ENTRY_VOTE, VOTE_UNWANTED}};

	member_advance(member, now);
	struct inquiry *inquiry = inquiry_begin(member, NULL, &(struct entry_digest){0}, name);
	inquiry->until = member->now + ORDER_MS * MS;
	struct log_entry entry = {.kind = acts[order].kind,
	                          .vote = acts[order].vote,
	                          .name = entry_text_of(name),
	                          .order = {member->process, inquiry->number}};
	entry_write_order(&member->out, &entry);
	carry(inquiry, &member->out);
	return inquiry->number;
}
