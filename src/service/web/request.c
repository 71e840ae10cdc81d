#include "request.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The greatest fence: fences are below 2^53. */
#define FENCE_MAX ((INT64_C(1) << 53) - 1)

bool request_is_host(const char *given, const char *host, uint16_t port)
{
	const char *names[] = {"localhost", "127.0.0.1", "[::1]", host};
	char expected[300];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool bare = strchr(names[i], ':') != NULL && names[i][0] != '[';
		snprintf(expected, sizeof(expected), bare ? "[%s]:%u" : "%s:%u", names[i], port);
		if (strcasecmp(expected, given) == 0)
			return true;
		/* In HTTP a port of 80 may be left out. */
		if (port == 80 && strcasecmp(names[i], given) == 0)
			return true;
	}
	return false;
}

bool request_is_own_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return strncmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
	       strcasecmp(origin + sizeof(scheme) - 1, host) == 0;
}

int request_number(const char *text, const char *word, uint64_t least, uint64_t most,
                   uint64_t *ret_number, struct problem *problem)
{
	size_t size = strlen(text);
	unsigned long long number = 0;

	if (size > 0 && size <= 18 && strspn(text, "0123456789") == size)
		number = strtoull(text, NULL, 10);
	else
		size = 0;
	if (size == 0 || number < least || number > most)
		return problem_set(problem,
		                   "%s '%.40s': a whole number from %llu to %llu is needed", word,
		                   text, (unsigned long long)least, (unsigned long long)most);
	*ret_number = number;
	return 0;
}

/* Does the name contain a \xNN? In this form the node shows bytes that are not valid text. So \xNN
 * may stand for such a byte or for itself, and a break could take the wrong lock. */
static bool is_ambiguous(const char *name, size_t size)
{
	for (size_t i = 0; i + 3 < size; i++) {
		bool high = strchr("89abcdef", name[i + 2]) != NULL &&
		            strchr("0123456789abcdef", name[i + 3]) != NULL;
		if (name[i] == '\\' && name[i + 1] == 'x' &&
		    (high || (name[i + 2] == '0' && name[i + 3] == '0')))
			return true;
	}
	return false;
}

static int read_order(const json_t *json, struct break_order *ret_order, struct problem *problem)
{
	const json_t *name = json_object_get(json, "name"), *fence = json_object_get(json, "fence");
	size_t size = json_string_length(name);

	if (!json_is_string(name) || size == 0 || size > REQUEST_NAME_MAX)
		return problem_set(problem, "\"name\": a string of 1 to 255 bytes is needed");
	if (is_ambiguous(json_string_value(name), size))
		return problem_set(problem,
		                   "\"name\": \\xNN may stand for another byte, and so for another "
		                   "lock; 'baton break' takes the exact bytes");
	if (!json_is_integer(fence) || json_integer_value(fence) < 1 ||
	    json_integer_value(fence) > FENCE_MAX)
		return problem_set(problem, "\"fence\": a whole number below 2^53 is needed");
	memcpy(ret_order->name, json_string_value(name), size);
	ret_order->name_size = size;
	ret_order->fence = (uint64_t)json_integer_value(fence);
	return 0;
}

int request_break(const char *body, size_t size, struct break_order *ret_order,
                  struct problem *problem)
{
	json_error_t error;
	json_t *json = json_loadb(body, size, JSON_REJECT_DUPLICATES, &error);

	if (!json_is_object(json)) {
		json_decref(json);
		return problem_set(
		        problem,
		        "the body must be {\"name\": …, \"fence\": …}: it is not a JSON object");
	}
	int result = read_order(json, ret_order, problem);
	json_decref(json);
	return result;
}
