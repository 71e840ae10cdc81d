/*
 * Feeds bytes as what a client sends. Arguments must lie inside these bytes. An incomplete command
 * is never taken for something else, and no more bytes are asked for than it needs. If a command
 * that was read is written again as an array, it is read in the same way.
 */
#include "resp.h"

#include <stdbool.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct resp_command command, again;

/* Arguments lie in the bytes or, if they were quoted, in the command: one after the other, and none
 * beyond the end. */
static void check_arguments(const char *bytes, size_t size)
{
	const char *at = bytes, *unquoted_at = command.unquoted;

	must(command.size > 0 && command.size <= size && command.size <= RESP_COMMAND_MAX);
	must(command.arguments_count <= RESP_ARGUMENTS_MAX);
	for (uint32_t i = 0; i < command.arguments_count; i++) {
		const struct resp_argument *argument = &command.arguments[i];
		bool unquoted = argument->bytes >= command.unquoted &&
		                argument->bytes <= command.unquoted + RESP_LINE_MAX;
		const char **place = unquoted ? &unquoted_at : &at;
		must(argument->bytes >= *place);
		*place = argument->bytes + argument->size;
	}
	must(at <= bytes + command.size);
	must(unquoted_at <= command.unquoted + RESP_LINE_MAX);
}

/* Reads a copy that ends there, so that a sanitizer notices any read beyond it. */
static enum resp_result read_copy(const char *bytes, size_t size, size_t *ret_needed)
{
	char *copy = malloc(size + (size == 0));
	const char *wrong = NULL;

	must(copy != NULL);
	memcpy(copy, bytes, size);
	enum resp_result result = resp_read(copy, size, &again, ret_needed, &wrong);
	must((result == RESP_WRONG) == (wrong != NULL));
	free(copy);
	return result;
}

static void check_beginnings(const char *bytes, size_t size, enum resp_result result)
{
	size_t needed;

	/* Try all beginnings of a short input, and some of a long one. */
	for (size_t part = 0; part < size; part += 1 + size / 64) {
		enum resp_result found = read_copy(bytes, part, &needed);
		must(found == RESP_MORE || (found == RESP_WRONG && result == RESP_WRONG));
		must(found != RESP_MORE || needed > part);
		must(found != RESP_MORE || result != RESP_COMMAND || needed <= size);
	}
}

static void check_round_trip(void)
{
	struct buffer bytes = {0};
	size_t needed;
	const char *wrong;

	resp_array(&bytes, command.arguments_count);
	for (uint32_t i = 0; i < command.arguments_count; i++)
		resp_bulk(&bytes, command.arguments[i].bytes, command.arguments[i].size);
	must(resp_read(buffer_front(&bytes), buffer_size(&bytes), &again, &needed, &wrong) ==
	     RESP_COMMAND);
	must(again.size == buffer_size(&bytes));
	must(again.arguments_count == command.arguments_count);
	for (uint32_t i = 0; i < command.arguments_count; i++) {
		must(again.arguments[i].size == command.arguments[i].size);
		must(memcmp(again.arguments[i].bytes, command.arguments[i].bytes,
		            again.arguments[i].size) == 0);
	}
	buffer_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	const char *wrong;
	size_t needed = 0;

	while (size > 0) {
		enum resp_result result = resp_read(bytes, size, &command, &needed, &wrong);
		if (result != RESP_COMMAND) {
			must(result != RESP_MORE || needed > size);
			check_beginnings(bytes, size, result);
			return 0;
		}
		check_arguments(bytes, size);
		check_beginnings(bytes, command.size, result);
		check_round_trip();
		bytes += command.size;
		size -= command.size;
	}
	return 0;
}
