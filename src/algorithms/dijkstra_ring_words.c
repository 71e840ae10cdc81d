#include "dijkstra_ring_words.h"

/*
 * A trail leads from its head, at the right, to a white process that waits. That process has sent a
 * signal, which has coloured all others of the trail black. Each of them stays black until the
 * token passes.
 */
#define TRAIL "([NW]-)*w"

/* One more process that has sent no signal, or one more trail whose signal is still on its way. */
#define MORE "(-n|s" TRAIL ")"

/*
 * There are four cases. (1) The token is at a process that no trail leads to; the process may be
 * inside. (2) The process at the head of a trail has the token and is inside. (3) The token is
 * moving along a trail. (4) The token is moving along the only trail, which is the whole ring; the
 * process that sent the token has called it again already, and the new signal has ended at a
 * process that waits.
 */
const char words_permitted[] = "[nc]" MORE "*-"
                               "|C-" TRAIL MORE "*-"
                               "|t" TRAIL MORE MORE "*"
                               "|t(N-)*W-" TRAIL;

const char words_alphabet[] = "nwcNWC-st";

/* A part of an expression: the places where its words begin and end, and whether it has the
 * empty word. */
struct word_part {
	uint64_t first, last;
	bool empty;
};

struct parser {
	const char *rest;
	struct words *words;
	bool failed;
};

static struct word_part parse_choice(struct parser *parser);

static void join_places(struct words *words, uint64_t before, uint64_t after)
{
	for (uint32_t place = 0; place < words->places_count; place++) {
		if (before >> place & 1)
			words->next[place] |= after;
	}
}

static bool is_letter(char character)
{
	const char *letter = words_alphabet;

	while (*letter != '\0' && *letter != character)
		letter++;
	return *letter != '\0';
}

static struct word_part parse_letter(struct parser *parser)
{
	struct words *words = parser->words;
	uint64_t place;

	if (!is_letter(*parser->rest) || words->places_count == WORDS_PLACES_MAX) {
		parser->failed = true;
		return (struct word_part){0};
	}
	place = (uint64_t)1 << words->places_count;
	words->letter[words->places_count++] = *parser->rest++;
	return (struct word_part){.first = place, .last = place};
}

static struct word_part parse_letters(struct parser *parser)
{
	struct word_part part = {0};

	while (!parser->failed && *parser->rest != ']') {
		struct word_part letter = parse_letter(parser);
		part.first |= letter.first;
		part.last |= letter.last;
	}
	return part;
}

static struct word_part parse_one(struct parser *parser)
{
	char bracket = *parser->rest;
	struct word_part part;

	if (bracket != '(' && bracket != '[')
		return parse_letter(parser);
	parser->rest++;
	part = bracket == '(' ? parse_choice(parser) : parse_letters(parser);
	if (parser->failed || *parser->rest != (bracket == '(' ? ')' : ']'))
		parser->failed = true;
	else
		parser->rest++;
	return part;
}

static struct word_part parse_sequence(struct parser *parser)
{
	struct word_part all = {.empty = true};

	while (!parser->failed && *parser->rest != '|' && *parser->rest != ')' &&
	       *parser->rest != '\0') {
		struct word_part part = parse_one(parser);
		for (; *parser->rest == '*'; parser->rest++) {
			join_places(parser->words, part.last, part.first);
			part.empty = true;
		}
		join_places(parser->words, all.last, part.first);
		all.first |= all.empty ? part.first : 0;
		all.last = part.last | (part.empty ? all.last : 0);
		all.empty = all.empty && part.empty;
	}
	return all;
}

static struct word_part parse_choice(struct parser *parser)
{
	struct word_part all = parse_sequence(parser);

	while (!parser->failed && *parser->rest == '|') {
		parser->rest++;
		struct word_part part = parse_sequence(parser);
		all.first |= part.first;
		all.last |= part.last;
		all.empty = all.empty || part.empty;
	}
	return all;
}

bool words_parse(const char *expression, struct words *ret_words)
{
	struct words words = {.places_count = 1};
	struct parser parser = {.rest = expression, .words = &words};
	struct word_part all = parse_choice(&parser);

	if (parser.failed || *parser.rest != '\0')
		return false;
	words.next[0] = all.first;
	words.ends = all.last | all.empty;
	*ret_words = words;
	return true;
}

uint64_t words_read(const struct words *words, uint64_t at, char letter)
{
	uint64_t reached = 0;

	for (uint32_t place = 0; place < words->places_count; place++) {
		if (at >> place & 1)
			reached |= words->next[place];
	}
	for (uint32_t place = 0; place < words->places_count; place++) {
		if (words->letter[place] != letter)
			reached &= ~((uint64_t)1 << place);
	}
	return reached;
}

bool words_end(const struct words *words, uint64_t at)
{
	return (at & words->ends) != 0;
}

/* For each state of the automaton: how many strings of a given length lead to it, as beginnings of
 * words. */
enum { BEGINNINGS_MAX = 256 };

struct beginnings {
	uint32_t count;
	uint64_t at[BEGINNINGS_MAX], number[BEGINNINGS_MAX];
};

/* Adds beginnings that lead to a state. Returns false if there are too many. */
static bool add_beginnings(struct beginnings *beginnings, uint64_t at, uint64_t number)
{
	uint32_t k = 0;

	while (k < beginnings->count && beginnings->at[k] != at)
		k++;
	if (k == BEGINNINGS_MAX)
		return false;
	if (k == beginnings->count) {
		beginnings->at[k] = at;
		beginnings->number[k] = 0;
		beginnings->count++;
	}
	beginnings->number[k] += number;
	return beginnings->number[k] >= number;
}

uint64_t words_count(const struct words *words, uint32_t letters)
{
	struct beginnings now = {.count = 1, .at = {words_start()}, .number = {1}};
	struct beginnings longer;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < letters; i++) {
		longer.count = 0;
		for (uint32_t k = 0; k < now.count; k++) {
			for (const char *letter = words_alphabet; *letter != '\0'; letter++) {
				uint64_t at = words_read(words, now.at[k], *letter);
				if (at != 0 && !add_beginnings(&longer, at, now.number[k]))
					return UINT64_MAX;
			}
		}
		now = longer;
	}
	for (uint32_t k = 0; k < now.count; k++) {
		uint64_t number = words_end(words, now.at[k]) ? now.number[k] : 0;
		if (sum + number < sum)
			return UINT64_MAX;
		sum += number;
	}
	return sum;
}
