/*
 * Connections in virtual time: a byte stream in each direction, and everything that the network,
 * the kernels and dying hosts can do to it. Bytes are delayed and arrive in pieces. A connection
 * holds only a limited number of bytes, so some writes are short. It may be cut at any byte; each
 * end learns of that at once, or late.
 *
 * A wire has two ends, the dialler's and the listener's; each end has the bytes that are in flight
 * to it. Events name an end by its wire's number and its side, because an event may come after the
 * wire is gone.
 */
#include "colony.h"

#include "link_tap.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* The longest time until a connection is found to be dead, after the other side vanished without
 * closing it. */
#define SILENT_MAX (3 * COLONY_SECOND)

enum wire_event {
	WIRE_DIALLED,  /* a dial has succeeded or failed */
	WIRE_ACCEPT,   /* the listener accepts what is in its queue */
	WIRE_READABLE, /* bytes have arrived, or the end of the stream */
	WIRE_WRITABLE,
	WIRE_BROKEN /* the kernel notices that a connection is dead */
};

struct chunk {
	STAILQ_ENTRY(chunk) entry;
	uint64_t arrival;
	size_t size, taken;
	uint8_t bytes[];
};

enum end_state {
	END_NONE,     /* not connected yet, or closed */
	END_DIALLING, /* the dialler waits for the connection */
	END_QUEUED,   /* connected, but the listener has not accepted it yet */
	END_OPEN,
};

struct wire_end {
	struct wire *wire;
	uint32_t side, place;
	uint64_t process; /* the number of the process that has this end */
	struct tap tap;   /* watches what arrives here */
	enum end_state state;
	struct connection *connection; /* the member's connection, if dialling or open */
	STAILQ_HEAD(, chunk) in;       /* bytes that are in flight to this end, or not read yet */
	size_t in_size;
	uint64_t arrival; /* when the last of the bytes in flight arrives */
	/* Nothing follows the bytes in flight: the other end is closed or half-closed. */
	bool finished;
	bool shut;    /* this end sends nothing more */
	bool blocked; /* this end has output, but there is no room */
	bool reads;   /* the member wanted to read when it was last asked */
	bool awaited; /* there is a WIRE_READABLE event with this number */
	uint32_t wake;
};

struct wire {
	LIST_ENTRY(wire) entry;
	uint64_t number;
	bool cut; /* nothing gets through any more */
	struct wire_end ends[2];
};

LIST_HEAD(wire_list, wire);

struct wires {
	struct wire_list list;
	/* the pairs of places, indexed by sender, then receiver */
	struct tap_pair pairs[COLONY_PLACES_MAX][COLONY_PLACES_MAX];
	uint64_t numbers; /* how many numbers were given out so far */
};

void wires_create(struct colony *colony)
{
	colony->wires = calloc(1, sizeof(*colony->wires));
	memory_must(colony->wires != NULL);
	LIST_INIT(&colony->wires->list);
}

static uint64_t draw_delay(struct colony *colony)
{
	return chance_below(&colony->chance, colony->plan.delay_max);
}

/* Do dials fail, and are they slow? Only while there are faults. */
static bool is_harmful(const struct colony *colony)
{
	return !colony->healing && colony->now >= colony->plan.calm_ns;
}

static struct wire_end *other_of(struct wire_end *end)
{
	return &end->wire->ends[1 - end->side];
}

static void push(struct colony *colony, const struct wire_end *end, enum wire_event kind,
                 uint64_t time)
{
	queue_push(colony->queue, &(struct event){.time = time,
	                                          .kind = COLONY_WIRE,
	                                          .side = (uint8_t)kind,
	                                          .node = end->place,
	                                          .from = end->side,
	                                          .number = end->wire->number,
	                                          .size = end->wake});
}

static void note(struct colony *colony, const char *what, const struct wire_end *end,
                 uint64_t number)
{
	colony_mark(colony, what, end->place, end->wire->number, number);
}

/* --- reading --- */

/* Makes an event for the time at which this end can read something. */
static void await(struct colony *colony, struct wire_end *end)
{
	uint64_t time = colony->now;

	if (end->awaited || end->state != END_OPEN || !end->reads)
		return;
	if (STAILQ_EMPTY(&end->in) && !end->finished)
		return;
	uint64_t arrival = STAILQ_EMPTY(&end->in) ? end->arrival : STAILQ_FIRST(&end->in)->arrival;
	uint64_t stalled = colony->stalled[other_of(end)->place][end->place];
	if (arrival > time)
		time = arrival;
	if (stalled > time)
		time = stalled;
	end->awaited = true;
	end->wake++;
	push(colony, end, WIRE_READABLE, time);
}

void wires_stalled(struct colony *colony, uint32_t from, uint32_t to)
{
	struct wire *wire;

	LIST_FOREACH (wire, &colony->wires->list, entry) {
		for (uint32_t side = 0; side < 2; side++) {
			struct wire_end *end = &wire->ends[side];
			if (end->place != to || other_of(end)->place != from)
				continue;
			end->awaited = false;
			await(colony, end);
		}
	}
}

/* Takes the first bytes that have arrived, as many as one read returns. */
static size_t take_bytes(struct colony *colony, struct wire_end *end, uint8_t *room,
                         size_t room_size)
{
	size_t size = room_size, got = 0;
	struct chunk *chunk;

	if (colony->plan.piece_max != 0)
		size = 1 + chance_below(&colony->chance, colony->plan.piece_max);
	if (size > room_size)
		size = room_size;
	while (got < size && (chunk = STAILQ_FIRST(&end->in)) != NULL &&
	       chunk->arrival <= colony->now) {
		size_t part = chunk->size - chunk->taken;
		if (part > size - got)
			part = size - got;
		memcpy(room + got, chunk->bytes + chunk->taken, part);
		got += part;
		chunk->taken += part;
		end->in_size -= part;
		if (chunk->taken == chunk->size) {
			STAILQ_REMOVE_HEAD(&end->in, entry);
			free(chunk);
		}
	}
	return got;
}

static void drop_bytes(struct wire_end *end)
{
	while (!STAILQ_EMPTY(&end->in)) {
		struct chunk *chunk = STAILQ_FIRST(&end->in);
		STAILQ_REMOVE_HEAD(&end->in, entry);
		free(chunk);
	}
	end->in_size = 0;
}

/* --- the end of a connection --- */

/* Drops the end of what is in flight to this end, from any byte on. */
static void lose_tail(struct colony *colony, struct wire_end *end)
{
	size_t keep = chance_below(&colony->chance, end->in_size + 1);
	struct chunk *chunk, *next;
	STAILQ_HEAD(, chunk) kept = STAILQ_HEAD_INITIALIZER(kept);

	end->in_size = keep;
	for (chunk = STAILQ_FIRST(&end->in); chunk != NULL; chunk = next) {
		next = STAILQ_NEXT(chunk, entry);
		size_t part = chunk->size - chunk->taken;
		if (part > keep)
			chunk->size = chunk->taken + keep;
		keep -= part > keep ? keep : part;
		if (chunk->size > chunk->taken)
			STAILQ_INSERT_TAIL(&kept, chunk, entry);
		else
			free(chunk);
	}
	STAILQ_INIT(&end->in);
	STAILQ_CONCAT(&end->in, &kept);
}

/* Lets the end learn that its connection is dead: soon, or after a while in which it believes that
 * the connection is alive. */
static void break_later(struct colony *colony, const struct wire_end *end)
{
	uint64_t delay = chance_percent(&colony->chance, colony->plan.silent_percent)
	                         ? chance_below(&colony->chance, SILENT_MAX)
	                         : draw_delay(colony);

	if (end->state != END_NONE)
		push(colony, end, WIRE_BROKEN, colony->now + delay);
}

static void cut(struct colony *colony, struct wire *wire)
{
	if (wire->cut)
		return;
	note(colony, "cut", &wire->ends[0], wire->ends[1].place);
	wire->cut = true;
	colony->cuts++;
	for (uint32_t side = 0; side < 2; side++) {
		lose_tail(colony, &wire->ends[side]);
		break_later(colony, &wire->ends[side]);
	}
}

enum ending {
	ENDING_POLITE, /* the other end gets all bytes, then the end of the stream */
	ENDING_RESET,  /* the other end gets only some of the bytes */
	ENDING_SILENT  /* the other end gets nothing */
};

static void finish(struct colony *colony, struct wire_end *end)
{
	uint64_t arrival = colony->now + draw_delay(colony);

	if (end->finished)
		return;
	end->finished = true;
	if (arrival > end->arrival)
		end->arrival = arrival;
	await(colony, end);
}

static void end_wire(struct colony *colony, struct wire_end *end, enum ending ending)
{
	struct wire_end *other = other_of(end);

	note(colony, "closed", end, ending);
	end->state = END_NONE;
	end->connection = NULL;
	end->blocked = false;
	drop_bytes(end);
	if (end->wire->cut || other->state == END_NONE)
		return;
	if (ending == ENDING_SILENT) {
		end->wire->cut = true;
		lose_tail(colony, other);
		break_later(colony, other);
		return;
	}
	if (ending == ENDING_RESET)
		lose_tail(colony, other);
	finish(colony, other);
}

/* Closes this end, and tells the member. */
static void close_end(struct colony *colony, struct wire_end *end, enum ending ending,
                      const char *why)
{
	struct connection *connection = end->connection;

	end_wire(colony, end, ending);
	if (connection != NULL)
		member_closed(colony->places[end->place].member, connection, why,
		              colony_clock(colony, end->place));
}

void wires_close(struct colony *colony, struct connection *connection)
{
	struct wire_end *end = connection_user(connection);

	must(end->connection == connection); /* the end must not be closed already */
	/* A kernel that closes with unread bytes sends a reset. */
	close_end(colony, end, end->in_size > 0 ? ENDING_RESET : ENDING_POLITE, NULL);
}

void wires_kill(struct colony *colony, uint32_t place, bool polite)
{
	enum ending ending = polite ? ENDING_POLITE : (enum ending)chance_below(&colony->chance, 3);
	struct wire *wire;

	LIST_FOREACH (wire, &colony->wires->list, entry) {
		for (uint32_t side = 0; side < 2; side++) {
			if (wire->ends[side].place == place && wire->ends[side].state != END_NONE)
				close_end(colony, &wire->ends[side], ending, NULL);
		}
	}
}

void wires_sweep(struct colony *colony)
{
	struct wire *wire, *next;

	for (wire = LIST_FIRST(&colony->wires->list); wire != NULL; wire = next) {
		next = LIST_NEXT(wire, entry);
		if (wire->ends[0].state != END_NONE || wire->ends[1].state != END_NONE)
			continue;
		LIST_REMOVE(wire, entry);
		for (uint32_t side = 0; side < 2; side++) {
			drop_bytes(&wire->ends[side]);
			tap_free(&wire->ends[side].tap);
		}
		free(wire);
	}
}

/* --- writing --- */

static void send_bytes(struct colony *colony, struct wire_end *to, const uint8_t *bytes,
                       size_t size)
{
	uint64_t arrival = colony->now + draw_delay(colony);

	/* Bytes that are written to a dead connection fill its buffer and go nowhere. */
	to->in_size += size;
	if (to->wire->cut || to->state == END_NONE)
		return;
	struct chunk *chunk = malloc(sizeof(*chunk) + size);
	memory_must(chunk != NULL);
	if (arrival > to->arrival)
		to->arrival = arrival;
	chunk->arrival = to->arrival;
	chunk->size = size;
	chunk->taken = 0;
	memcpy(chunk->bytes, bytes, size);
	STAILQ_INSERT_TAIL(&to->in, chunk, entry);
	await(colony, to);
}

static void write_output(struct colony *colony, struct wire_end *end)
{
	struct wire_end *other = other_of(end);
	const uint8_t *bytes;
	size_t size;

	end->blocked = false;
	while ((size = connection_output(end->connection, &bytes)) > 0) {
		size_t room =
		        colony->plan.room > other->in_size ? colony->plan.room - other->in_size : 0;
		size_t part = size < room ? size : room;
		if (room == 0) {
			end->blocked = true;
			return;
		}
		if (chance_percent(&colony->chance, colony->plan.short_percent))
			part = 1 + chance_below(&colony->chance, part);
		send_bytes(colony, other, bytes, part);
		connection_written(end->connection, part);
		if (part < size && part < room) {
			push(colony, end, WIRE_WRITABLE, colony->now);
			return;
		}
	}
	if (connection_ends(end->connection) && !end->shut) {
		end->shut = true;
		if (!end->wire->cut && other->state != END_NONE)
			finish(colony, other);
	}
}

void wires_changed(struct colony *colony, struct connection *connection)
{
	struct wire_end *end = connection_user(connection);

	if (end == NULL || end->state == END_DIALLING)
		return;
	must(end->state == END_OPEN && end->connection == connection);
	write_output(colony, end);
	end->reads = connection_reads(connection);
	if (!end->reads)
		colony_mark(colony, "does not read", end->place, end->wire->number, 0);
	await(colony, end);
}

/* --- the beginning --- */

/* Returns the place with that address, or places_count. */
static uint32_t find_place(const struct colony *colony, const char *address)
{
	uint32_t place = 0;

	while (place < colony->places_count && strcmp(colony->places[place].address, address) != 0)
		place++;
	return place;
}

void wires_dial(struct colony *colony, uint32_t from, struct connection *connection,
                const char *address)
{
	uint32_t to = find_place(colony, address);
	struct wire *wire = calloc(1, sizeof(*wire));
	uint64_t delay = draw_delay(colony);

	memory_must(wire != NULL);
	wire->number = ++colony->wires->numbers;
	for (uint32_t side = 0; side < 2; side++) {
		wire->ends[side] = (struct wire_end){
		        .wire = wire, .side = side, .place = side == 0 ? from : to};
		STAILQ_INIT(&wire->ends[side].in);
	}
	LIST_INSERT_HEAD(&colony->wires->list, wire, entry);
	wire->ends[0].state = END_DIALLING;
	wire->ends[0].process = colony->places[from].life;
	wire->ends[0].connection = connection;
	connection_set_user(connection, &wire->ends[0]);
	note(colony, "dials", &wire->ends[0], to);
	if (is_harmful(colony) && chance_percent(&colony->chance, colony->plan.dial_slow_percent))
		delay += chance_below(&colony->chance, 8 * COLONY_SECOND);
	uint64_t time = colony->now + delay;
	if (colony->stalled[from][to] > time)
		time = colony->stalled[from][to];
	push(colony, &wire->ends[0], WIRE_DIALLED, time);
}

static void on_dialled(struct colony *colony, struct wire_end *end)
{
	struct wire_end *other = other_of(end);
	uint64_t late = 0;

	if (end->state != END_DIALLING)
		return;
	if (is_harmful(colony) && chance_percent(&colony->chance, colony->plan.dial_fail_percent)) {
		if (chance_percent(&colony->chance,
		                   50)) /* otherwise the dialler never hears of the failure */
			close_end(colony, end, ENDING_POLITE, "No route to host");
		return;
	}
	if (colony->places[other->place].member == NULL) {
		close_end(colony, end, ENDING_POLITE, "Connection refused");
		return;
	}
	other->state = END_QUEUED;
	other->process = colony->places[other->place].life;
	end->state = END_OPEN;
	end->reads = true;
	colony->connections++;
	if (is_harmful(colony) && colony->plan.accept_late_max != 0)
		late = chance_below(&colony->chance, colony->plan.accept_late_max);
	push(colony, other, WIRE_ACCEPT, colony->now + late);
	member_dialled(colony->places[end->place].member, end->connection,
	               colony_clock(colony, end->place));
}

static void on_accept(struct colony *colony, struct wire_end *end)
{
	if (end->state != END_QUEUED)
		return;
	end->state = END_OPEN;
	end->reads = true;
	end->connection = member_accepted(colony->places[end->place].member, "192.0.2.1", end,
	                                  colony_clock(colony, end->place));
	await(colony, end);
}

/* --- events --- */

/* Reads what arrives on a link. */
static void tap_bytes(struct colony *colony, struct wire_end *end, const uint8_t *bytes,
                      size_t size)
{
	struct wire_end *other = other_of(end);
	const struct colony_place *from = &colony->places[other->place];
	struct tap_wire wire = {
	        .tap = &end->tap,
	        .other = &other->tap,
	        .pair = &colony->wires->pairs[other->place][end->place],
	        .pair_back = &colony->wires->pairs[end->place][other->place],
	        .dialled = other->side == 0,
	        .connection = end->wire->number,
	        .receiver = colony->places[end->place].process,
	        .epoch = from->member != NULL && from->life == other->process
	                         ? node_epoch(member_node(from->member))
	                         : 0,
	};

	/* Bytes of an older process may still arrive. */
	if (!tap_pair_set(wire.pair, other->process, end->process) ||
	    !tap_pair_set(wire.pair_back, end->process, other->process))
		return;
	const char *wrong = tap_read(&wire, bytes, size);
	if (wrong != NULL)
		colony_wrong(colony, "from %s to %s: %s", from->name,
		             colony->places[end->place].name, wrong);
}

/* Reads once. Returns true if there may be more. */
static bool read_some(struct colony *colony, struct wire_end *end)
{
	enum { ROOM = 1 << 16 };
	static _Thread_local uint8_t room[ROOM];
	struct wire_end *other = other_of(end);
	size_t size = take_bytes(colony, end, room, sizeof(room));

	if (size == 0) {
		/* Close only if no bytes before the end of the stream were lost. */
		if (STAILQ_EMPTY(&end->in) && end->finished && end->arrival <= colony->now)
			close_end(colony, end, ENDING_POLITE, NULL);
		return false;
	}
	note(colony, "reads", end, size);
	colony->bytes += size;
	if (other->blocked)
		push(colony, other, WIRE_WRITABLE, colony->now + draw_delay(colony));
	if (!colony->plan.tls)
		tap_bytes(colony, end, room, size);
	/* Overwrite the bytes afterwards: the member must keep no pointer to them after the
	 * call. */
	member_input(colony->places[end->place].member, end->connection, room, size,
	             colony_clock(colony, end->place));
	memset(room, 0xa5, size);
	return true;
}

/* Reads several times before effects are taken, as a daemon does. */
static void on_readable(struct colony *colony, struct wire_end *end)
{
	end->awaited = false;
	while (connection_reads(end->connection) && read_some(colony, end) &&
	       chance_percent(&colony->chance, 50))
		;
	await(colony, end);
}

static void act(struct colony *colony, struct wire_end *end, const struct event *event)
{
	switch ((enum wire_event)event->side) {
	case WIRE_DIALLED:
		on_dialled(colony, end);
		break;
	case WIRE_ACCEPT:
		on_accept(colony, end);
		break;
	case WIRE_READABLE:
		if (end->state == END_OPEN && end->awaited && end->wake == event->size)
			on_readable(colony, end);
		break;
	case WIRE_WRITABLE:
		if (end->state == END_OPEN)
			write_output(colony, end);
		break;
	case WIRE_BROKEN:
		if (end->state != END_NONE)
			close_end(colony, end, ENDING_SILENT, "Connection timed out");
		break;
	}
}

void wires_on_event(struct colony *colony, const struct event *event)
{
	struct wire *wire;

	LIST_FOREACH (wire, &colony->wires->list, entry) {
		if (wire->number == event->number)
			break;
	}
	/* A process that died has no ends any more. */
	if (wire == NULL || wire->ends[event->from].state == END_NONE)
		return;
	act(colony, &wire->ends[event->from], event);
	colony_pump(colony, event->node);
}

/* --- the end --- */

void wires_cut(struct colony *colony, uint32_t number)
{
	struct wire *wire = NULL;
	uint32_t count = 0;

	LIST_FOREACH (wire, &colony->wires->list, entry)
		count++;
	if (count == 0)
		return;
	number %= count;
	wire = LIST_FIRST(&colony->wires->list);
	while (number-- > 0)
		wire = LIST_NEXT(wire, entry);
	cut(colony, wire);
}

void wires_destroy(struct colony *colony)
{
	wires_sweep(colony);
	for (uint32_t i = 0; i < COLONY_PLACES_MAX; i++) {
		for (uint32_t k = 0; k < COLONY_PLACES_MAX; k++)
			tap_pair_free(&colony->wires->pairs[i][k]);
	}
	must(LIST_EMPTY(&colony->wires->list));
	free(colony->wires);
}
