#include "trace.h"

#include "diagram.h"
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace {
	FILE *file; /* NULL: no lines are wanted */
	char *path;
	struct diagram *diagram; /* NULL: none is wanted */
	bool election;
	bool cut; /* the run was given up */
	uint32_t nodes;
	char **variables; /* of each node, as last written */
};

char *time_text(uint64_t time, char *ret_text)
{
	int length =
	        snprintf(ret_text, 32, "%" PRIu64 ".%06" PRIu64, time / 1000000, time % 1000000);
	while (ret_text[length - 1] == '0')
		length--;
	if (ret_text[length - 1] == '.')
		length--;
	ret_text[length] = '\0';
	return ret_text;
}

struct trace *trace_open(const char *path, const char *diagram_path, struct problem *problem)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	memory_must(trace != NULL);
	if (path != NULL) {
		trace->file = fopen(path, "wb");
		trace->path = strdup(path);
		memory_must(trace->path != NULL);
	}
	if (path != NULL && trace->file == NULL)
		problem_set(problem, "trace file '%.200s': %s", path, strerror(errno));
	else if (diagram_path != NULL)
		trace->diagram = diagram_open(diagram_path, problem);
	if ((path == NULL || trace->file != NULL) &&
	    (diagram_path == NULL || trace->diagram != NULL))
		return trace;
	if (trace->file != NULL)
		fclose(trace->file);
	free(trace->path);
	free(trace);
	return NULL;
}

void trace_start(struct trace *trace, const struct setup *setup)
{
	const struct network *network = &setup->network;

	trace->election = network->algorithm->kind == KIND_ELECTION;
	if (trace->diagram != NULL)
		diagram_start(trace->diagram, setup);
	if (trace->file == NULL)
		return;
	json_t *line = json_pack(
	        "{s:s, s:s, s:s, s:I, s:o, s:o, s:b, s:I, s:O}", "ev", "start", "algorithm",
	        network->algorithm->name, "topology", setup->topology, "nodes",
	        (json_int_t)network->graph.nodes, "edges", setup_edges(setup), "holder",
	        network->algorithm->has_token ? json_integer(network->holder) : json_null(), "fifo",
	        setup->fifo, "seed", (json_int_t)setup->seed, "params", setup->parameters);
	memory_must(line != NULL);
	/* Of an election also the identifiers: a node is a place. */
	if (trace->election) {
		json_t *arrangement = json_array();
		for (uint32_t i = 0; i < network->graph.nodes; i++)
			json_array_append_new(arrangement, json_integer(network->identifiers[i]));
		json_object_set_new(line, "arrangement", arrangement);
	}
	json_dumpf(line, trace->file, JSON_COMPACT);
	fputc('\n', trace->file);
	json_decref(line);
}

void trace_started(struct trace *trace, const struct world *world)
{
	if (trace->file == NULL)
		return;
	trace->nodes = world->network->graph.nodes;
	trace->variables = calloc(trace->nodes, sizeof(*trace->variables));
	memory_must(trace->variables != NULL);
	for (uint32_t i = 1; i <= trace->nodes; i++)
		trace->variables[i - 1] = world_describe(world, i);
}

static void begin_line(struct trace *trace, uint64_t time, const char *event)
{
	char text[32];
	fprintf(trace->file, "{\"t\":%s,\"ev\":\"%s\"", time_text(time, text), event);
}

static void write_event(struct trace *trace, uint64_t time, const char *event, uint32_t node)
{
	if (trace->file == NULL)
		return;
	begin_line(trace, time, event);
	fprintf(trace->file, ",\"node\":%" PRIu32 "}\n", node);
}

void trace_request(struct trace *trace, uint64_t time, uint32_t node)
{
	if (trace->diagram != NULL)
		diagram_request(trace->diagram, time, node);
	write_event(trace, time, trace->election ? "initiate" : "request", node);
}

void trace_expire(struct trace *trace, uint64_t time, uint32_t node)
{
	write_event(trace, time, "expire", node);
}

void trace_exit(struct trace *trace, uint64_t time, uint32_t node)
{
	if (trace->diagram != NULL)
		diagram_exit(trace->diagram, time, node);
	write_event(trace, time, "exit", node);
}

void trace_deliver(struct trace *trace, uint64_t time, uint64_t number, uint32_t from, uint32_t to,
                   const char *type)
{
	if (trace->diagram != NULL)
		diagram_deliver(trace->diagram, time, number);
	if (trace->file == NULL)
		return;
	begin_line(trace, time, "deliver");
	fprintf(trace->file,
	        ",\"msg\":%" PRIu64 ",\"from\":%" PRIu32 ",\"to\":%" PRIu32 ",\"type\":\"%s\"}\n",
	        number, from, to, type);
}

void trace_lose(struct trace *trace, uint64_t time, uint64_t number)
{
	if (trace->diagram != NULL)
		diagram_lose(trace->diagram, time, number);
	if (trace->file == NULL)
		return;
	begin_line(trace, time, "lose");
	fprintf(trace->file, ",\"msg\":%" PRIu64 "}\n", number);
}

static void write_send(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                       const struct effect *effect, uint64_t number)
{
	const uint8_t *body = world->out.bytes + effect->offset;
	const struct message_type *type = &world->algorithm->messages[body[0]];
	char *text = world_show(world, body, effect->size);

	if (trace->diagram != NULL)
		diagram_send(trace->diagram, time, number, node, effect->node, body[0],
		             strlen(text) <= DIAGRAM_LABEL_MOST ? text : type->name);
	if (trace->file != NULL) {
		begin_line(trace, time, "send");
		fprintf(trace->file,
		        ",\"msg\":%" PRIu64 ",\"from\":%" PRIu32 ",\"to\":%" PRIu32
		        ",\"type\":\"%s\",\"text\":\"%s\",\"bytes\":%" PRIu32 ",\"token\":%s}\n",
		        number, node, effect->node, type->name, text, effect->size,
		        type->token ? "true" : "false");
	}
	free(text);
}

void trace_sends(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                 uint64_t number)
{
	for (uint32_t i = 0; i < world->out.effects_count; i++) {
		if (world->out.effects[i].kind == EFFECT_SEND)
			write_send(trace, world, time, node, &world->out.effects[i], number++);
	}
}

static void write_elected(struct trace *trace, uint64_t time, uint32_t node, uint32_t leader)
{
	if (trace->diagram != NULL)
		diagram_elected(trace->diagram, time, node, leader);
	if (trace->file == NULL)
		return;
	begin_line(trace, time, "elected");
	fprintf(trace->file, ",\"node\":%" PRIu32 ",\"leader\":%" PRIu32 "}\n", node, leader);
}

static void write_variables(struct trace *trace, const struct world *world, uint64_t time,
                            uint32_t node)
{
	char *variables = world_describe(world, node);

	if (strcmp(variables, trace->variables[node - 1]) == 0) {
		free(variables);
		return;
	}
	begin_line(trace, time, "state");
	fprintf(trace->file, ",\"node\":%" PRIu32 ",\"vars\":%s}\n", node, variables);
	free(trace->variables[node - 1]);
	trace->variables[node - 1] = variables;
}

void trace_effects(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                   uint64_t number)
{
	/* First, since a picture may end with what is sent. */
	if (trace->diagram != NULL && world->phases[node - 1] == PHASE_IDLE)
		diagram_idle(trace->diagram, time, node);
	trace_sends(trace, world, time, node, number);
	for (uint32_t i = 0; i < world->out.effects_count; i++) {
		const struct effect *effect = &world->out.effects[i];
		if (effect->kind == EFFECT_ENTER) {
			if (trace->diagram != NULL)
				diagram_enter(trace->diagram, time, node);
			write_event(trace, time, "enter", node);
		} else if (effect->kind == EFFECT_ELECTED) {
			write_elected(trace, time, node, effect->node);
		}
	}
	if (trace->file != NULL)
		write_variables(trace, world, time, node);
}

void trace_cut(struct trace *trace)
{
	trace->cut = true;
	if (trace->diagram != NULL)
		diagram_cut(trace->diagram);
}

int trace_end(struct trace *trace, uint64_t time, struct problem *problem)
{
	int failed = 0;

	if (trace->diagram != NULL)
		failed = diagram_end(trace->diagram, time, problem) != 0;
	if (trace->file != NULL) {
		begin_line(trace, time, trace->cut ? "cut" : "end");
		fputs("}\n", trace->file);
		bool unwritten = ferror(trace->file) != 0;
		if (fclose(trace->file) != 0 || unwritten) {
			problem_set(problem, "trace file '%.200s' could not be written",
			            trace->path);
			failed = 1;
		}
	}
	for (uint32_t i = 0; i < trace->nodes; i++)
		free(trace->variables[i]);
	free(trace->variables);
	free(trace->path);
	free(trace);
	return failed ? -1 : 0;
}
