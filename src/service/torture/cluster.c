#include "cluster.h"

#include "grow.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of events below CLUSTER_EVENTS. `node` of an event is a place; `from` is the other
 * place. */
enum { EVENT_LINK, EVENT_TICK, EVENT_TELL };

struct parcel_in_link {
	struct parcel_in_link *next;
	uint64_t arrival;
	uint64_t epoch;
	uint64_t process; /* the number of the receiving process */
	size_t size;
	uint8_t bytes[];
};

void cluster_init(struct cluster *cluster, const struct cluster_options *options)
{
	*cluster = (struct cluster){.options = *options};
	must(options->places_count <= CLUSTER_PLACES_MAX);
	random_seed(&cluster->random, options->seed);
	cluster->queue = queue_create();
	cluster->journal = journal_create(options->names, options->node.algorithm, options->text);
	for (uint32_t i = 0; i < options->places_count; i++) {
		must(strlen(options->names[i]) <= CLUSTER_NAME_MAX);
		cluster->places[i].name = options->names[i];
		for (uint32_t k = 0; k < options->places_count; k++)
			cluster->links[i][k].end = &cluster->links[i][k].first;
	}
}

static void complain(struct cluster *cluster, const char *what)
{
	cluster->options.watch.wrong(cluster->options.watch.context, what);
}

/* --- links --- */

static void drop_first(struct cluster *cluster, struct cluster_link *link)
{
	struct parcel_in_link *parcel = link->first;

	link->first = parcel->next;
	if (link->first == NULL)
		link->end = &link->first;
	cluster->frames_flying--;
	free(parcel);
}

void cluster_free(struct cluster *cluster)
{
	for (uint32_t i = 0; i < cluster->options.places_count; i++) {
		if (cluster->places[i].node != NULL)
			node_destroy(cluster->places[i].node);
		for (uint32_t k = 0; k < cluster->options.places_count; k++) {
			while (cluster->links[i][k].first != NULL)
				drop_first(cluster, &cluster->links[i][k]);
		}
	}
	free(cluster->views);
	queue_destroy(cluster->queue);
	journal_destroy(cluster->journal);
}

/* Makes an event for the next frame on this link, if there is one that may arrive. */
static void await(struct cluster *cluster, uint32_t from, uint32_t to)
{
	struct cluster_link *link = &cluster->links[from][to];
	uint64_t time = cluster->now;

	if (link->first == NULL || link->refused || link->awaited)
		return;
	if (link->first->arrival > time)
		time = link->first->arrival;
	if (link->stalled > time)
		time = link->stalled;
	link->awaited = true;
	queue_push(cluster->queue, &(struct event){
	                                   .time = time,
	                                   .kind = EVENT_LINK,
	                                   .node = to,
	                                   .from = from,
	                                   .number = ++link->wake,
	                           });
}

void cluster_stall(struct cluster *cluster, uint32_t from, uint32_t to, uint64_t until)
{
	struct cluster_link *link = &cluster->links[from][to];

	cluster_note(cluster, &(struct note){NOTE_STALL, from, to, until, 0, NULL, 0});
	link->stalled = until;
	link->awaited = false;
	await(cluster, from, to);
}

static void send(struct cluster *cluster, uint32_t from, const struct node_effect *effect)
{
	const struct cluster_view *view = cluster->views + cluster->views_count;
	uint64_t delay = distribution_draw(&cluster->options.delay, &cluster->random);

	while (view > cluster->views && view[-1].epoch >= effect->send.epoch)
		view--;
	if (view == cluster->views + cluster->views_count || view->epoch != effect->send.epoch ||
	    effect->send.to == 0 || effect->send.to > view->members_count ||
	    view->places[effect->send.to - 1] == from) {
		complain(cluster,
		         "a node sends to somebody that is not another member of that epoch");
		return;
	}
	uint32_t to = view->places[effect->send.to - 1];
	struct cluster_link *link = &cluster->links[from][to];
	if (delay > cluster->options.delay_max)
		delay = cluster->options.delay_max;
	if (cluster->now + delay > link->arrival)
		link->arrival = cluster->now + delay;
	cluster_note(cluster, &(struct note){NOTE_SEND, from, to, link->arrival, effect->send.epoch,
	                                     effect->send.bytes, effect->send.size});
	if (cluster->places[to].node == NULL)
		return;
	struct parcel_in_link *parcel = malloc(sizeof(*parcel) + effect->send.size);
	memory_must(parcel != NULL);
	*parcel = (struct parcel_in_link){
	        .arrival = link->arrival,
	        .epoch = effect->send.epoch,
	        .process = cluster->places[to].process,
	        .size = effect->send.size,
	};
	memcpy(parcel->bytes, effect->send.bytes, effect->send.size);
	*link->end = parcel;
	link->end = &parcel->next;
	cluster->frames_flying++;
	await(cluster, from, to);
}

static void set_refused(struct cluster *cluster, struct cluster_link *link, bool refused)
{
	cluster->links_refused += refused;
	cluster->links_refused -= link->refused;
	link->refused = refused;
}

static void deliver(struct cluster *cluster, uint32_t from, uint32_t to)
{
	struct cluster_link *link = &cluster->links[from][to];
	const struct parcel_in_link *parcel = link->first;
	struct cluster_place *place = &cluster->places[to];

	link->awaited = false;
	if (place->node == NULL || place->process != parcel->process) {
		drop_first(cluster, link);
		await(cluster, from, to);
		return;
	}
	int result = node_receive(place->node, cluster->places[from].name, parcel->bytes,
	                          parcel->size, cluster->now);
	cluster_note(cluster, &(struct note){NOTE_RECEIVE, to, from, 0, (uint64_t)(int64_t)result,
	                                     parcel->bytes, parcel->size});
	if (result == BATON_EAGAIN) {
		set_refused(cluster, link, true);
		cluster->refusals++;
	} else {
		drop_first(cluster, link);
		if (result < 0)
			complain(cluster, "a node refuses a frame for good");
	}
	cluster_after(cluster, to);
	await(cluster, from, to);
}

static void read_again(struct cluster *cluster, uint32_t to)
{
	cluster_note(cluster, &(struct note){NOTE_READ, to, 0, 0, 0, NULL, 0});
	for (uint32_t from = 0; from < cluster->options.places_count; from++) {
		set_refused(cluster, &cluster->links[from][to], false);
		await(cluster, from, to);
	}
}

void cluster_each_frame(const struct cluster *cluster,
                        void (*see)(void *context, const uint8_t *bytes, size_t size),
                        void *context)
{
	for (uint32_t from = 0; from < cluster->options.places_count; from++) {
		for (uint32_t to = 0; to < cluster->options.places_count; to++) {
			for (const struct parcel_in_link *parcel = cluster->links[from][to].first;
			     parcel != NULL; parcel = parcel->next)
				see(context, parcel->bytes, parcel->size);
		}
	}
}

/* Drops, with some chance, the frames of epochs that one end of the link has left. */
static void forget(struct cluster *cluster, uint32_t from, uint32_t to, uint64_t epoch)
{
	struct cluster_link *link = &cluster->links[from][to];
	struct parcel_in_link **at = &link->first;

	if (random_below(&cluster->random, 100) >= cluster->options.forget_percent)
		return;
	while (*at != NULL) {
		struct parcel_in_link *parcel = *at;
		if (parcel->epoch >= epoch) {
			at = &parcel->next;
			continue;
		}
		cluster_note(cluster, &(struct note){NOTE_FORGET, from, to, 0, 0, parcel->bytes,
		                                     parcel->size});
		*at = parcel->next;
		cluster->frames_flying--;
		free(parcel);
	}
	link->end = at;
	link->awaited = false;
	await(cluster, from, to);
}

/* --- nodes --- */

static void set_tick(struct cluster *cluster, uint32_t place)
{
	struct cluster_place *at = &cluster->places[place];
	uint64_t deadline = node_deadline(at->node);

	if (deadline == at->tick)
		return;
	at->tick = deadline;
	at->tick_number++;
	if (deadline == NODE_NEVER)
		return;
	if (deadline < cluster->now)
		deadline = cluster->now;
	if (cluster->options.tick_late_max != 0)
		deadline += random_below(&cluster->random, cluster->options.tick_late_max + 1);
	queue_push(cluster->queue, &(struct event){
	                                   .time = deadline,
	                                   .kind = EVENT_TICK,
	                                   .node = place,
	                                   .number = at->tick_number,
	                           });
}

static void look_at_epoch(struct cluster *cluster, uint32_t place)
{
	struct cluster_place *at = &cluster->places[place];
	uint64_t epoch = node_epoch(at->node);

	if (epoch == at->epoch)
		return;
	if (epoch < at->epoch)
		complain(cluster, "a node's epoch goes back");
	at->epoch = epoch;
	for (uint32_t i = 0; i < cluster->options.places_count; i++) {
		forget(cluster, place, i, epoch);
		forget(cluster, i, place, epoch);
	}
}

void cluster_after(struct cluster *cluster, uint32_t place)
{
	const struct cluster_watch *watch = &cluster->options.watch;
	struct node *node = cluster->places[place].node;
	struct node_effect effect;

	while (node_effect(node, &effect)) {
		if (effect.kind == NODE_SEND)
			send(cluster, place, &effect);
		else if (effect.kind == NODE_READ)
			read_again(cluster, place);
		else
			watch->effect(watch->context, place, &effect);
	}
	look_at_epoch(cluster, place);
	set_tick(cluster, place);
}

void cluster_tick(struct cluster *cluster, uint32_t place)
{
	node_tick(cluster->places[place].node, cluster->now);
	cluster_after(cluster, place);
}

static void tick(struct cluster *cluster, uint32_t place)
{
	/* Forget the last deadline, so that the same deadline, if the node asks for it again, makes
	 * a new event. */
	cluster->places[place].tick = 0;
	cluster_note(cluster, &(struct note){NOTE_TICK, place, 0, 0, 0, NULL, 0});
	cluster_tick(cluster, place);
}

static void start_node(struct cluster *cluster, uint32_t place)
{
	struct cluster_place *at = &cluster->places[place];
	struct node_options options = cluster->options.node;
	const char *wrong = NULL;

	options.name = at->name;
	options.incarnation = at->incarnation;
	at->node = node_create(&options, &wrong);
	if (at->node == NULL) {
		fprintf(stderr, "node_create: %s\n", wrong);
		must(false);
	}
	node_floor(at->node, cluster->options.floor);
}

void cluster_start(struct cluster *cluster, uint32_t place)
{
	struct cluster_place *at = &cluster->places[place];

	must(at->node == NULL);
	*at = (struct cluster_place){
	        .name = at->name,
	        .incarnation = ++cluster->incarnations,
	        .process = at->process + 1,
	        .tick = NODE_NEVER,
	        .tick_number = at->tick_number + 1,
	};
	start_node(cluster, place);
	cluster_note(cluster, &(struct note){NOTE_START, place, at->incarnation, 0, 0, NULL, 0});
	cluster_after(cluster, place);
}

void cluster_crash(struct cluster *cluster, uint32_t place)
{
	struct cluster_place *at = &cluster->places[place];

	cluster_note(cluster, &(struct note){NOTE_CRASH, place, 0, 0, 0, NULL, 0});
	at->tick_number++;
	node_destroy(at->node);
	at->node = NULL;
	for (uint32_t i = 0; i < cluster->options.places_count; i++) {
		struct cluster_link *in = &cluster->links[i][place],
		                    *out = &cluster->links[place][i];
		struct parcel_in_link **at_parcel = &out->first;
		while (in->first != NULL)
			drop_first(cluster, in);
		in->awaited = false;
		set_refused(cluster, in, false);
		/* The process died before all its frames had left the machine. So draw one of them,
		 * and drop all frames after it. */
		while (*at_parcel != NULL && random_below(&cluster->random, 4) != 0)
			at_parcel = &(*at_parcel)->next;
		struct parcel_in_link *lost = *at_parcel;
		*at_parcel = NULL;
		out->end = at_parcel;
		while (lost != NULL) {
			struct parcel_in_link *next = lost->next;
			cluster->frames_flying--;
			free(lost);
			lost = next;
		}
		out->awaited = false;
		await(cluster, place, i);
	}
}

void cluster_rejoin(struct cluster *cluster, uint32_t place)
{
	struct cluster_place *at = &cluster->places[place];

	must(at->out);
	at->incarnation = ++cluster->incarnations;
	at->out = false;
	cluster_note(cluster, &(struct note){NOTE_REJOIN, place, at->incarnation, 0, 0, NULL, 0});
	if (node_rejoin(at->node, at->incarnation, cluster->now) != 0)
		complain(cluster,
		         "a node that was removed from the view does not become a new incarnation");
	cluster_after(cluster, place);
}

/* --- views --- */

void cluster_decide(struct cluster *cluster, uint64_t epoch, uint32_t places)
{
	struct cluster_view view = {.epoch = epoch};
	char text[CLUSTER_PLACES_MAX * (CLUSTER_NAME_MAX + 2)] = "";
	size_t used = 0;

	must(cluster->views_count == 0 || epoch > cluster_latest(cluster)->epoch);
	for (uint32_t i = 0; i < cluster->options.places_count; i++) {
		uint32_t k = view.members_count;
		if ((places >> i & 1) == 0)
			continue;
		for (; k > 0 && strcmp(cluster->places[view.places[k - 1]].name,
		                       cluster->places[i].name) > 0;
		     k--)
			view.places[k] = view.places[k - 1];
		view.places[k] = i;
		view.members_count++;
	}
	for (uint32_t i = 0; i < view.members_count; i++) {
		view.incarnations[i] = cluster->places[view.places[i]].incarnation;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
		                         i == 0 ? "" : " ", cluster->places[view.places[i]].name);
	}
	cluster->views = grow(cluster->views, &cluster->views_size, cluster->views_count + 1,
	                      sizeof(*cluster->views));
	cluster->views[cluster->views_count++] = view;
	cluster_note(cluster,
	             &(struct note){NOTE_DECIDE, CLUSTER_NOWHERE, epoch, 0, 0, text, used});
}

static struct cluster_view *find_view(struct cluster *cluster, uint64_t epoch)
{
	size_t i = cluster->views_count;

	while (i > 0 && cluster->views[i - 1].epoch != epoch)
		i--;
	must(i > 0);
	return &cluster->views[i - 1];
}

void cluster_tell(struct cluster *cluster, uint32_t place, uint64_t epoch)
{
	struct cluster_view *view = find_view(cluster, epoch);
	struct cluster_place *at = &cluster->places[place];
	struct node_member members[CLUSTER_PLACES_MAX];
	bool news = epoch > node_epoch(at->node);
	uint32_t number = cluster_member(cluster, view, place);

	/* Tell the members in any order, a different one for each process. */
	for (uint32_t i = 0; i < view->members_count; i++) {
		uint32_t k = (uint32_t)random_below(&cluster->random, i + 1);
		if (k != i)
			members[i] = members[k];
		members[k] = (struct node_member){
		        .name = cluster->places[view->places[i]].name,
		        .incarnation = view->incarnations[i],
		};
	}
	if (news && number != 0)
		view->told |= 1U << place;
	int result = node_view(at->node, epoch, members, view->members_count, cluster->now);
	cluster_note(cluster, &(struct note){NOTE_TELL, place, epoch, 0, (uint64_t)(int64_t)result,
	                                     NULL, 0});
	if (news)
		at->out = number == 0;
	cluster_after(cluster, place);
	if (news &&
	    (node_epoch(at->node) != epoch || (result == 0 && node_self(at->node) != number)))
		complain(cluster, "a node does not enter the view that was agreed upon");
	cluster->options.watch.told(cluster->options.watch.context, place);
}

void cluster_tell_later(struct cluster *cluster, uint32_t place, uint64_t epoch, uint64_t delay)
{
	queue_push(cluster->queue, &(struct event){
	                                   .time = cluster->now + delay,
	                                   .kind = EVENT_TELL,
	                                   .node = place,
	                                   .number = epoch,
	                           });
}

/* --- time --- */

void cluster_push(struct cluster *cluster, const struct event *event)
{
	must(event->kind >= CLUSTER_EVENTS && event->time >= cluster->now);
	queue_push(cluster->queue, event);
}

static void act(struct cluster *cluster, const struct event *event)
{
	switch (event->kind) {
	case EVENT_LINK:
		if (cluster->links[event->from][event->node].awaited &&
		    cluster->links[event->from][event->node].wake == event->number)
			deliver(cluster, event->from, event->node);
		break;
	case EVENT_TICK:
		if (cluster->places[event->node].tick_number == event->number)
			tick(cluster, event->node);
		break;
	case EVENT_TELL:
		if (cluster->places[event->node].node != NULL)
			cluster_tell(cluster, event->node, event->number);
		break;
	default:
		cluster->options.watch.event(cluster->options.watch.context, event);
	}
}

bool cluster_step(struct cluster *cluster)
{
	struct event event;

	if (!queue_pop(cluster->queue, &event))
		return false;
	cluster->now = event.time;
	cluster->events++;
	act(cluster, &event);
	return true;
}
