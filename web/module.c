/*
 * The stage as a WebAssembly module. Its functions take numbers; texts are passed through one place
 * in memory. It also has the counters that clang puts into the algorithms, which tell the lines
 * that ran.
 *
 * An instance has one run. The page writes a text to the address that room() returns. The text that
 * a call returns is at text(), size() bytes long, until the next call.
 */
#include "memory.h"
#include "must.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))

static struct stage *stage;
static struct text answer;
static char *input;

/* A bug, or running out of memory, ends the instance. The page sees a trap and reports it. */
void must_failed(const char *file, int line, const char *condition)
{
	(void)file;
	(void)line;
	(void)condition;
	__builtin_trap();
}

void memory_failed(void)
{
	__builtin_trap();
}

EXPORT("room") char *module_room(uint32_t size)
{
	input = realloc(input, size + 1);
	memory_must(input != NULL);
	input[size] = '\0';
	return input;
}

EXPORT("text") const char *module_text(void)
{
	return answer.bytes;
}

EXPORT("size") uint32_t module_size(void)
{
	return (uint32_t)answer.used;
}

EXPORT("catalogue") void module_catalogue(void)
{
	text_clear(&answer);
	stage_catalogue(&answer);
}

static void begin(bool traced)
{
	if (stage != NULL)
		stage_destroy(stage);
	stage = stage_create(traced);
	text_clear(&answer);
}

/* Returns 0 and the first lines of the trace, or -1 and what is wrong. */
EXPORT("open") int32_t module_open(int32_t traced)
{
	begin(traced != 0);
	int result = stage_open(stage, input, &answer);
	if (result == 0)
		stage_lines(stage, &answer);
	return result;
}

EXPORT("scenario") int32_t module_scenario(int32_t traced, uint32_t size)
{
	begin(traced != 0);
	int result = stage_open_scenario(stage, input, size, &answer);
	if (result == 0)
		stage_lines(stage, &answer);
	return result;
}

/* --- the lines that ran --- */

/* The record that clang 14 writes for each function. The counters are this many bytes from the
 * record itself. */
struct record {
	uint64_t name; /* the low half of the MD5 of the function's name */
	uint64_t hash;
	int32_t counters;
	uint32_t function, values;
	uint32_t counters_count;
	uint16_t value_sites[2];
};

/* The runtime registers the records one by one, before anything else runs. */
enum { RECORDS_MAX = 2048 };
static const struct record *records[RECORDS_MAX];
static size_t records_count;

/* The compiler generates calls of these, and refers to the runtime that would write a file at the
 * end. */
void __llvm_profile_register_function(void *record);
void __llvm_profile_register_names_function(void *names, uint64_t size);
int __llvm_profile_runtime;

void __llvm_profile_register_function(void *record)
{
	must(records_count < RECORDS_MAX);
	records[records_count++] = record;
}

void __llvm_profile_register_names_function(void *names, uint64_t size)
{
	(void)names;
	(void)size;
}

static uint64_t *counters_of(const struct record *record)
{
	return (uint64_t *)((uintptr_t)record + (uintptr_t)record->counters);
}

static void clear_counters(void)
{
	for (size_t i = 0; i < records_count; i++)
		memset(counters_of(records[i]), 0, records[i]->counters_count * sizeof(uint64_t));
}

/* Writes [["0123456789abcdef",[1,0,1]],…]: the functions that ran since the last step or act
 * began. */
EXPORT("lines") void module_lines(void)
{
	text_clear(&answer);
	text_add_string(&answer, "[");
	for (size_t k = 0; k < records_count; k++) {
		const struct record *record = records[k];
		const uint64_t *counters = counters_of(record);
		bool ran = false;
		for (uint32_t i = 0; i < record->counters_count; i++)
			ran = ran || counters[i] != 0;
		if (!ran)
			continue;
		text_format(&answer, "%s[\"%016llx\",[", answer.used == 1 ? "" : ",",
		            (unsigned long long)record->name);
		for (uint32_t i = 0; i < record->counters_count; i++)
			text_format(&answer, "%s%llu", i == 0 ? "" : ",",
			            (unsigned long long)counters[i]);
		text_add_string(&answer, "]]");
	}
	text_add_string(&answer, "]");
}

/* --- going on --- */

EXPORT("step") uint32_t module_step(uint32_t count)
{
	text_clear(&answer);
	/* A page that makes a single step asks for the lines that ran; many steps at once are
	 * faster without counting them. */
	uint32_t done = stage_step(stage, count, count == 1 ? clear_counters : NULL);
	stage_lines(stage, &answer);
	return done;
}

/* Message numbers and times are whole numbers below 2^53, so that a double can hold them. */
EXPORT("act") int32_t module_act(int32_t act, double what, double by)
{
	text_clear(&answer);
	clear_counters();
	bool done = stage_do(stage, (enum stage_act)act, (uint64_t)what, (uint64_t)by);
	stage_lines(stage, &answer);
	return done;
}

EXPORT("finish") void module_finish(void)
{
	text_clear(&answer);
	stage_finish(stage);
	stage_lines(stage, &answer);
}

EXPORT("states") void module_states(void)
{
	text_clear(&answer);
	stage_states(stage, &answer);
}

EXPORT("flights") void module_flights(void)
{
	text_clear(&answer);
	stage_flights(stage, &answer);
}

EXPORT("properties") void module_properties(void)
{
	text_clear(&answer);
	stage_properties(stage, &answer);
}

EXPORT("status") void module_status(void)
{
	text_clear(&answer);
	stage_status(stage, &answer);
}

EXPORT("diagram") void module_diagram(void)
{
	text_clear(&answer);
	stage_diagram(stage, &answer);
}
