#include "view.h"

#include "memory.h"
#include "name.h"
#include "outbuffer.h"
#include "whole.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t view_fence(const struct node *node, uint64_t counter)
{
	return node->base + counter;
}

void view_free(struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		free(view->members[i].name);
		free(view->members[i].address);
	}
	free(view->members);
	free(view->memory);
	free(view->shared);
	free(view->unsuitable);
	while (!SLIST_EMPTY(&view->returns))
		view_drop_return(view, SLIST_FIRST(&view->returns));
}

/* Rendezvous hashing, mixed with the finalizer of splitmix64. When a member joins, a lock changes
 * its home only to the new member; when one leaves, only the locks of that member get another
 * home. */
uint32_t view_home(const struct view *view, uint64_t hash)
{
	uint64_t greatest = 0;
	uint32_t home = 1;

	for (uint32_t i = 0; i < view->count; i++) {
		uint64_t weight = hash ^ view->members[i].hash;
		weight = (weight ^ weight >> 30) * 0xbf58476d1ce4e5b9;
		weight = (weight ^ weight >> 27) * 0x94d049bb133111eb;
		weight ^= weight >> 31;
		if (weight > greatest) {
			greatest = weight;
			home = i + 1;
		}
	}
	return home;
}

/* --- RETURNs that arrive before their REPORT --- */

struct early_return *view_find_return(const struct view *view, uint32_t member, struct slice name)
{
	struct early_return *early;

	SLIST_FOREACH (early, &view->returns, returns) {
		if (early->member == member && early->name_size == name.size &&
		    memcmp(early->name, name.bytes, name.size) == 0)
			break;
	}
	return early;
}

void view_add_return(struct view *view, uint32_t member, struct slice name)
{
	struct early_return *early = malloc(sizeof(*early) + name.size);

	memory_must(early != NULL);
	*early = (struct early_return){.member = member, .name_size = (uint8_t)name.size};
	memcpy(early->name, name.bytes, name.size);
	SLIST_INSERT_HEAD(&view->returns, early, returns);
}

void view_drop_return(struct view *view, struct early_return *early)
{
	SLIST_REMOVE(&view->returns, early, early_return, returns);
	free(early);
}

/* --- making a view --- */

static int compare_members(const void *a, const void *b)
{
	return strcmp(((const struct view_member *)a)->name, ((const struct view_member *)b)->name);
}

static char *copy_text(const char *text)
{
	if (text == NULL)
		return NULL;
	char *copy = strdup(text);
	memory_must(copy != NULL);
	return copy;
}

static bool is_well_formed(uint64_t epoch, const struct node_member *members, uint32_t count)
{
	if (epoch == 0 || count > NODE_MEMBERS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (members[i].name == NULL ||
		    !name_is_good(members[i].name, strlen(members[i].name)))
			return false;
	}
	return true;
}

/* Sorts the members by name. Returns false if a name occurs twice. */
static bool sort_members(struct view *view, const struct node_member *members, uint32_t count)
{
	view->members = calloc(count + 1UL, sizeof(*view->members));
	memory_must(view->members != NULL);
	view->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct view_member *member = &view->members[i];
		member->name = copy_text(members[i].name);
		member->address = copy_text(members[i].address);
		member->incarnation = members[i].incarnation;
		member->hash = name_hash(member->name, strlen(member->name));
	}
	qsort(view->members, count, sizeof(*view->members), compare_members);
	for (uint32_t i = 1; i < count; i++) {
		if (strcmp(view->members[i - 1].name, view->members[i].name) == 0)
			return false;
	}
	return true;
}

uint32_t view_find(const struct view *view, const char *name)
{
	for (uint32_t i = 0; i < view->count; i++) {
		if (strcmp(view->members[i].name, name) == 0)
			return i + 1;
	}
	return 0;
}

int view_make(const struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t count, struct view *ret_view)
{
	struct view view = {0};

	if (!is_well_formed(epoch, members, count))
		return BATON_EVIEW;
	if (!sort_members(&view, members, count)) {
		view_free(&view);
		return BATON_EVIEW;
	}
	view.self = view_find(&view, node->name);
	if (view.self != 0 && view.members[view.self - 1].incarnation != node->incarnation)
		view.self = 0;
	*ret_view = view;
	return 0;
}

/* --- the network of a view --- */

__attribute__((format(printf, 2, 3))) static bool unsuitable(struct view *view, const char *format,
                                                             ...)
{
	va_list arguments;

	va_start(arguments, format);
	memory_must(vasprintf(&view->unsuitable, format, arguments) > 0);
	va_end(arguments);
	return false;
}

/* Finds the neighbour through which each member is reached. `parent` has, for each member, the next
 * member on the path to this node. */
static void find_routes(const struct view *view, const uint32_t *parent, uint32_t *ret_route)
{
	for (uint32_t i = 1; i <= view->count; i++) {
		uint32_t at = i;
		while (at != view->self && parent[at - 1] != view->self)
			at = parent[at - 1];
		ret_route[i - 1] = i == view->self ? 0 : at;
	}
}

/* Checks that the graph suits the algorithm, and finds the links and the routes. */
static bool fit_graph(const struct node *node, struct view *view, uint32_t *arrays)
{
	const struct algorithm *algorithm = node->algorithm;
	struct network *network = &view->network;
	uint32_t count = view->count;
	uint32_t *scratch = arrays, *route = arrays + count, *left = arrays + 2UL * count,
	         *right = arrays + 3UL * count;
	enum graph_class needed =
	        algorithm->shape != GRAPH_NONE ? algorithm->shape : algorithm->links;

	if (!graph_is(&network->graph, GRAPH_CONNECTED, scratch) ||
	    !graph_is(&network->graph, needed, scratch))
		return unsuitable(view, "topology %s of %u members does not suit %s",
		                  node->topology_text, count, algorithm->name);
	view->complete = algorithm->links == GRAPH_COMPLETE ||
	                 graph_is(&network->graph, GRAPH_COMPLETE, scratch);
	graph_toward(&network->graph, view->self, left, scratch);
	find_routes(view, left, route);
	if (needed == GRAPH_TREE)
		view->toward = route;
	if (needed == GRAPH_RING) {
		graph_ring(&network->graph, left, right);
		network->left = left;
		network->right = right;
	}
	for (uint32_t i = 1; i <= count; i++) {
		struct view_member *member = &view->members[i - 1];
		member->linked = i != view->self &&
		                 (view->complete || graph_adjacent(&network->graph, view->self, i));
		member->route = view->complete ? i : route[i - 1];
	}
	return true;
}

static bool prepare(const struct node *node, struct view *view)
{
	const struct algorithm *algorithm = node->algorithm;

	if (algorithm->prepare == NULL)
		return true;
	if (algorithm->shared_size != NULL) {
		view->shared = calloc(1, algorithm->shared_size(&view->network));
		memory_must(view->shared != NULL);
	}
	const char *wrong = algorithm->prepare(&view->network, view->shared);
	if (wrong != NULL)
		return unsuitable(view, "%s with %u members: %s", algorithm->name, view->count,
		                  wrong);
	view->network.shared = view->shared;
	return true;
}

/* Does the algorithm send a message before anybody asks? Then the home must be told when a lock is
 * first used. */
static bool starts_by_itself(const struct view *view)
{
	const struct algorithm *algorithm = view->network.algorithm;
	struct site site = view->site;
	struct out out;
	void *state = calloc(1, view->state_size + 1);

	memory_must(state != NULL);
	out_init(&out);
	site.holder = site.self;
	algorithm->init(&site, state, &out);
	bool starts = out.effects_count != 0;
	out_free(&out);
	free(state);
	return starts;
}

/* Translates the named links between members of the view into a topology of numbers. The caller
 * frees `text` after the graph was built. A view of one member has no link and needs none. */
static bool name_topology(const struct node *node, struct view *view, char **ret_text,
                          struct topology *ret_topology)
{
	size_t size;
	FILE *text = open_memstream(ret_text, &size);

	memory_must(text != NULL);
	fputs(view->count == 1 ? "complete" : "edges:", text);
	for (uint32_t i = 0; i < node->links.count && view->count > 1; i++) {
		uint32_t a = view_find(view, node->links.list[i].a);
		uint32_t b = view_find(view, node->links.list[i].b);
		if (a != 0 && b != 0)
			fprintf(text, "%u-%u,", a, b);
	}
	must(fclose(text) == 0);
	if (topology_parse(*ret_text, ret_topology) != NULL ||
	    (view->count > 1 && topology_nodes(ret_topology) != view->count))
		return unsuitable(view, "its links do not connect the %u members", view->count);
	return true;
}

static bool connect(const struct node *node, struct view *view, const struct topology *topology)
{
	size_t size = topology_memory(topology, view->count);

	must(size != 0);
	view->memory = malloc(size + 4UL * view->count * sizeof(uint32_t));
	memory_must(view->memory != NULL);
	view->network.algorithm = node->algorithm;
	view->network.holder = view->self;
	memcpy(view->network.parameters, node->parameters, sizeof(node->parameters));
	for (size_t i = 0; i < PARAMETERS_MAX; i++)
		view->network.texts[i] = node->texts[i];
	topology_build(topology, view->count, node->seed, view->memory, &view->network.graph);
	if (!fit_graph(node, view, (uint32_t *)(void *)((char *)view->memory + size)) ||
	    !prepare(node, view))
		return false;
	view->site = network_site(&view->network, view->self);
	view->state_size = node->algorithm->state_size(&view->site);
	view->starts = starts_by_itself(view);
	return true;
}

bool view_connect(const struct node *node, struct view *view)
{
	uint32_t fixed = topology_nodes(&node->topology);
	struct topology named;
	char *text = NULL;

	if (node->links.list != NULL) {
		bool connects =
		        name_topology(node, view, &text, &named) && connect(node, view, &named);
		free(text);
		return connects;
	}
	if (fixed != 0 && fixed != view->count)
		return unsuitable(view, "topology %s is for %u members, and there are %u",
		                  node->topology_text, fixed, view->count);
	return connect(node, view, &node->topology);
}

/* --- questions about a view --- */

const char *view_waiting_for(struct node *node)
{
	const struct view *view = &node->view;
	size_t used, size = 0;

	if (node->stopped)
		return "a restart: this node has stopped itself";
	if (view->count == 0)
		return "a view that includes this node";
	if (view->unsuitable != NULL)
		return view->unsuitable;
	if (view->active && lease_may_grant(&node->lease, node->now))
		return NULL;
	if (view->active)
		return node->lease.departing ? "its removal from the view, because it is leaving"
		                             : "the voters to acknowledge its lease";
	free(node->waiting_text);
	node->waiting_text = NULL;
	FILE *text = open_memstream(&node->waiting_text, &size);
	memory_must(text != NULL);
	fputs("the reports of", text);
	used = 0;
	for (uint32_t i = 0; i < view->count; i++) {
		if (!view->members[i].reported)
			fprintf(text, "%s %s", used++ == 0 ? "" : ",", view->members[i].name);
	}
	must(fclose(text) == 0);
	return node->waiting_text;
}
