#include "journal.h"

#include "cluster.h"
#include "frames.h"
#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

struct journal {
	XXH3_state_t *state;
	const char *const *names;
	const struct algorithm *algorithm;
	FILE *text;
};

/*
 * The text of each kind of note. %a %b %c are the numbers of a note. %A is the place with the
 * number a. %X is c as a fence, epoch:counter; %Y is b as a fence; %T is b as a time; %E is c as an
 * error or a result; %s is the bytes as a text; %F is the bytes as a frame.
 */
static const char *const texts[NOTES] = {
        [NOTE_START] = "starts, incarnation %a",
        [NOTE_CRASH] = "crashes",
        [NOTE_REJOIN] = "is out of the view, and now incarnation %a",
        [NOTE_DECIDE] = "epoch %a is agreed upon: %s",
        [NOTE_TELL] = "learns of epoch %a -> %E",
        [NOTE_STALL] = "its link to %A stalls until %T",
        [NOTE_TICK] = "tick",
        [NOTE_SEND] = "sends %A, due %T: %F",
        [NOTE_RECEIVE] = "receives from %A: %F -> %E",
        [NOTE_FORGET] = "its link to %A forgets: %F",
        [NOTE_READ] = "reads its links again",
        [NOTE_BUMP] = "proposes to end epoch %a",
        [NOTE_STOP] = "STOPS: %s",
        [NOTE_OPEN] = "client %a opens a session -> %c",
        [NOTE_CLOSE] = "client %a closes its session",
        [NOTE_LOCK] = "client %a LOCK %s -> %E",
        [NOTE_LOCK_TIMEOUT] = "client %a LOCK %s TIMEOUT until %T -> %E",
        [NOTE_LOCK_NOWAIT] = "client %a LOCK %s NOWAIT -> %E",
        [NOTE_UNLOCK] = "client %a UNLOCK %s -> %E",
        [NOTE_ELECT] = "client %a ELECT %s, campaign %b -> %E",
        [NOTE_LEADER] = "client %a LEADER %s -> %E",
        [NOTE_BREAK] = "client %a BREAK %s %Y -> %E",
        [NOTE_STATUS] = "client %a STATUS %s -> %E",
        [NOTE_SUBSCRIBE] = "client %a SUBSCRIBE %s -> %E",
        [NOTE_UNSUBSCRIBE] = "client %a UNSUBSCRIBE %s -> %E",
        [NOTE_REPLY_NIL] = "client %a is answered: nil",
        [NOTE_REPLY_FENCE] = "client %a is answered: fence %X",
        [NOTE_REPLY_NUMBER] = "client %a is answered: %c",
        [NOTE_REPLY_LEADER] = "client %a is answered: leader %X, %s",
        [NOTE_REPLY_STATUS] = "client %a is answered: a status of %b members, %c locks",
        [NOTE_REPLY_ERROR] = "client %a is answered: error %E",
        [NOTE_EVENT] = "client %a is told: %s, kind %b, %X",
        [NOTE_LOST] = "client %a has lost %s, %X",
        [NOTE_ACT] = "--- %s ---",
};

struct journal *journal_create(const char *const *names, const struct algorithm *algorithm,
                               FILE *text)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	memory_must(journal != NULL);
	journal->state = XXH3_createState();
	memory_must(journal->state != NULL);
	XXH3_64bits_reset(journal->state);
	journal->names = names;
	journal->algorithm = algorithm;
	journal->text = text;
	return journal;
}

void journal_destroy(struct journal *journal)
{
	XXH3_freeState(journal->state);
	free(journal);
}

uint64_t journal_hash(const struct journal *journal)
{
	return XXH3_64bits_digest(journal->state);
}

static void write_time(FILE *file, uint64_t time)
{
	fprintf(file, "%" PRIu64 ".%09" PRIu64, time / CLUSTER_SECOND, time % CLUSTER_SECOND);
}

static void write_fence(FILE *file, uint64_t fence)
{
	fprintf(file, "%" PRIu64 ":%" PRIu64, fence >> NODE_COUNTER_BITS, fence & NODE_COUNTER_MAX);
}

static const char *error_name(int64_t code)
{
	switch (code) {
#define ERROR_NAME(name, number, text)                                                             \
	case number:                                                                               \
		return #name;
		BATON_ERRORS(ERROR_NAME)
#undef ERROR_NAME
	default:
		return NULL;
	}
}

static void write_result(FILE *file, int64_t result)
{
	const char *name = error_name(result);

	if (name != NULL)
		fputs(name, file);
	else
		fprintf(file, "%" PRId64, result);
}

static void write_field(const struct journal *journal, const struct note *note, char field)
{
	FILE *file = journal->text;

	switch (field) {
	case 'a':
		fprintf(file, "%" PRIu64, note->a);
		break;
	case 'b':
		fprintf(file, "%" PRIu64, note->b);
		break;
	case 'c':
		fprintf(file, "%" PRIu64, note->c);
		break;
	case 'A':
		fputs(journal->names[note->a], file);
		break;
	case 'T':
		write_time(file, note->b);
		break;
	case 'X':
		write_fence(file, note->c);
		break;
	case 'Y':
		write_fence(file, note->b);
		break;
	case 'E':
		write_result(file, (int64_t)note->c);
		break;
	case 's':
		fwrite(note->bytes, 1, note->size, file);
		break;
	case 'F':
		frames_write(file, journal->algorithm, note->bytes, note->size);
		break;
	default:
		must(false);
	}
}

static void write_note(const struct journal *journal, uint64_t time, const struct note *note)
{
	write_time(journal->text, time);
	fprintf(journal->text, "  %-6s  ",
	        note->place == CLUSTER_NOWHERE ? "" : journal->names[note->place]);
	for (const char *c = texts[note->kind]; *c != '\0'; c++) {
		if (*c == '%')
			write_field(journal, note, *++c);
		else
			fputc(*c, journal->text);
	}
	fputc('\n', journal->text);
}

void journal_note(struct journal *journal, uint64_t time, const struct note *note)
{
	const uint64_t numbers[] = {time,    (uint64_t)note->kind << 32 | note->place,
	                            note->a, note->b,
	                            note->c, note->size};

	XXH3_64bits_update(journal->state, numbers, sizeof(numbers));
	if (note->size != 0)
		XXH3_64bits_update(journal->state, note->bytes, note->size);
	if (journal->text != NULL)
		write_note(journal, time, note);
}
