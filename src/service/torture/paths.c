#include "paths.h"

#include "grow.h"
#include "log_engine.h"
#include "memory.h"
#include "ordeal.h"
#include "outbuffer.h"
#include "petition.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define DELAY_MIN (UINT64_C(50) * 1000)
#define DELAY_MAX (UINT64_C(3) * REALM_MS)
enum { PIECE_MAX = 700 };

struct datagram {
	uint32_t from, to;
	enum path_kind kind;
	uint64_t life;   /* the number of the receiving process */
	uint64_t server; /* the id of the sender's data directory; 0: it has none */
	size_t size;
	uint8_t bytes[];
};

/* Bytes in flight to one end of a wire. */
struct piece {
	STAILQ_ENTRY(piece) entry;
	uint64_t arrival;
	size_t size;
	uint8_t bytes[];
};

enum wire_event { WIRE_DIALLED, WIRE_READABLE, WIRE_BROKEN, WIRE_WRITABLE };

struct half {
	uint32_t place;
	uint64_t life;
	struct strand *line; /* the line at this end; NULL: not accepted yet, or closed here */
	bool open;           /* this end was dialled or accepted */
	bool ended; /* the other side has closed: the stream ends after the bytes in flight */
	/* When the last piece arrives; later pieces arrive at that time or after it. */
	uint64_t arrival;
	/* Bytes on their way to this end, or waiting there; lost bytes included. */
	size_t unread;
	bool blocked;     /* the other end has more to write than there is room for */
	uint64_t read_at; /* a slow process does not read before this time */
	STAILQ_HEAD(, piece) in;
};

struct path_wire {
	LIST_ENTRY(path_wire) entry;
	uint64_t number;
	bool broken;
	size_t room;           /* how many bytes may be unread at each end */
	struct half halves[2]; /* the two ends; halves[0] is the one that dialled */
};

struct path_net {
	struct chance chance;
	int links[REALM_HOSTS_MAX][REALM_HOSTS_MAX], engine[REALM_HOSTS_MAX][REALM_HOSTS_MAX];
	/* How long the process of each host waits between two reads. */
	uint64_t slow[REALM_HOSTS_MAX];
	uint32_t trouble_percent;
	uint64_t late_max;
	uint64_t wires_number;
	LIST_HEAD(, path_wire) wires;
	struct datagram **flying; /* indexed by the event's number; freed on arrival */
	size_t flying_count, flying_size;
	size_t *holes; /* indices of `flying` that are free again */
	size_t holes_count, holes_size;
};

struct path_net *paths_create(uint64_t seed)
{
	struct path_net *paths = calloc(1, sizeof(*paths));

	memory_must(paths != NULL);
	paths->chance = chance_stream(seed, STREAM_PATHS, 0);
	LIST_INIT(&paths->wires);
	return paths;
}

static void drop_pieces(struct half *half)
{
	while (!STAILQ_EMPTY(&half->in)) {
		struct piece *piece = STAILQ_FIRST(&half->in);
		STAILQ_REMOVE_HEAD(&half->in, entry);
		free(piece);
	}
}

static void free_wire(struct path_wire *wire)
{
	LIST_REMOVE(wire, entry);
	drop_pieces(&wire->halves[0]);
	drop_pieces(&wire->halves[1]);
	free(wire);
}

void paths_destroy(struct path_net *paths)
{
	while (!LIST_EMPTY(&paths->wires))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE moves the head. */
		free_wire(LIST_FIRST(&paths->wires));
	for (size_t i = 0; i < paths->flying_count; i++)
		free(paths->flying[i]);
	free((void *)paths->flying);
	free(paths->holes);
	free(paths);
}

static uint64_t draw_delay(struct path_net *paths)
{
	return chance_between(&paths->chance, DELAY_MIN, DELAY_MAX);
}

bool paths_reach(const struct realm *realm, uint32_t from, uint32_t to)
{
	return from == to || realm->paths->engine[from][to] == 0;
}

/* --- datagrams --- */

static size_t put_flying(struct path_net *paths, struct datagram *datagram)
{
	size_t number;

	if (paths->holes_count != 0) {
		number = paths->holes[--paths->holes_count];
	} else {
		paths->flying = grow((void *)paths->flying, &paths->flying_size,
		                     paths->flying_count + 1, sizeof(struct datagram *));
		number = paths->flying_count++;
	}
	paths->flying[number] = datagram;
	return number;
}

static void fly(struct realm *realm, uint32_t from, uint32_t to, enum path_kind kind,
                const uint8_t *bytes, size_t size, uint64_t delay)
{
	struct datagram *datagram = malloc(sizeof(*datagram) + size);

	memory_must(datagram != NULL);
	datagram->from = from;
	datagram->to = to;
	datagram->kind = kind;
	datagram->life = realm->hosts[to].life;
	datagram->server = realm_server(realm, from);
	datagram->size = size;
	memcpy(datagram->bytes, bytes, size);
	realm_push(realm, realm->now + delay, REALM_DATAGRAM, to,
	           put_flying(realm->paths, datagram), from);
}

void paths_send(struct realm *realm, uint32_t from, uint32_t to, enum path_kind kind,
                const uint8_t *bytes, size_t size)
{
	struct path_net *paths = realm->paths;
	uint64_t delay;

	if (from == to) {
		fly(realm, from, to, kind, bytes, size, 10000);
		return;
	}
	/* Draw in any case, so that a cut does not change the delays of later datagrams. */
	delay = draw_delay(paths);
	bool lost = chance_percent(&paths->chance, paths->trouble_percent);
	bool twice = chance_percent(&paths->chance, paths->trouble_percent);
	if (paths->late_max != 0)
		delay += chance_below(&paths->chance, paths->late_max);
	if (paths->engine[from][to] != 0)
		return;
	if (!lost)
		fly(realm, from, to, kind, bytes, size, delay);
	if (twice)
		fly(realm, from, to, kind, bytes, size, 3 * delay);
}

static bool is_believed(const struct realm *realm, uint32_t place, const struct datagram *datagram)
{
	const struct tenant *tenant = resident_tenant(realm->hosts[place].resident);
	struct bulletin bulletin;

	if (!bulletin_read(datagram->bytes, datagram->size, &bulletin))
		return false;
	return datagram->from == place ? tenant_believes_own(tenant, &bulletin)
	                               : tenant_believes(tenant, realm->hosts[datagram->from].name,
	                                                 datagram->server, bulletin.kind);
}

/* The member of a process tells a petitioner who votes, if tenant_must_tell says so. */
static void tell_voters(struct realm *realm, uint32_t place, const struct petition *petition)
{
	const struct realm_host *host = &realm->hosts[place];
	const struct tenant *tenant = resident_tenant(host->resident);
	uint32_t to = realm_place_of(realm, petition->process);
	struct out out;

	if (to == REALM_NOWHERE || to == place || realm_paused(realm, place) ||
	    !tenant_must_tell(tenant,
	                      host->voter_lives ? realm->engine->voters(realm, place) : NULL,
	                      petition))
		return;
	out_init(&out);
	bulletin_write_electors(&out, tenant_electors(tenant));
	paths_send(realm, place, to, PATH_BULLETIN, out.bytes, out.bytes_count);
	out_free(&out);
}

static void deliver(struct realm *realm, uint32_t place, const struct datagram *datagram)
{
	struct realm_host *host = &realm->hosts[place];
	const struct log_engine *engine = realm->engine;
	struct petition petition;
	bool good = true;

	switch (datagram->kind) {
	case PATH_BULLETIN:
		if (!is_believed(realm, place, datagram))
			return;
		resident_bulletin(host->resident, datagram->bytes, datagram->size,
		                  realm_read(realm, place, READER_RESIDENT));
		realm_pump(realm, place);
		break;
	case PATH_PETITION:
		good = petition_read(datagram->bytes, datagram->size, &petition);
		if (good)
			tell_voters(realm, place, &petition);
		if (good && host->voter_lives)
			good = engine->petition(realm, place, datagram->bytes, datagram->size);
		break;
	case PATH_LETTER:
		good = !host->voter_lives ||
		       engine->letter(realm, place, datagram->bytes, datagram->size);
		break;
	}
	if (!good)
		realm_wrong(realm, "%s sent something malformed",
		            realm->hosts[datagram->from].name);
}

void paths_on_datagram(struct realm *realm, const struct event *event)
{
	struct path_net *paths = realm->paths;
	struct datagram *datagram = paths->flying[event->number];
	struct realm_host *host = &realm->hosts[event->node];
	uint64_t until =
	        datagram->kind == PATH_BULLETIN ? host->paused_until : host->voter_paused_until;

	if (host->resident != NULL && host->life == datagram->life && until > realm->now) {
		/* The datagram waits in the socket of the paused process. */
		realm_push(realm, until, REALM_DATAGRAM, event->node, event->number, event->from);
		return;
	}
	paths->flying[event->number] = NULL;
	paths->holes = grow(paths->holes, &paths->holes_size, paths->holes_count + 1,
	                    sizeof(*paths->holes));
	paths->holes[paths->holes_count++] = event->number;
	if (host->resident != NULL && host->life == datagram->life)
		deliver(realm, event->node, datagram);
	free(datagram);
}

/* --- wires --- */

static struct path_wire *find_wire(const struct path_net *paths, uint64_t number)
{
	struct path_wire *wire;

	LIST_FOREACH (wire, &paths->wires, entry) {
		if (wire->number == number)
			return wire;
	}
	return NULL;
}

static void wire_push(struct realm *realm, const struct path_wire *wire, uint32_t side,
                      enum wire_event kind, uint64_t time)
{
	realm_push(realm, time, REALM_LINE, wire->halves[side].place, wire->number,
	           side << 2 | (uint32_t)kind);
}

static bool is_cut(const struct path_net *paths, uint32_t a, uint32_t b)
{
	return paths->links[a][b] != 0 || paths->links[b][a] != 0;
}

/* Breaks a wire. Both ends learn of it after some time; of the bytes in flight only the first ones
 * arrive. */
static void break_wire(struct realm *realm, struct path_wire *wire)
{
	struct path_net *paths = realm->paths;

	if (wire->broken)
		return;
	wire->broken = true;
	for (uint32_t side = 0; side < 2; side++) {
		struct half *half = &wire->halves[side];
		struct piece *piece, *last = NULL;
		uint64_t delay = chance_below(&paths->chance, realm->plan->lease_ns / 4);
		STAILQ_FOREACH (piece, &half->in, entry)
			last = piece;
		if (last != NULL)
			last->size = chance_below(&paths->chance, last->size + 1);
		if (half->open)
			wire_push(realm, wire, side, WIRE_BROKEN, realm->now + delay);
	}
}

void paths_cut(struct realm *realm, uint32_t from, uint32_t to, bool links, bool engine, int more)
{
	struct path_net *paths = realm->paths;
	struct path_wire *wire, *next;

	if (engine)
		paths->engine[from][to] += more;
	if (!links)
		return;
	paths->links[from][to] += more;
	for (wire = LIST_FIRST(&paths->wires); wire != NULL; wire = next) {
		next = LIST_NEXT(wire, entry);
		if (is_cut(paths, wire->halves[0].place, wire->halves[1].place))
			break_wire(realm, wire);
	}
}

void paths_trouble(struct realm *realm, uint32_t percent, uint64_t late_max)
{
	realm->paths->trouble_percent = percent;
	realm->paths->late_max = late_max;
}

void paths_slow(struct realm *realm, uint32_t place, uint64_t between)
{
	realm->paths->slow[place] = between;
}

void paths_heal(struct realm *realm)
{
	struct path_net *paths = realm->paths;

	memset(paths->slow, 0, sizeof(paths->slow));
	memset(paths->links, 0, sizeof(paths->links));
	memset(paths->engine, 0, sizeof(paths->engine));
	paths->trouble_percent = 0;
	paths->late_max = 0;
}

void paths_break(struct realm *realm, uint32_t place)
{
	struct path_wire *wire;

	LIST_FOREACH (wire, &realm->paths->wires, entry) {
		if (!wire->broken && wire->halves[0].open && wire->halves[1].open &&
		    (wire->halves[0].place == place || wire->halves[1].place == place)) {
			break_wire(realm, wire);
			return;
		}
	}
}

static struct half *half_of(struct realm *realm, struct strand *line, struct path_wire **ret_wire)
{
	struct path_wire *wire;

	LIST_FOREACH (wire, &realm->paths->wires, entry) {
		for (uint32_t side = 0; side < 2; side++) {
			if (wire->halves[side].line == line) {
				*ret_wire = wire;
				return &wire->halves[side];
			}
		}
	}
	return NULL;
}

static void sweep(struct path_wire *wire)
{
	if (!wire->halves[0].open && !wire->halves[1].open && wire->halves[0].line == NULL &&
	    wire->halves[1].line == NULL)
		free_wire(wire);
}

/* Closes this end, and tells the member if there is one. */
static void close_half(struct realm *realm, struct path_wire *wire, uint32_t side)
{
	struct half *half = &wire->halves[side], *other = &wire->halves[1 - side];
	struct realm_host *host = &realm->hosts[half->place];
	struct strand *line = half->line;

	half->line = NULL;
	half->open = false;
	drop_pieces(half);
	if (!wire->broken && other->open && !other->ended) {
		other->ended = true;
		uint64_t arrival = realm->now + draw_delay(realm->paths);
		if (arrival > other->arrival)
			other->arrival = arrival;
		wire_push(realm, wire, 1 - side, WIRE_READABLE, other->arrival);
	}
	sweep(wire);
	if (line != NULL)
		resident_closed(host->resident, line,
		                realm_read(realm, host->place, READER_RESIDENT));
}

void paths_close(struct realm *realm, struct strand *line)
{
	struct path_wire *wire;
	struct half *half = half_of(realm, line, &wire);

	must(half != NULL);
	close_half(realm, wire, (uint32_t)(half - wire->halves));
}

void paths_kill(struct realm *realm, uint32_t place)
{
	struct path_wire *wire, *next;

	for (wire = LIST_FIRST(&realm->paths->wires); wire != NULL; wire = next) {
		next = LIST_NEXT(wire, entry);
		for (uint32_t side = 0; side < 2; side++) {
			struct half *half = &wire->halves[side];
			if (half->place != place || (!half->open && half->line == NULL))
				continue;
			/* A dead process need not be told that its end is closed. */
			half->line = NULL;
			close_half(realm, wire, side);
			break;
		}
	}
}

void paths_dial(struct realm *realm, uint32_t place, struct strand *line, const char *address)
{
	struct path_net *paths = realm->paths;
	struct path_wire *wire = calloc(1, sizeof(*wire));
	uint32_t to = realm_at_address(address);

	memory_must(wire != NULL);
	wire->number = ++paths->wires_number;
	wire->room = chance_percent(&paths->chance, 70) ? 1 << 20
	                                                : chance_between(&paths->chance, 16, 3000);
	for (uint32_t side = 0; side < 2; side++) {
		wire->halves[side].place = side == 0 ? place : to;
		wire->halves[side].life = realm->hosts[wire->halves[side].place].life;
		STAILQ_INIT(&wire->halves[side].in);
	}
	wire->halves[0].line = line;
	strand_set_user(line, wire);
	LIST_INSERT_HEAD(&paths->wires, wire, entry);
	wire_push(realm, wire, 0, WIRE_DIALLED, realm->now + 2 * draw_delay(paths));
}

static void on_dialled(struct realm *realm, struct path_wire *wire)
{
	struct half *from = &wire->halves[0], *to = &wire->halves[1];
	struct realm_host *host = &realm->hosts[from->place], *peer = &realm->hosts[to->place];

	if (from->line == NULL)
		return;
	if (wire->broken || is_cut(realm->paths, from->place, to->place) ||
	    peer->resident == NULL) {
		close_half(realm, wire, 0);
		realm_pump(realm, host->place);
		return;
	}
	from->open = to->open = true;
	to->life = peer->life;
	resident_dialled(host->resident, from->line,
	                 realm_read(realm, host->place, READER_RESIDENT));
	realm_pump(realm, host->place);
}

static void write_out(struct realm *realm, struct path_wire *wire, uint32_t side)
{
	struct path_net *paths = realm->paths;
	struct half *half = &wire->halves[side], *other = &wire->halves[1 - side];
	const uint8_t *bytes;
	size_t size;

	while ((size = strand_output(half->line, &bytes)) > 0) {
		size_t part = size, room = wire->room - other->unread;
		other->blocked = room == 0;
		if (other->blocked)
			return;
		if (part > PIECE_MAX)
			part = 1 + chance_below(&paths->chance, PIECE_MAX);
		part = part < room ? part : room;
		other->unread += part;
		if (!wire->broken && other->open) {
			struct piece *piece = malloc(sizeof(*piece) + part);
			memory_must(piece != NULL);
			memcpy(piece->bytes, bytes, part);
			piece->size = part;
			piece->arrival = realm->now + draw_delay(paths);
			if (piece->arrival < other->arrival)
				piece->arrival = other->arrival;
			other->arrival = piece->arrival;
			STAILQ_INSERT_TAIL(&other->in, piece, entry);
			wire_push(realm, wire, 1 - side, WIRE_READABLE, piece->arrival);
		}
		strand_written(half->line, part);
	}
}

void paths_changed(struct realm *realm, struct strand *line)
{
	struct path_wire *wire;
	struct half *half = half_of(realm, line, &wire);

	if (half == NULL || !half->open)
		return;
	uint32_t side = (uint32_t)(half - wire->halves);
	write_out(realm, wire, side);
	if (strand_reads(line) && !STAILQ_EMPTY(&half->in))
		wire_push(realm, wire, side, WIRE_READABLE, STAILQ_FIRST(&half->in)->arrival);
}

/* Called when bytes were read at this end: the other end may have room to write more. */
static void make_room(struct realm *realm, struct path_wire *wire, uint32_t side, size_t size)
{
	struct half *half = &wire->halves[side];

	half->unread -= size;
	if (!half->blocked)
		return;
	half->blocked = false;
	wire_push(realm, wire, 1 - side, WIRE_WRITABLE, realm->now + draw_delay(realm->paths));
}

/* Must this end wait until a slow process reads it? If so, the next read has been scheduled. */
static bool reads_later(struct realm *realm, struct path_wire *wire, uint32_t side)
{
	struct half *half = &wire->halves[side];

	if (realm->paths->slow[half->place] == 0)
		return false;
	if (realm->now < half->read_at) {
		wire_push(realm, wire, side, WIRE_READABLE, half->read_at);
		return true;
	}
	half->read_at = realm->now + realm->paths->slow[half->place];
	return false;
}

static void on_readable(struct realm *realm, struct path_wire *wire, uint32_t side)
{
	struct half *half = &wire->halves[side];
	struct realm_host *host = &realm->hosts[half->place];
	uint64_t clock = realm_read(realm, half->place, READER_RESIDENT);

	if (half->line == NULL)
		half->line = resident_accepted(host->resident, wire, clock);
	struct piece *piece = STAILQ_FIRST(&half->in);
	if (piece != NULL && piece->arrival <= realm->now && strand_reads(half->line)) {
		STAILQ_REMOVE_HEAD(&half->in, entry);
		make_room(realm, wire, side, piece->size);
		resident_input(host->resident, half->line, piece->bytes, piece->size, clock);
		free(piece);
		/* Bytes that arrived while the end was not read need a new event. */
		piece = STAILQ_FIRST(&half->in);
		if ((piece != NULL && piece->arrival <= realm->now) ||
		    (piece == NULL && half->ended))
			wire_push(realm, wire, side, WIRE_READABLE,
			          piece != NULL ? piece->arrival : half->arrival);
	} else if (piece == NULL && half->ended && half->arrival <= realm->now) {
		close_half(realm, wire, side);
	}
	realm_pump(realm, host->place);
}

void paths_on_line(struct realm *realm, const struct event *event)
{
	struct path_wire *wire = find_wire(realm->paths, event->number);
	uint32_t side = event->from >> 2;

	if (wire == NULL)
		return;
	struct half *half = &wire->halves[side];
	struct realm_host *host = &realm->hosts[half->place];
	if (host->resident == NULL || host->life != half->life)
		return;
	if (realm_paused(realm, half->place)) {
		realm_push(realm, host->paused_until, REALM_LINE, event->node, event->number,
		           event->from);
		return;
	}
	switch ((enum wire_event)(event->from & 3)) {
	case WIRE_DIALLED:
		on_dialled(realm, wire);
		break;
	case WIRE_READABLE:
		if (half->open && !reads_later(realm, wire, side))
			on_readable(realm, wire, side);
		break;
	case WIRE_WRITABLE:
		if (half->open && half->line != NULL)
			write_out(realm, wire, side);
		break;
	case WIRE_BROKEN:
		if (half->open || half->line != NULL) {
			close_half(realm, wire, side);
			realm_pump(realm, host->place);
		}
		break;
	}
}
