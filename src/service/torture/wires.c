/*
 * See wires.h. A wire has two ends, the dialler's and the listener's; each end has the bytes that
 * are in flight to it. Events name an end by its wire's number and its side, because an event may
 * come after the wire is gone.
 */
#include "wires.h"

#include "member.h"
#include "memory.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* The longest time until a connection is found dead whose other side vanished without a word: by
 * keepalives, or by the limit on unacknowledged bytes. */
#define SILENT_MAX (3 * CLUSTER_SECOND)

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
	uint64_t arrival; /* when the last of them arrives */
	bool finished;    /* nothing follows them: the other end is closed or half-closed */
	bool shut;        /* this end sends nothing more */
	bool blocked;     /* this end has output, but there is no room */
	bool reads;       /* the member wanted to read when it was last asked */
	bool awaited;     /* there is an EVENT_READABLE with this number */
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
	/* Indexed by sender, then receiver. */
	struct tap_pair pairs[CLUSTER_PLACES_MAX][CLUSTER_PLACES_MAX];
	uint64_t numbers; /* how many numbers were given out so far */
};

void wires_init(struct cluster *cluster)
{
	cluster->wires = calloc(1, sizeof(*cluster->wires));
	memory_must(cluster->wires != NULL);
	LIST_INIT(&cluster->wires->list);
}

static uint64_t draw_delay(struct cluster *cluster)
{
	uint64_t delay = distribution_draw(&cluster->options.delay, &cluster->random);

	return delay > cluster->options.delay_max ? cluster->options.delay_max : delay;
}

static bool chance(struct cluster *cluster, uint32_t percent)
{
	return random_below(&cluster->random, 100) < percent;
}

static struct wire_end *other_of(struct wire_end *end)
{
	return &end->wire->ends[1 - end->side];
}

static void push(struct cluster *cluster, const struct wire_end *end, uint8_t kind, uint64_t time)
{
	queue_push(cluster->queue, &(struct event){.time = time,
	                                           .kind = kind,
	                                           .node = end->place,
	                                           .from = end->side,
	                                           .number = end->wire->number,
	                                           .size = end->wake});
}

static void note(struct cluster *cluster, enum note_kind kind, const struct wire_end *end,
                 uint64_t size, const void *bytes)
{
	cluster_note(cluster, &(struct note){kind, end->place, end->wire->number,
	                                     end->wire->ends[1 - end->side].place, size, bytes,
	                                     bytes != NULL ? size : 0});
}

/* --- reading --- */

/* Makes an event for when the end can read something. */
static void await(struct cluster *cluster, struct wire_end *end)
{
	uint64_t time = cluster->now;

	if (end->awaited || end->state != END_OPEN || !end->reads)
		return;
	if (STAILQ_EMPTY(&end->in) && !end->finished)
		return;
	uint64_t arrival = STAILQ_EMPTY(&end->in) ? end->arrival : STAILQ_FIRST(&end->in)->arrival;
	uint64_t stalled = cluster->links[other_of(end)->place][end->place].stalled;
	if (arrival > time)
		time = arrival;
	if (stalled > time)
		time = stalled;
	end->awaited = true;
	end->wake++;
	push(cluster, end, EVENT_READABLE, time);
}

void wires_stalled(struct cluster *cluster, uint32_t from, uint32_t to)
{
	struct wire *wire;

	LIST_FOREACH (wire, &cluster->wires->list, entry) {
		for (uint32_t side = 0; side < 2; side++) {
			struct wire_end *end = &wire->ends[side];
			if (end->place != to || other_of(end)->place != from)
				continue;
			end->awaited = false;
			await(cluster, end);
		}
	}
}

/* Takes the first bytes that have arrived, as many as are read at once. */
static size_t take_bytes(struct cluster *cluster, struct wire_end *end, uint8_t *room,
                         size_t room_size)
{
	size_t size = room_size, got = 0;
	struct chunk *chunk;

	if (cluster->options.wiring->piece_max != 0)
		size = 1 + random_below(&cluster->random, cluster->options.wiring->piece_max);
	if (size > room_size)
		size = room_size;
	while (got < size && (chunk = STAILQ_FIRST(&end->in)) != NULL &&
	       chunk->arrival <= cluster->now) {
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
static void lose_tail(struct cluster *cluster, struct wire_end *end)
{
	size_t keep = random_below(&cluster->random, end->in_size + 1);
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

/* The end learns that its connection is dead: soon, or after a while in which it believes that it
 * is alive. */
static void break_later(struct cluster *cluster, const struct wire_end *end)
{
	uint64_t delay = chance(cluster, cluster->options.wiring->silent_percent)
	                         ? random_below(&cluster->random, SILENT_MAX)
	                         : draw_delay(cluster);

	if (end->state != END_NONE)
		push(cluster, end, EVENT_BROKEN, cluster->now + delay);
}

static void cut(struct cluster *cluster, struct wire *wire)
{
	if (wire->cut)
		return;
	note(cluster, NOTE_CUT, &wire->ends[0], 0, NULL);
	wire->cut = true;
	cluster->cuts++;
	for (uint32_t side = 0; side < 2; side++) {
		lose_tail(cluster, &wire->ends[side]);
		break_later(cluster, &wire->ends[side]);
	}
}

enum ending {
	ENDING_POLITE, /* the other end gets all bytes, then the end of the stream */
	ENDING_RESET,  /* the other end gets only some of the bytes */
	ENDING_SILENT  /* the other end gets nothing */
};

static void finish(struct cluster *cluster, struct wire_end *end)
{
	uint64_t arrival = cluster->now + draw_delay(cluster);

	if (end->finished)
		return;
	end->finished = true;
	if (arrival > end->arrival)
		end->arrival = arrival;
	await(cluster, end);
}

static void end_wire(struct cluster *cluster, struct wire_end *end, enum ending ending)
{
	struct wire_end *other = other_of(end);

	note(cluster, NOTE_CLOSED, end, ending, NULL);
	end->state = END_NONE;
	end->connection = NULL;
	end->blocked = false;
	drop_bytes(end);
	if (end->wire->cut || other->state == END_NONE)
		return;
	if (ending == ENDING_SILENT) {
		end->wire->cut = true;
		lose_tail(cluster, other);
		break_later(cluster, other);
		return;
	}
	if (ending == ENDING_RESET)
		lose_tail(cluster, other);
	finish(cluster, other);
}

/* Closes this end, and tells the member. */
static void close_end(struct cluster *cluster, struct wire_end *end, enum ending ending,
                      const char *why)
{
	struct connection *connection = end->connection;

	end_wire(cluster, end, ending);
	if (connection != NULL)
		member_closed(cluster->places[end->place].member, connection, why, cluster->now);
}

void wires_close(struct cluster *cluster, struct connection *connection)
{
	struct wire_end *end = connection_user(connection);

	must(end->connection == connection); /* it must not be closed already */
	/* A kernel that closes with unread bytes sends a reset. */
	close_end(cluster, end, end->in_size > 0 ? ENDING_RESET : ENDING_POLITE, NULL);
}

void wires_crash(struct cluster *cluster, uint32_t place, bool polite)
{
	enum ending ending =
	        polite ? ENDING_POLITE : (enum ending)random_below(&cluster->random, 3);
	struct wire *wire;

	LIST_FOREACH (wire, &cluster->wires->list, entry) {
		for (uint32_t side = 0; side < 2; side++) {
			if (wire->ends[side].place == place && wire->ends[side].state != END_NONE)
				close_end(cluster, &wire->ends[side], ending, NULL);
		}
	}
}

void wires_sweep(struct cluster *cluster)
{
	struct wire *wire, *next;

	for (wire = LIST_FIRST(&cluster->wires->list); wire != NULL; wire = next) {
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

static void send_bytes(struct cluster *cluster, struct wire_end *to, const uint8_t *bytes,
                       size_t size)
{
	uint64_t arrival = cluster->now + draw_delay(cluster);

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
	await(cluster, to);
}

static void write_output(struct cluster *cluster, struct wire_end *end)
{
	const struct cluster_wiring *wiring = cluster->options.wiring;
	struct wire_end *other = other_of(end);
	const uint8_t *bytes;
	size_t size;

	end->blocked = false;
	while ((size = connection_output(end->connection, &bytes)) > 0) {
		size_t room = wiring->room > other->in_size ? wiring->room - other->in_size : 0;
		size_t part = size < room ? size : room;
		if (room == 0) {
			end->blocked = true;
			return;
		}
		if (chance(cluster, wiring->short_percent))
			part = 1 + random_below(&cluster->random, part);
		send_bytes(cluster, other, bytes, part);
		connection_written(end->connection, part);
		if (part < size && part < room) {
			push(cluster, end, EVENT_WRITABLE, cluster->now);
			return;
		}
	}
	if (connection_ends(end->connection) && !end->shut) {
		end->shut = true;
		if (!end->wire->cut && other->state != END_NONE)
			finish(cluster, other);
	}
}

void wires_changed(struct cluster *cluster, struct connection *connection)
{
	struct wire_end *end = connection_user(connection);

	if (end == NULL || end->state == END_DIALLING)
		return;
	must(end->state == END_OPEN && end->connection == connection);
	write_output(cluster, end);
	end->reads = connection_reads(connection);
	if (!end->reads)
		cluster->refusals++;
	await(cluster, end);
}

/* --- the beginning --- */

void wires_dial(struct cluster *cluster, uint32_t from, struct connection *connection, uint32_t to)
{
	const struct cluster_wiring *wiring = cluster->options.wiring;
	struct wire *wire = calloc(1, sizeof(*wire));
	uint64_t delay = draw_delay(cluster);

	memory_must(wire != NULL);
	wire->number = ++cluster->wires->numbers;
	for (uint32_t side = 0; side < 2; side++) {
		wire->ends[side] = (struct wire_end){
		        .wire = wire, .side = side, .place = side == 0 ? from : to};
		STAILQ_INIT(&wire->ends[side].in);
	}
	LIST_INSERT_HEAD(&cluster->wires->list, wire, entry);
	wire->ends[0].state = END_DIALLING;
	wire->ends[0].process = cluster->places[from].process;
	wire->ends[0].connection = connection;
	connection_set_user(connection, &wire->ends[0]);
	note(cluster, NOTE_DIAL, &wire->ends[0], 0, NULL);
	if (!cluster->calm && chance(cluster, wiring->dial_slow_percent))
		delay += random_below(&cluster->random, 8 * CLUSTER_SECOND);
	uint64_t time = cluster->now + delay;
	if (cluster->links[from][to].stalled > time)
		time = cluster->links[from][to].stalled;
	push(cluster, &wire->ends[0], EVENT_DIALLED, time);
}

static void on_dialled(struct cluster *cluster, struct wire_end *end)
{
	const struct cluster_wiring *wiring = cluster->options.wiring;
	struct wire_end *other = other_of(end);
	uint64_t late = 0;

	if (end->state != END_DIALLING)
		return;
	if (!cluster->calm && chance(cluster, wiring->dial_fail_percent)) {
		if (chance(cluster, 50)) /* otherwise the dialler never hears anything */
			close_end(cluster, end, ENDING_POLITE, "No route to host");
		return;
	}
	if (cluster->places[other->place].node == NULL) {
		close_end(cluster, end, ENDING_POLITE, "Connection refused");
		return;
	}
	other->state = END_QUEUED;
	other->process = cluster->places[other->place].process;
	end->state = END_OPEN;
	end->reads = true;
	cluster->connections++;
	if (!cluster->calm && wiring->accept_late_max != 0)
		late = random_below(&cluster->random, wiring->accept_late_max);
	push(cluster, other, EVENT_ACCEPT, cluster->now + late);
	member_dialled(cluster->places[end->place].member, end->connection, cluster->now);
}

static void on_accept(struct cluster *cluster, struct wire_end *end)
{
	if (end->state != END_QUEUED)
		return;
	end->state = END_OPEN;
	end->reads = true;
	end->connection =
	        member_accepted(cluster->places[end->place].member, "192.0.2.1", end, cluster->now);
	await(cluster, end);
}

/* --- events --- */

/* Where the tap's findings at this end are noted. */
struct tapped {
	struct cluster *cluster;
	const struct wire_end *end;
};

static void note_frame(void *context, uint64_t number, const uint8_t *bytes, size_t size)
{
	const struct tapped *tapped = context;
	uint32_t from = tapped->end->wire->ends[1 - tapped->end->side].place;

	cluster_note(tapped->cluster,
	             &(struct note){NOTE_FRAME, tapped->end->place, from, 0, number, bytes, size});
}

static void tap_bytes(struct cluster *cluster, struct wire_end *end, const uint8_t *bytes,
                      size_t size)
{
	struct wire_end *other = other_of(end);
	const struct cluster_place *from = &cluster->places[other->place];
	struct tapped tapped = {cluster, end};
	struct tap_wire wire = {
	        .tap = &end->tap,
	        .other = &other->tap,
	        .pair = &cluster->wires->pairs[other->place][end->place],
	        .pair_back = &cluster->wires->pairs[end->place][other->place],
	        .connection = end->wire->number,
	        .receiver = cluster->places[end->place].incarnation,
	        .epoch = from->node != NULL && from->process == other->process
	                         ? node_epoch(from->node)
	                         : 0,
	        .context = &tapped,
	        .frame = note_frame,
	};

	/* Bytes of an older process may still arrive. */
	if (!tap_pair_set(wire.pair, other->process, end->process) ||
	    !tap_pair_set(wire.pair_back, end->process, other->process))
		return;
	const char *wrong = tap_read(&wire, bytes, size);
	if (wrong != NULL)
		cluster->options.watch.wrong(cluster->options.watch.context, wrong);
}

/* Reads once. Returns true if there may be more. */
static bool read_some(struct cluster *cluster, struct wire_end *end)
{
	enum { ROOM = 1 << 16 };
	static _Thread_local uint8_t room[ROOM];
	struct wire_end *other = other_of(end);
	size_t size = take_bytes(cluster, end, room, sizeof(room));

	if (size == 0) {
		/* Not if the bytes before the end were lost. */
		if (STAILQ_EMPTY(&end->in) && end->finished && end->arrival <= cluster->now)
			close_end(cluster, end, ENDING_POLITE, NULL);
		return false;
	}
	note(cluster, NOTE_BYTES, end, size, room);
	cluster->bytes += size;
	if (other->blocked)
		push(cluster, other, EVENT_WRITABLE, cluster->now + draw_delay(cluster));
	tap_bytes(cluster, end, room, size);
	/* The member must keep no pointer to these bytes after the call. */
	member_input(cluster->places[end->place].member, end->connection, room, size, cluster->now);
	memset(room, 0xa5, size);
	return true;
}

/* Reads several times before effects are taken, as a daemon does. */
static void on_readable(struct cluster *cluster, struct wire_end *end)
{
	end->awaited = false;
	while (connection_reads(end->connection) && read_some(cluster, end) && chance(cluster, 50))
		;
	await(cluster, end);
}

static void act(struct cluster *cluster, struct wire_end *end, const struct event *event)
{
	switch (event->kind) {
	case EVENT_DIALLED:
		on_dialled(cluster, end);
		break;
	case EVENT_ACCEPT:
		on_accept(cluster, end);
		break;
	case EVENT_READABLE:
		if (end->state == END_OPEN && end->awaited && end->wake == event->size)
			on_readable(cluster, end);
		break;
	case EVENT_WRITABLE:
		if (end->state == END_OPEN)
			write_output(cluster, end);
		break;
	case EVENT_BROKEN:
		if (end->state != END_NONE)
			close_end(cluster, end, ENDING_SILENT, "Connection timed out");
		break;
	default:
		must(false);
	}
}

bool wires_on_event(struct cluster *cluster, const struct event *event)
{
	struct wire *wire;

	LIST_FOREACH (wire, &cluster->wires->list, entry) {
		if (wire->number == event->number)
			break;
	}
	/* A process that died has no ends any more. */
	if (wire == NULL || wire->ends[event->from].state == END_NONE)
		return false;
	act(cluster, &wire->ends[event->from], event);
	return true;
}

/* --- what the driver may do and ask --- */

void cluster_cut(struct cluster *cluster, uint32_t number)
{
	struct wire *wire = NULL;
	uint32_t count = 0;

	LIST_FOREACH (wire, &cluster->wires->list, entry)
		count++;
	if (count == 0)
		return;
	number %= count;
	wire = LIST_FIRST(&cluster->wires->list);
	while (number-- > 0)
		wire = LIST_NEXT(wire, entry);
	cut(cluster, wire);
}

bool cluster_wires_troubled(const struct cluster *cluster)
{
	struct wire *wire;

	LIST_FOREACH (wire, &cluster->wires->list, entry) {
		for (uint32_t side = 0; side < 2; side++) {
			const struct wire_end *end = &wire->ends[side];
			if (end->state != END_OPEN || end->blocked || wire->cut || !end->reads)
				return true;
		}
	}
	for (uint32_t i = 0; i < cluster->options.places_count; i++) {
		struct member *member = cluster->places[i].member;
		if (member == NULL || member_missing(member) != NULL ||
		    cluster->places[i].paused_until > cluster->now)
			return true;
	}
	return false;
}

uint64_t cluster_wires_bytes(const struct cluster *cluster)
{
	struct wire *wire;
	uint64_t bytes = 0;

	LIST_FOREACH (wire, &cluster->wires->list, entry)
		bytes += wire->ends[0].in_size + wire->ends[1].in_size;
	return bytes;
}

uint32_t cluster_wires_count(const struct cluster *cluster)
{
	struct wire *wire;
	uint32_t count = 0;

	LIST_FOREACH (wire, &cluster->wires->list, entry)
		count++;
	return count;
}

void wires_free(struct cluster *cluster)
{
	wires_sweep(cluster);
	for (uint32_t i = 0; i < CLUSTER_PLACES_MAX; i++) {
		for (uint32_t k = 0; k < CLUSTER_PLACES_MAX; k++)
			tap_pair_free(&cluster->wires->pairs[i][k]);
	}
	must(LIST_EMPTY(&cluster->wires->list));
	free(cluster->wires);
}
