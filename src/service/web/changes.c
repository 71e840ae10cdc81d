#include "changes.h"

#include "figures.h"

#include <stdlib.h>
#include <string.h>

/* Takes the next word of a text. If `last`, takes everything that is left. */
static size_t take_word(const char **text, size_t *size, bool last)
{
	const char *space = last ? NULL : memchr(*text, ' ', *size);
	size_t word = space != NULL ? (size_t)(space - *text) : *size;
	size_t taken = space != NULL ? word + 1 : word;

	*text += taken;
	*size -= taken;
	return word;
}

static bool parse_fence(const char *text, size_t size, json_int_t *ret_fence)
{
	json_int_t fence = 0;

	if (size == 0 || size > 16)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		fence = fence * 10 + (text[i] - '0');
	}
	*ret_fence = fence;
	return true;
}

static json_t *parse_message(const char *text, size_t size)
{
	const char *what = text;
	size_t what_size = take_word(&text, &size, false);
	const char *fence = text;
	size_t fence_size = take_word(&text, &size, false);
	const char *node = text;
	bool has_value = memchr(text, ' ', size) != NULL;
	size_t node_size = take_word(&text, &size, false);
	json_int_t number;

	if (what_size == 0 || what_size > 16 || !parse_fence(fence, fence_size, &number))
		return NULL;
	json_t *event = json_object();
	json_object_set_new(event, "what", figures_text(what, what_size));
	json_object_set_new(event, "fence", json_integer(number));
	json_object_set_new(event, "node", figures_text(node, node_size));
	if (has_value)
		json_object_set_new(event, "value", figures_text(text, size));
	return event;
}

void changes_add(struct changes *changes, int64_t now_ms, const char *name, size_t name_size,
                 const char *message, size_t message_size)
{
	int64_t *oldest = &changes->told_ms[changes->told_count % CHANGES_A_SECOND];

	if (changes->told_count >= CHANGES_A_SECOND && now_ms - *oldest < 1000) {
		changes->more++;
		return;
	}
	json_t *event = parse_message(message, message_size);
	if (event == NULL)
		return;
	*oldest = now_ms;
	changes->told_count++;
	json_object_set_new(event, "at_ms", json_integer(now_ms));
	json_object_set_new(event, "name", figures_text(name, name_size));
	if (changes->events == NULL)
		changes->events = json_array();
	json_array_append_new(changes->events, event);
}

bool changes_waiting(const struct changes *changes)
{
	return changes->events != NULL || changes->more > 0;
}

json_t *changes_take(struct changes *changes)
{
	if (!changes_waiting(changes))
		return NULL;
	json_t *events = changes->events != NULL ? changes->events : json_array();
	json_t *bundle =
	        json_pack("{s:o, s:I}", "events", events, "more", (json_int_t)changes->more);
	changes->events = NULL;
	changes->more = 0;
	return bundle;
}

void changes_clear(struct changes *changes)
{
	json_decref(changes->events);
	*changes = (struct changes){0};
}
