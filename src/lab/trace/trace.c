#include "trace.h"

#include "diagram.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines are handed over when there are at least this many bytes of them. */
enum { DRAIN_SIZE = 1 << 16 };

struct trace {
	bool wants_lines;
	struct text lines; /* the lines since they were last handed over or cleared */
	void (*take)(void *context, const struct text *lines);
	void *context;
	/* the diagram that is made beside the lines; NULL if none is wanted */
	struct diagram *diagram;
	bool election;
	bool cut; /* the run was given up before its end */
	uint32_t nodes;
	char **variables; /* [node - 1]: the variables of a node as they were last written */
};

struct trace *trace_create(bool lines, bool diagram)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	memory_must(trace != NULL);
	trace->wants_lines = lines;
	if (diagram)
		trace->diagram = diagram_create();
	return trace;
}

void trace_destroy(struct trace *trace)
{
	if (trace->diagram != NULL)
		diagram_destroy(trace->diagram);
	for (uint32_t i = 0; i < trace->nodes; i++)
		free(trace->variables[i]);
	free(trace->variables);
	text_free(&trace->lines);
	free(trace);
}

void trace_show(struct trace *trace, const struct diagram_window *window)
{
	if (trace->diagram != NULL)
		diagram_show(trace->diagram, window);
}

void trace_drain(struct trace *trace, void (*take)(void *context, const struct text *lines),
                 void *context)
{
	trace->take = take;
	trace->context = context;
}

struct text *trace_lines(struct trace *trace)
{
	return &trace->lines;
}

/* Hands the lines over to `take` if there are at least `size` bytes of them. */
static void drain(struct trace *trace, size_t size)
{
	if (trace->take == NULL || trace->lines.used < size)
		return;
	trace->take(trace->context, &trace->lines);
	text_clear(&trace->lines);
}

static void write_edges(struct writer *writer, const struct graph *graph)
{
	writer_open(writer, '[');
	for (uint32_t i = 1; i <= graph->nodes; i++) {
		for (uint32_t k = 0; k < graph_degree(graph, i); k++) {
			uint32_t j = graph_neighbour(graph, i, k);
			if (i > j)
				continue;
			writer_open(writer, '[');
			writer_uint(writer, i);
			writer_uint(writer, j);
			writer_close(writer, ']');
		}
	}
	writer_close(writer, ']');
}

static void write_parameters(struct writer *writer, const struct setup *setup)
{
	writer_open(writer, '{');
	for (size_t i = 0; i < setup->parameters_count; i++) {
		const struct setup_parameter *parameter = &setup->parameters[i];
		writer_key(writer, parameter->name);
		if (parameter->number)
			writer_uint(writer, strtoull(parameter->value, NULL, 10));
		else
			writer_string(writer, parameter->value);
	}
	writer_close(writer, '}');
}

static void write_start(struct writer *writer, const struct setup *setup)
{
	const struct network *network = &setup->network;

	writer_open(writer, '{');
	writer_key(writer, "ev");
	writer_string(writer, "start");
	writer_key(writer, "algorithm");
	writer_string(writer, network->algorithm->name);
	writer_key(writer, "topology");
	writer_string(writer, setup->topology);
	writer_key(writer, "nodes");
	writer_uint(writer, network->graph.nodes);
	writer_key(writer, "edges");
	write_edges(writer, &network->graph);
	writer_key(writer, "holder");
	if (network->algorithm->has_token)
		writer_uint(writer, network->holder);
	else
		writer_null(writer);
	writer_key(writer, "fifo");
	writer_bool(writer, setup->fifo);
	writer_key(writer, "seed");
	writer_uint(writer, setup->seed);
	writer_key(writer, "params");
	write_parameters(writer, setup);
	/* In an election nodes are places, so the identifiers are listed too. */
	if (network->algorithm->kind == KIND_ELECTION) {
		writer_key(writer, "arrangement");
		writer_open(writer, '[');
		for (uint32_t i = 0; i < network->graph.nodes; i++)
			writer_uint(writer, network->identifiers[i]);
		writer_close(writer, ']');
	}
	writer_close(writer, '}');
}

void trace_start(struct trace *trace, const struct setup *setup)
{
	struct writer writer = {.used = 0};
	char *line = NULL;

	trace->election = setup->network.algorithm->kind == KIND_ELECTION;
	if (trace->diagram != NULL)
		diagram_start(trace->diagram, setup);
	if (!trace->wants_lines)
		return;
	do {
		size_t size = writer.used;
		line = realloc(line, size + 1);
		memory_must(line != NULL);
		writer_init(&writer, line, size);
		write_start(&writer, setup);
	} while (writer.used > writer.size);
	text_add(&trace->lines, line, writer.used);
	text_add(&trace->lines, "\n", 1);
	free(line);
}

void trace_seed(struct trace *trace)
{
	if (trace->diagram != NULL)
		diagram_seed(trace->diagram);
}

void trace_started(struct trace *trace, const struct world *world)
{
	if (!trace->wants_lines)
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
	text_format(&trace->lines, "{\"t\":%s,\"ev\":\"%s\"", time_text(time, text), event);
}

static void write_event(struct trace *trace, uint64_t time, const char *event, uint32_t node)
{
	if (!trace->wants_lines)
		return;
	begin_line(trace, time, event);
	text_format(&trace->lines, ",\"node\":%" PRIu32 "}\n", node);
}

void trace_request(struct trace *trace, uint64_t time, uint32_t node)
{
	if (trace->diagram != NULL)
		diagram_request(trace->diagram, time, node);
	write_event(trace, time, trace->election ? "initiate" : "request", node);
}

void trace_expire(struct trace *trace, uint64_t time, uint32_t node)
{
	if (trace->diagram != NULL)
		diagram_expire(trace->diagram, time, node);
	write_event(trace, time, "expire", node);
}

void trace_crash(struct trace *trace, uint64_t time, uint32_t node)
{
	if (trace->diagram != NULL)
		diagram_crash(trace->diagram, time, node);
	write_event(trace, time, "crash", node);
}

void trace_restart(struct trace *trace, uint64_t time, uint32_t node)
{
	if (trace->diagram != NULL)
		diagram_restart(trace->diagram, time, node);
	write_event(trace, time, "restart", node);
}

/* Writes an event about the link between two nodes. */
static void write_link(struct trace *trace, uint64_t time, const char *event, uint32_t a,
                       uint32_t b)
{
	if (!trace->wants_lines)
		return;
	begin_line(trace, time, event);
	text_format(&trace->lines, ",\"node\":%" PRIu32 ",\"to\":%" PRIu32 "}\n", a, b);
}

void trace_link(struct trace *trace, uint64_t time, uint32_t a, uint32_t b, bool linked)
{
	if (trace->diagram != NULL)
		diagram_link(trace->diagram, time, a, b, linked);
	write_link(trace, time, linked ? "link" : "unlink", a, b);
}

void trace_cut_link(struct trace *trace, uint64_t time, uint32_t a, uint32_t b)
{
	if (trace->diagram != NULL)
		diagram_cut_link(trace->diagram, time, a, b);
	write_link(trace, time, "cut_link", a, b);
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
	if (!trace->wants_lines)
		return;
	begin_line(trace, time, "deliver");
	text_format(&trace->lines,
	            ",\"msg\":%" PRIu64 ",\"from\":%" PRIu32 ",\"to\":%" PRIu32
	            ",\"type\":\"%s\"}\n",
	            number, from, to, type);
}

void trace_lose(struct trace *trace, uint64_t time, uint64_t number)
{
	if (trace->diagram != NULL)
		diagram_lose(trace->diagram, time, number);
	if (!trace->wants_lines)
		return;
	begin_line(trace, time, "lose");
	text_format(&trace->lines, ",\"msg\":%" PRIu64 "}\n", number);
}

/* Writes a message that is in flight from now on; `of` is the message that it is a copy of, or
 * 0. */
static void write_message(struct trace *trace, const struct world *world, uint64_t time,
                          const struct envelope *envelope, uint64_t of)
{
	const struct message_type *type = &world->algorithm->messages[envelope->body[0]];
	char *text = world_show(world, envelope->body, envelope->size);
	char label[DIAGRAM_LABEL_MOST + 1];

	snprintf(label, sizeof(label), "%s%s",
	         strlen(text) + 6 <= DIAGRAM_LABEL_MOST || of == 0 ? text : type->name,
	         of != 0 ? " again" : "");
	if (trace->diagram != NULL)
		diagram_send(trace->diagram, time, envelope->number, envelope->from, envelope->to,
		             envelope->body[0],
		             strlen(text) <= DIAGRAM_LABEL_MOST ? label : type->name);
	if (trace->wants_lines) {
		begin_line(trace, time, of != 0 ? "duplicate" : "send");
		text_format(&trace->lines, ",\"msg\":%" PRIu64, envelope->number);
		if (of != 0)
			text_format(&trace->lines, ",\"of\":%" PRIu64, of);
		text_format(&trace->lines,
		            ",\"from\":%" PRIu32 ",\"to\":%" PRIu32
		            ",\"type\":\"%s\",\"text\":\"%s\",\"bytes\":%" PRIu32
		            ",\"token\":%s}\n",
		            envelope->from, envelope->to, type->name, text, envelope->size,
		            type->token ? "true" : "false");
	}
	free(text);
}

static void write_send(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                       const struct effect *effect, uint64_t number)
{
	const struct envelope envelope = {
	        .from = node,
	        .to = effect->send.to,
	        .size = effect->send.size,
	        .number = number,
	        .body = world->out.bytes + effect->send.offset,
	};

	write_message(trace, world, time, &envelope, 0);
}

void trace_duplicate(struct trace *trace, const struct world *world, uint64_t time, uint64_t of,
                     const struct envelope *envelope)
{
	write_message(trace, world, time, envelope, of);
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
	if (!trace->wants_lines)
		return;
	begin_line(trace, time, "elected");
	text_format(&trace->lines, ",\"node\":%" PRIu32 ",\"leader\":%" PRIu32 "}\n", node, leader);
}

void trace_variables(struct trace *trace, const struct world *world, uint64_t time, uint32_t node)
{
	if (!trace->wants_lines)
		return;
	char *variables = world_describe(world, node);

	if (strcmp(variables, trace->variables[node - 1]) == 0) {
		free(variables);
		return;
	}
	begin_line(trace, time, "state");
	text_format(&trace->lines, ",\"node\":%" PRIu32 ",\"vars\":%s}\n", node, variables);
	free(trace->variables[node - 1]);
	trace->variables[node - 1] = variables;
}

void trace_effects(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                   uint64_t number)
{
	/* The diagram learns this before the messages, because it may stop recording at one of
	 * them. */
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
			write_elected(trace, time, node, effect->elected.identifier);
		}
	}
	trace_variables(trace, world, time, node);
	drain(trace, DRAIN_SIZE);
}

void trace_loop(struct trace *trace, uint64_t time)
{
	if (trace->diagram != NULL)
		diagram_loop(trace->diagram, time);
}

void trace_loop_closes(struct trace *trace)
{
	if (trace->diagram != NULL)
		diagram_loop_closes(trace->diagram);
}

void trace_violate(struct trace *trace, const char *sentence, const struct world *stuck)
{
	if (trace->diagram != NULL)
		diagram_violate(trace->diagram, sentence, stuck);
}

void trace_cut(struct trace *trace)
{
	trace->cut = true;
	if (trace->diagram != NULL)
		diagram_cut(trace->diagram);
}

void trace_end(struct trace *trace, uint64_t time)
{
	if (!trace->wants_lines)
		return;
	begin_line(trace, time, trace->cut ? "cut" : "end");
	text_add_string(&trace->lines, "}\n");
	drain(trace, 1);
}

void trace_draw(struct trace *trace, uint64_t time, struct text *svg)
{
	diagram_draw(trace->diagram, time, svg);
}
