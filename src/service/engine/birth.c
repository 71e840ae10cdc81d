#include "birth.h"

#include "memory.h"
#include "outbuffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another node of the list, and what it has answered to the nonce that this node uses now. */
struct founder {
	/* The last nonce that came from the node, which our messages to it repeat; 0: none has
	 * come yet. */
	uint64_t nonce;
	uint64_t number; /* the greatest number among the node's messages with `nonce` */
	bool answered;   /* the node has answered; the fields below are its answer */
	uint64_t server; /* the id of the node's data directory */
	uint64_t base;
	struct birth_record record;
};

struct birth {
	struct birth_options options;
	char (*names)[ENTRY_NAME_MAX + 1], (*addresses)[ENTRY_ADDRESS_MAX + 1];
	char *agreement;
	struct birth_record record; /* the record that is on this node's disk */
	/* The record that `wish` is about: the one to write, or that of the cluster to found or to
	 * join. */
	struct birth_record wished;
	enum birth_wish_kind wish;
	uint64_t nonce;
	uint64_t number; /* how many messages this node has sent */
	/* All nodes of the list, by place; the place of this node is not used. */
	struct founder *founders;
	struct out out;
	char text[768];
};

static bool founds(const struct birth *birth)
{
	return birth->options.self == 0;
}

static void copy_record(struct birth_record *to, const struct birth_record *from)
{
	to->stage = from->stage;
	to->cluster = from->cluster;
	to->base = from->base;
	electors_copy(&to->founders, &from->founders);
}

/* Begins the meeting again with a new nonce. Answers to the old nonce no longer count. */
static void meet_again(struct birth *birth)
{
	do {
		birth->nonce = birth->options.draw(birth->options.context);
	} while (birth->nonce == 0);
	for (uint32_t i = 0; i < birth->options.count; i++)
		birth->founders[i].answered = false;
}

/* --- encoding --- */

static void write_record(struct out *out, const struct birth_record *record)
{
	out_uint(out, record->stage);
	out_uint(out, record->cluster.high);
	out_uint(out, record->cluster.low);
	out_uint(out, record->base);
	if (record->stage == BIRTH_RECORD)
		electors_write(out, &record->founders);
}

static bool read_record(struct in *in, struct birth_record *record)
{
	record->stage = (enum birth_stage)in_range(in, BIRTH_NOTHING, BIRTH_LIFE);
	record->cluster.high = in_uint(in);
	record->cluster.low = in_uint(in);
	record->base = in_uint(in);
	if (!in->bad && record->stage == BIRTH_RECORD) {
		struct in list = *in;
		electors_skip(in);
		if (!in->bad)
			electors_read(&record->founders, list);
	}
	return in_end(in);
}

/* --- the lines that must be the same at all nodes --- */

enum { LINES_MAX = 1 << 13, LINE_SIZE_MAX = 1 << 13 };

/* Takes the next line from a text. Returns false at its end. */
static bool next_line(const char **text, struct entry_text *ret_line)
{
	*text += strspn(*text, "\n");
	*ret_line = (struct entry_text){*text, strcspn(*text, "\n")};
	*text += ret_line->size;
	return ret_line->size != 0;
}

static void write_lines(struct out *out, const char *text)
{
	struct entry_text line;
	uint32_t count = 0;

	for (const char *next = text; next_line(&next, &line);)
		count++;
	out_uint(out, count);
	while (next_line(&text, &line))
		entry_put_text(out, line);
}

/* Skips the lines of an agreement. Returns where they begin, so that `differ` can read them
 * again. */
static struct in skip_lines(struct in *in)
{
	struct in lines = *in;
	uint64_t count = in_range(in, 0, LINES_MAX);

	for (uint64_t i = 0; i < count && !in->bad; i++)
		entry_get_text(in, 1, LINE_SIZE_MAX);
	return lines;
}

static bool is_in_text(struct entry_text line, const char *text)
{
	struct entry_text other;

	while (next_line(&text, &other)) {
		if (other.size == line.size && memcmp(other.bytes, line.bytes, line.size) == 0)
			return true;
	}
	return false;
}

static bool is_in_lines(struct entry_text line, struct in lines)
{
	uint64_t count = in_uint(&lines);

	for (uint64_t i = 0; i < count; i++) {
		struct entry_text other = entry_get_text(&lines, 1, LINE_SIZE_MAX);
		if (other.size == line.size && memcmp(other.bytes, line.bytes, line.size) == 0)
			return true;
	}
	return false;
}

/* Finds a line on each side that the other side lacks; size 0: there is none. Returns false if both
 * have the same lines. */
static bool differ(const char *own, struct in lines, struct entry_text *ret_own,
                   struct entry_text *ret_other)
{
	struct in rest = lines;
	uint64_t count = in_uint(&rest);

	*ret_own = *ret_other = (struct entry_text){"", 0};
	for (uint64_t i = 0; i < count && ret_other->size == 0; i++) {
		struct entry_text line = entry_get_text(&rest, 1, LINE_SIZE_MAX);
		if (!is_in_text(line, own))
			*ret_other = line;
	}
	while (next_line(&own, ret_own) && is_in_lines(*ret_own, lines))
		;
	return ret_own->size != 0 || ret_other->size != 0;
}

/* A message from one node of the list to another. */
struct saying {
	/* The sender's nonce, and the last nonce that it has from the receiver. */
	uint64_t nonce, echo;
	uint64_t number; /* the number of this message; later ones have greater numbers */
	uint64_t server, base;
	const char *agreement; /* when written: the lines that must be the same at all nodes */
	struct in lines;       /* when read: the same lines */
	struct birth_record record;
};

static void write_saying(struct out *out, const struct saying *saying)
{
	out_clear(out);
	out_uint(out, saying->nonce);
	out_uint(out, saying->echo);
	out_uint(out, saying->number);
	out_uint(out, saying->server);
	out_uint(out, saying->base);
	write_lines(out, saying->agreement);
	write_record(out, &saying->record);
}

/* Returns false if the bytes are malformed. The caller frees the founders in any case. */
static bool read_saying(const uint8_t *bytes, size_t size, struct saying *ret_saying)
{
	struct in in = {.next = bytes, .end = bytes + size};

	*ret_saying = (struct saying){0};
	ret_saying->nonce = in_range(&in, 1, UINT64_MAX);
	ret_saying->echo = in_uint(&in);
	ret_saying->number = in_uint(&in);
	ret_saying->server = in_range(&in, 1, UINT64_MAX);
	ret_saying->base = in_uint(&in);
	ret_saying->lines = skip_lines(&in);
	return read_record(&in, &ret_saying->record);
}

bool birth_answer(const uint8_t *bytes, size_t size, struct cluster_id cluster, uint64_t nonce,
                  uint64_t server, struct out *out)
{
	struct saying heard;
	bool good = read_saying(bytes, size, &heard);

	electors_free(&heard.record.founders);
	if (good)
		write_saying(out, &(struct saying){.nonce = nonce,
		                                   .echo = heard.nonce,
		                                   .server = server,
		                                   .agreement = "",
		                                   .record = {BIRTH_LIFE, cluster, 0, {0}}});
	return good;
}

size_t birth_say(struct birth *birth, uint32_t place, const uint8_t **ret_bytes)
{
	write_saying(&birth->out, &(struct saying){.nonce = birth->nonce,
	                                           .echo = birth->founders[place].nonce,
	                                           .number = ++birth->number,
	                                           .server = birth->options.server,
	                                           .base = birth->options.base,
	                                           .agreement = birth->agreement,
	                                           .record = birth->record});
	*ret_bytes = birth->out.bytes;
	return birth->out.bytes_count;
}

/* --- records --- */

static bool is_same(const struct birth_record *a, const struct birth_record *b)
{
	if (!cluster_is(a->cluster, b->cluster) || a->base != b->base ||
	    a->founders.count != b->founders.count)
		return false;
	for (uint32_t i = 0; i < a->founders.count; i++) {
		const struct elector *x = &a->founders.list[i], *y = &b->founders.list[i];
		if (x->server != y->server || strcmp(x->name, y->name) != 0)
			return false;
	}
	return true;
}

static uint64_t server_of(const struct birth *birth, uint32_t place)
{
	return place == birth->options.self ? birth->options.server : birth->founders[place].server;
}

/* Does every node still have the data directory that the record names for it? */
static bool is_present(const struct birth *birth, const struct birth_record *record)
{
	if (record->stage != BIRTH_RECORD || record->founders.count != birth->options.count)
		return false;
	for (uint32_t i = 0; i < birth->options.count; i++) {
		if (record->founders.list[i].server != server_of(birth, i) ||
		    strcmp(record->founders.list[i].name, birth->names[i]) != 0)
			return false;
	}
	return true;
}

static void wish_record(struct birth *birth)
{
	struct birth_record *wished = &birth->wished;

	wished->stage = BIRTH_RECORD;
	wished->cluster.high = birth->options.draw(birth->options.context);
	do {
		wished->cluster.low = birth->options.draw(birth->options.context);
	} while (wished->cluster.low == 0);
	wished->base = birth->options.base;
	electors_clear(&wished->founders, 1);
	for (uint32_t i = 0; i < birth->options.count; i++) {
		if (birth->founders[i].base > wished->base)
			wished->base = birth->founders[i].base;
		electors_add(&wished->founders, server_of(birth, i), entry_text_of(birth->names[i]),
		             entry_text_of(birth->addresses[i]));
	}
	birth->wish = BIRTH_WRITE;
}

/* --- deciding --- */

static void stop(struct birth *birth, const char *text)
{
	birth->wish = BIRTH_STOP;
	snprintf(birth->text, sizeof(birth->text), "%s", text);
}

static void stop_differing(struct birth *birth, uint32_t place, struct entry_text own,
                           struct entry_text other)
{
	enum { SHOWN_MAX = 150 };
	static const char nothing[] = "nothing of that kind";

	if (own.size == 0)
		own = entry_text_of(nothing);
	if (other.size == 0)
		other = entry_text_of(nothing);
	birth->wish = BIRTH_STOP;
	snprintf(birth->text, sizeof(birth->text),
	         "node '%.60s' has %.*s, and this node '%.60s' has %.*s: all nodes of a list need "
	         "the same list and settings",
	         birth->names[place], (int)(other.size < SHOWN_MAX ? other.size : SHOWN_MAX),
	         other.bytes, birth->names[birth->options.self],
	         (int)(own.size < SHOWN_MAX ? own.size : SHOWN_MAX), own.bytes);
}

/* Has another node reported the same data directory? Then one of the two is a copy. */
static bool is_copied(const struct birth *birth, uint32_t place, uint64_t server)
{
	for (uint32_t i = 0; i < birth->options.count; i++) {
		if (i == birth->options.self ? birth->options.server == server
		                             : i != place && birth->founders[i].answered &&
		                                       birth->founders[i].server == server)
			return true;
	}
	return false;
}

static void stop_copied(struct birth *birth, uint32_t place)
{
	birth->wish = BIRTH_STOP;
	snprintf(birth->text, sizeof(birth->text),
	         "node '%.60s' has the data directory of another node of the list: was it copied? "
	         "Each node needs its own",
	         birth->names[place]);
}

static bool all_answered(const struct birth *birth)
{
	for (uint32_t i = 0; i < birth->options.count; i++) {
		if (i != birth->options.self && !birth->founders[i].answered)
			return false;
	}
	return true;
}

static bool all_have(const struct birth *birth, const struct birth_record *record)
{
	for (uint32_t i = 0; i < birth->options.count; i++) {
		const struct birth_record *other = &birth->founders[i].record;
		if (i != birth->options.self &&
		    (other->stage != BIRTH_RECORD || !is_same(other, record)))
			return false;
	}
	return true;
}

/* Handles the news that another node has a first log. If it is the log of our own record, this node
 * makes the same log; otherwise this node joins that cluster. */
static void meet_life(struct birth *birth, struct cluster_id cluster)
{
	if (birth->record.stage == BIRTH_LIFE) {
		if (!cluster_is(birth->record.cluster, cluster))
			stop(birth,
			     "two nodes of the list have belonged to different clusters: one "
			     "of the data directories is not of this cluster");
		return;
	}
	if (birth->record.stage == BIRTH_RECORD && cluster_is(birth->record.cluster, cluster)) {
		copy_record(&birth->wished, &birth->record);
		birth->wish = BIRTH_FOUND;
		return;
	}
	birth->wished.cluster = cluster;
	birth->wish = BIRTH_JOIN;
}

/* The founder decides: when all have answered, it writes a record; when all have that record, it
 * makes the first log. */
static void decide(struct birth *birth)
{
	if (birth->record.stage == BIRTH_LIFE || birth->wish != BIRTH_WAITS || !all_answered(birth))
		return;
	if (!is_present(birth, &birth->record)) {
		wish_record(birth);
	} else if (all_have(birth, &birth->record)) {
		copy_record(&birth->wished, &birth->record);
		birth->wish = BIRTH_FOUND;
	}
}

/* Does the record name the nodes of the list, each with a data directory of its own? Otherwise no
 * first log can be made from it. */
static bool is_sound(const struct birth *birth, const struct birth_record *record)
{
	const struct electors *founders = &record->founders;

	if (founders->count != birth->options.count)
		return false;
	for (uint32_t i = 0; i < founders->count; i++) {
		if (founders->list[i].server == 0 ||
		    strcmp(founders->list[i].name, birth->names[i]) != 0)
			return false;
		for (uint32_t k = 0; k < i; k++) {
			if (founders->list[k].server == founders->list[i].server)
				return false;
		}
	}
	return founders->list[birth->options.self].server == birth->options.server;
}

/* The other nodes follow: each writes the record that the founder has written. */
static void follow(struct birth *birth, const struct birth_record *record)
{
	if (record->stage != BIRTH_RECORD || birth->record.stage == BIRTH_LIFE ||
	    birth->wish != BIRTH_WAITS || !is_sound(birth, record) ||
	    (birth->record.stage == BIRTH_RECORD && is_same(&birth->record, record)))
		return;
	copy_record(&birth->wished, record);
	birth->wish = BIRTH_WRITE;
}

static bool is_over(const struct birth *birth)
{
	return birth->wish == BIRTH_FOUND || birth->wish == BIRTH_JOIN || birth->wish == BIRTH_STOP;
}

static void take_answer(struct birth *birth, uint32_t place, const struct saying *saying)
{
	struct founder *founder = &birth->founders[place];
	struct entry_text own, other;

	founder->answered = true;
	founder->server = saying->server;
	founder->base = saying->base;
	copy_record(&founder->record, &saying->record);
	/* Finish the write first. Ignoring this message does no harm, because the others repeat
	 * theirs. */
	if (birth->wish == BIRTH_WRITE)
		return;
	if (saying->record.stage == BIRTH_LIFE)
		meet_life(birth, saying->record.cluster);
	else if (is_copied(birth, place, saying->server))
		stop_copied(birth, place);
	else if (differ(birth->agreement, saying->lines, &own, &other))
		stop_differing(birth, place, own, other);
	else if (founds(birth))
		decide(birth);
	else if (place == 0)
		follow(birth, &saying->record);
}

bool birth_hear(struct birth *birth, uint32_t place, const uint8_t *bytes, size_t size)
{
	struct saying saying;
	bool good = read_saying(bytes, size, &saying);

	if (good && place < birth->options.count && place != birth->options.self) {
		struct founder *founder = &birth->founders[place];
		bool again = founder->nonce != 0 && founder->nonce != saying.nonce;
		/* A record that the founder has replaced since must not be written again. */
		bool late = founder->nonce == saying.nonce && saying.number < founder->number;
		founder->nonce = saying.nonce;
		founder->number = late ? founder->number : saying.number;
		/* The founder runs as a new process and may have lost its disk. So the first log
		 * that its old process told of may be gone. */
		if (again && place == 0 && !is_over(birth))
			meet_again(birth);
		else if (!late && saying.echo == birth->nonce && !is_over(birth))
			take_answer(birth, place, &saying);
	}
	electors_free(&saying.record.founders);
	return good;
}

/* --- calls --- */

enum birth_wish_kind birth_wish(const struct birth *birth)
{
	return birth->wish;
}

const struct birth_record *birth_wished(const struct birth *birth)
{
	return &birth->wished;
}

void birth_written(struct birth *birth)
{
	copy_record(&birth->record, &birth->wished);
	birth->wish = BIRTH_WAITS;
	if (founds(birth))
		decide(birth);
}

void birth_lives(struct birth *birth)
{
	birth->record.stage = BIRTH_LIFE;
	birth->record.cluster = birth->wished.cluster;
}

const char *birth_text(struct birth *birth)
{
	size_t used = 0;

	if (birth->wish == BIRTH_STOP)
		return birth->text;
	birth->text[0] = '\0';
	for (uint32_t i = 0; i < birth->options.count && used < sizeof(birth->text) - 1; i++) {
		if (i == birth->options.self || birth->founders[i].answered)
			continue;
		int more = snprintf(birth->text + used, sizeof(birth->text) - used, "%s%s",
		                    used == 0 ? "" : ", ", birth->names[i]);
		used += (size_t)more;
	}
	return birth->text;
}

bool birth_must_end(struct cluster_id own, bool born_alone, struct cluster_id other,
                    bool other_knows_name)
{
	return born_alone && other_knows_name && !cluster_is(own, other);
}

struct birth *birth_create(const struct birth_options *options)
{
	struct birth *birth = calloc(1, sizeof(*birth));

	memory_must(birth != NULL);
	birth->options = *options;
	birth->names = calloc(options->count, sizeof(*birth->names));
	birth->addresses = calloc(options->count, sizeof(*birth->addresses));
	birth->founders = calloc(options->count, sizeof(*birth->founders));
	birth->agreement = strdup(options->agreement);
	memory_must(birth->names != NULL && birth->addresses != NULL && birth->founders != NULL &&
	            birth->agreement != NULL);
	for (uint32_t i = 0; i < options->count; i++) {
		snprintf(birth->names[i], sizeof(birth->names[i]), "%s", options->names[i]);
		snprintf(birth->addresses[i], sizeof(birth->addresses[i]), "%s",
		         options->addresses[i]);
	}
	out_init(&birth->out);
	copy_record(&birth->record, options->record);
	meet_again(birth);
	if (founds(birth))
		decide(birth); /* if the founder is alone in the list, nobody has to answer */
	return birth;
}

void birth_destroy(struct birth *birth)
{
	for (uint32_t i = 0; i < birth->options.count; i++)
		electors_free(&birth->founders[i].record.founders);
	electors_free(&birth->record.founders);
	electors_free(&birth->wished.founders);
	out_free(&birth->out);
	free(birth->names);
	free(birth->addresses);
	free(birth->agreement);
	free(birth->founders);
	free(birth);
}
