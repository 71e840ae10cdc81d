/*
 * Algorithms for testing the drivers: they are wrong, or odd, on purpose.
 */
#ifndef TEST_TOY_H
#define TEST_TOY_H

#include "algorithm.h"

#include <string.h>

struct toy {
	uint32_t count;
	uint32_t flag;
};

enum { TOY_CALL, TOY_MESSAGES };

static const struct message_type toy_messages[] = {{.name = "CALL"}};

static size_t toy_size(const struct site *site)
{
	(void)site;
	return sizeof(struct toy);
}

static void toy_nothing(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

static int toy_receive_nothing(const struct site *site, void *state, const struct message *message,
                               struct out *out)
{
	(void)site;
	(void)state;
	(void)message;
	(void)out;
	return 0;
}

static void toy_describe(const struct site *site, const void *state, struct writer *writer)
{
	(void)site;
	writer_key(writer, "count");
	writer_uint(writer, ((const struct toy *)state)->count);
}

static void toy_show(const struct message *message, struct writer *writer)
{
	(void)message;
	(void)writer;
}

#define TOY                                                                                        \
	.title = "toy", .kind = KIND_MUTEX, .links = GRAPH_COMPLETE, .topology = "complete",       \
	.claim_messages = "", .claim_delay = "", .messages = toy_messages,                         \
	.messages_count = TOY_MESSAGES, .state_size = toy_size, .init = toy_nothing,               \
	.describe = toy_describe, .show = toy_show

#endif
