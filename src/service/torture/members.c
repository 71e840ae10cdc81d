/*
 * Processes that are whole members (member.h): how they start and end, and how their effects are
 * carried out.
 */
#include "wires.h"

#include "grow.h"
#include "member.h"

#include <string.h>

/* Sorts the places by name, which is the members' order, and returns their number. */
static uint32_t sort_places(const struct cluster *cluster, uint32_t *ret_places)
{
	uint32_t count = cluster->options.places_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = i;
		for (; k > 0 &&
		       strcmp(cluster->places[ret_places[k - 1]].name, cluster->places[i].name) > 0;
		     k--)
			ret_places[k] = ret_places[k - 1];
		ret_places[k] = i;
	}
	return count;
}

/* Proposes as the daemon does: by the clock, if that is above what is on the disk. */
static struct engine_proposal propose(const struct cluster *cluster, uint32_t place)
{
	const struct cluster_wiring *wiring = cluster->options.wiring;
	struct engine_proposal last = cluster->places[place].kept, proposal = wiring->first;

	if (last.epoch == 0)
		return proposal;
	proposal.epoch += cluster->now / wiring->hour;
	proposal.floor = cluster->now % wiring->hour / CLUSTER_MILLISECOND << 12;
	if (proposal.epoch < last.epoch ||
	    (proposal.epoch == last.epoch && proposal.floor <= last.floor))
		proposal = (struct engine_proposal){.epoch = last.epoch + 1};
	return proposal;
}

void members_start(struct cluster *cluster, uint32_t place)
{
	const struct cluster_wiring *wiring = cluster->options.wiring;
	struct cluster_place *at = &cluster->places[place];
	struct member_peer peers[CLUSTER_PLACES_MAX] = {0};
	uint32_t places[CLUSTER_PLACES_MAX], count = sort_places(cluster, places);
	struct member_options options = {
	        .cluster = "virtual",
	        .peers = peers,
	        .peers_count = count,
	        .incarnation = at->incarnation,
	        .proposal = propose(cluster, place),
	        .node = cluster->options.node,
	        .kept_max = wiring->kept_max,
	};
	const char *wrong;

	while (places[options.self] != place)
		options.self++;
	for (uint32_t i = 0; i < count; i++)
		peers[i] = (struct member_peer){.name = cluster->places[places[i]].name,
		                                .linked = i != options.self &&
		                                          wiring->linked[options.self][i]};
	if (random_below(&cluster->random, 5) == 0)
		options.quiet_until =
		        cluster->now + random_below(&cluster->random, 2 * CLUSTER_SECOND);
	at->quiet_until = options.quiet_until;
	at->member = member_create(&options, &wrong);
	if (at->member == NULL) {
		fprintf(stderr, "member_create: %s\n", wrong);
		must(false);
	}
	at->node = member_node(at->member);
}

void members_crash(struct cluster *cluster, uint32_t place, bool leaves)
{
	struct cluster_place *at = &cluster->places[place];

	cluster->mixed = true;
	if (leaves) {
		member_leave(at->member);
		member_say_goodbye(at->member);
		members_after(cluster, place);
	}
	wires_crash(cluster, place, leaves);
	member_destroy(at->member);
	at->member = NULL;
	at->node = NULL;
	at->paused_until = 0;
}

/* --- effects --- */

static void complain(const struct cluster *cluster, const char *what)
{
	cluster->options.watch.wrong(cluster->options.watch.context, what);
}

/* These lines must never appear in a log while all members keep to the protocol. */
static void judge_line(struct cluster *cluster, const char *text)
{
	static const char *const never[] = {
	        "is refused: malformed",
	        "what was never sent",
	        "before it agreed",
	        "a record of",
	        "an acknowledgement",
	        "malformed",
	        "does not speak baton's",
	        "another epoch than",
	        "says nothing about itself",
	        "which must be the same",
	        "of another cluster",
	        "call themselves",
	        "looks for",
	        "speaks version",
	        "has no link to",
	        "is not among the peers",
	        "the name of two",
	};
	static const char *const of_others[] = {"restarted", "it has left", "another view",
	                                        "another process"};

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++) {
		if (strstr(text, never[i]) != NULL)
			complain(cluster, text);
	}
	for (size_t i = 0; !cluster->mixed && i < sizeof(of_others) / sizeof(*of_others); i++) {
		if (strstr(text, of_others[i]) != NULL)
			complain(cluster, text);
	}
}

/* --- views --- */

static bool has_same_members(const struct cluster_view *a, const struct cluster_view *b)
{
	return memcmp(a->incarnations, b->incarnations, sizeof(a->incarnations)) == 0;
}

/* Finds the view among the known ones. A new one is inserted after those with lower epochs. */
static struct cluster_view *place_view(struct cluster *cluster, const struct cluster_view *view)
{
	size_t at = cluster->views_count;

	for (size_t i = cluster->views_count; i > 0; i--) {
		struct cluster_view *old = &cluster->views[i - 1];
		if (!has_same_members(old, view))
			continue;
		if (old->epoch == view->epoch) {
			if (old->floor != view->floor)
				complain(cluster, "two members have two floors of one epoch");
			return old;
		}
		if (old->epoch > view->epoch)
			at = i - 1;
		else if (view->floor != 0)
			complain(cluster, "a later epoch of the same members has a floor");
	}
	cluster->views = grow(cluster->views, &cluster->views_size, cluster->views_count + 1,
	                      sizeof(*cluster->views));
	memmove(&cluster->views[at + 1], &cluster->views[at],
	        (cluster->views_count - at) * sizeof(*cluster->views));
	cluster->views_count++;
	cluster->views[at] = *view;
	return &cluster->views[at];
}

static bool is_complete(const struct cluster_view *view)
{
	return view->told == (1U << view->members_count) - 1;
}

/*
 * Processes that died and came back may leave others with views that can never serve, because not
 * all their members have entered. But if all have, the view's fences must be above those of every
 * earlier complete view, even in the same epoch.
 */
static void check_rise(const struct cluster *cluster, const struct cluster_view *view)
{
	for (size_t i = 0; is_complete(view) && i < cluster->views_count; i++) {
		const struct cluster_view *old = &cluster->views[i];
		if (is_complete(old) && !has_same_members(old, view) &&
		    (old->epoch > view->epoch ||
		     (old->epoch == view->epoch && old->floor >= view->floor)))
			complain(cluster, "a view is not above one of processes before");
	}
}

static void enter(struct cluster *cluster, uint32_t place, const struct member_effect *effect)
{
	struct cluster_view view = {
	        .epoch = effect->view.epoch,
	        .floor = effect->view.floor,
	};

	if (cluster->now < cluster->places[place].quiet_until)
		complain(cluster, "a member enters a view though it must be quiet");
	view.members_count = sort_places(cluster, view.places);
	if (effect->view.members_count != view.members_count || !effect->view.served)
		complain(cluster, "a member has a view that is not of all members");
	for (uint32_t i = 0; i < view.members_count; i++) {
		view.incarnations[i] = effect->view.members[i].incarnation;
		if (strcmp(effect->view.members[i].name, cluster->places[view.places[i]].name) != 0)
			complain(cluster, "a member has a view with other names");
	}
	cluster->places[place].kept =
	        (struct engine_proposal){.epoch = view.epoch, .floor = view.floor};
	cluster_note(cluster, &(struct note){NOTE_ENTER, place, view.epoch, 0, view.floor,
	                                     view.incarnations, sizeof(view.incarnations)});
	struct cluster_view *known = place_view(cluster, &view);
	if (cluster_member(cluster, known, place) == 0)
		complain(cluster, "a member enters a view that it is not in");
	known->told |= 1U << place;
	check_rise(cluster, known);
	cluster->options.watch.told(cluster->options.watch.context, place);
}

/* A member that knows all others must have a view, unless it must be quiet, or is alone and waits
 * for its first tick. */
static void check_view(const struct cluster *cluster, uint32_t place)
{
	const struct cluster_place *at = &cluster->places[place];
	uint64_t earliest = at->quiet_until > at->paused_until ? at->quiet_until : at->paused_until;

	if (cluster->options.places_count > 1 &&
	    cluster->now >= earliest + cluster->options.tick_late_max + (earliest != 0) &&
	    node_epoch(at->node) == 0 && member_unknown(at->member) == NULL)
		complain(cluster, "a member knows all others, and does not enter the view");
}

static void do_effect(struct cluster *cluster, uint32_t place, const struct member_effect *effect)
{
	const struct cluster_watch *watch = &cluster->options.watch;
	uint32_t places[CLUSTER_PLACES_MAX];

	switch (effect->kind) {
	case MEMBER_NODE:
		watch->effect(watch->context, place, &effect->node);
		break;
	case MEMBER_DIAL:
		sort_places(cluster, places);
		wires_dial(cluster, place, effect->dial.connection, places[effect->dial.peer]);
		break;
	case MEMBER_CLOSE:
		wires_close(cluster, effect->close);
		break;
	case MEMBER_VIEW:
		enter(cluster, place, effect);
		break;
	case MEMBER_LOG:
		cluster_note(cluster, &(struct note){NOTE_LOG, place, 0, 0, 0, effect->log.text,
		                                     strlen(effect->log.text)});
		judge_line(cluster, effect->log.text);
		break;
	}
}

void members_after(struct cluster *cluster, uint32_t place)
{
	struct member *member = cluster->places[place].member;
	struct connection *connection;
	struct member_effect effect;

	do {
		while (member_effect(member, &effect))
			do_effect(cluster, place, &effect);
		connection = member_changed(member);
		if (connection != NULL)
			wires_changed(cluster, connection);
	} while (connection != NULL);
	check_view(cluster, place);
}
