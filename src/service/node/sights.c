#include "sights.h"

#include "frame.h"
#include "glob.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct sight {
	struct slice pattern, literal;
	/* The last pattern before this one whose literal is the beginning of this literal, or
	 * NONE. */
	uint32_t wider;
};

static int compare(struct slice a, struct slice b)
{
	int order = memcmp(a.bytes, b.bytes, a.size < b.size ? a.size : b.size);

	return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_sights(const void *a, const void *b)
{
	const struct sight *one = a, *other = b;

	return compare(one->literal, other->literal);
}

static bool begins_with(struct slice text, struct slice beginning)
{
	return text.size >= beginning.size &&
	       memcmp(text.bytes, beginning.bytes, beginning.size) == 0;
}

static struct slice literal_of(struct slice pattern)
{
	struct slice literal = {pattern.bytes, 0};

	while (literal.size < pattern.size && strchr("*?[\\", pattern.bytes[literal.size]) == NULL)
		literal.size++;
	return literal;
}

struct sights sights_read(struct slice patterns)
{
	struct in in = {.next = patterns.bytes, .end = patterns.bytes + patterns.size};
	struct sights sights = {.count = 0};

	/* A pattern takes at least two bytes. */
	sights.list = malloc((patterns.size / 2 + 1) * sizeof(*sights.list));
	memory_must(sights.list != NULL);
	while (in.next < in.end) {
		struct slice pattern = in_name(&in);
		sights.all = sights.all || (pattern.size == 1 && pattern.bytes[0] == '*');
		sights.list[sights.count++] = (struct sight){pattern, literal_of(pattern), NONE};
	}
	qsort(sights.list, sights.count, sizeof(*sights.list), compare_sights);
	for (uint32_t i = 1; i < sights.count; i++) {
		uint32_t wider = i - 1;
		while (wider != NONE &&
		       !begins_with(sights.list[i].literal, sights.list[wider].literal))
			wider = sights.list[wider].wider;
		sights.list[i].wider = wider;
	}
	return sights;
}

void sights_free(struct sights *sights)
{
	free(sights->list);
}

/* In sorted order, a literal that the name begins with comes before the name, and every text
 * between the two begins with that literal too. So the search starts at the last literal before the
 * name and follows `wider`: this visits all literals that the name begins with. */
bool sights_match(const struct sights *sights, struct slice name)
{
	uint32_t least = 0, most = sights->count;

	if (sights->all)
		return true;
	while (least < most) {
		uint32_t middle = least + (most - least) / 2;
		if (compare(sights->list[middle].literal, name) <= 0)
			least = middle + 1;
		else
			most = middle;
	}
	for (uint32_t i = least - 1; i != NONE; i = sights->list[i].wider) {
		if (begins_with(name, sights->list[i].literal) &&
		    glob_matches(sights->list[i].pattern, name))
			return true;
	}
	return false;
}
