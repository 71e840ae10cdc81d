#include "faults.h"

#include "model.h"
#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words --- */

static uint64_t types_of_role(const struct algorithm *algorithm, const char *word)
{
	uint64_t types = 0;

	for (size_t i = 0; i < algorithm->messages_count; i++) {
		const struct message_type *type = &algorithm->messages[i];
		bool meant =
		        strcmp(word, "token") == 0     ? type->token
		        : strcmp(word, "request") == 0 ? type->role == ROLE_ASKS && !type->token
		        : strcmp(word, "answer") == 0  ? type->role == ROLE_PERMITS && !type->token
		                                       : strcmp(word, type->name) == 0;
		types |= (uint64_t)meant << i;
	}
	return types;
}

static int unknown_type(const char *option, const char *word, const struct algorithm *algorithm,
                        struct problem *problem)
{
	struct text names = {0};

	for (size_t i = 0; i < algorithm->messages_count; i++)
		text_format(&names, "%s%s", i == 0 ? "" : ", ", algorithm->messages[i].name);
	char *list = text_take(&names);
	problem_set(problem,
	            "%s '%.40s': %s sends no such message; it sends %s; request, answer and "
	            "token each mean all messages of that kind",
	            option, word, algorithm->name, list);
	free(list);
	return -1;
}

int faults_types(const char *text, const char *option, const struct algorithm *algorithm,
                 uint64_t *ret_types, struct problem *problem)
{
	char word[64];

	*ret_types = 0;
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		snprintf(word, sizeof(word), "%.*s",
		         (int)(length < sizeof(word) ? length : sizeof(word) - 1), at);
		uint64_t types = types_of_role(algorithm, word);
		if (types == 0)
			return unknown_type(option, word, algorithm, problem);
		*ret_types |= types;
		at += length;
		if (*at == '\0')
			return 0;
	}
}

int faults_crashes(const char *text, struct faults *faults, struct problem *problem)
{
	static const char *const names[] = {
	        [VICTIM_ANY] = "any", [VICTIM_HOLDER] = "holder", [VICTIM_BYSTANDER] = "bystander"};
	const char *colon = strchr(text, ':');
	char count[16];
	uint64_t number;

	snprintf(count, sizeof(count), "%.*s", colon != NULL ? (int)(colon - text) : 15, text);
	if (parse_number(count, 1, MODEL_NODES_MAX, "--crash", &number, problem) != 0)
		return -1;
	faults->crashes_max = (uint32_t)number;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (colon == NULL || strcmp(colon + 1, names[i]) == 0) {
			faults->victim = (enum victim)i;
			return 0;
		}
	}
	return problem_set(problem, "--crash '%.40s': holder, bystander or any is needed", text);
}

static void describe_types(uint64_t types, const struct algorithm *algorithm, const char *what,
                           const char **separator, struct text *text)
{
	const char *between = "one ";

	if (types == 0)
		return;
	text_add_string(text, *separator);
	for (size_t i = 0; i < algorithm->messages_count; i++) {
		if ((types >> i & 1) == 0)
			continue;
		text_format(text, "%s%s", between, algorithm->messages[i].name);
		between = " or ";
	}
	text_format(text, " may be %s", what);
	*separator = ", ";
}

void faults_describe(const struct faults *faults, const struct algorithm *algorithm,
                     struct text *text)
{
	static const char *const victims[] = {
	        [VICTIM_ANY] = "",
	        [VICTIM_HOLDER] = " that is inside or has the token",
	        [VICTIM_BYSTANDER] = " that does not want the section and has no token",
	};
	const char *separator = "";

	describe_types(faults->lose, algorithm, "lost", &separator, text);
	describe_types(faults->duplicate, algorithm, "duplicated", &separator, text);
	if (faults->crashes_max == 1)
		text_format(text, "%sone node%s may crash", separator, victims[faults->victim]);
	else if (faults->crashes_max != 0)
		text_format(text, "%s%" PRIu32 " nodes%s may crash", separator, faults->crashes_max,
		            victims[faults->victim]);
	if (faults->crashes_max != 0)
		separator = ", ";
	if (faults->restarts_max == 1)
		text_add_string(text, " and begin again, once");
	else if (faults->restarts_max != 0)
		text_format(text, " and begin again, %" PRIu32 " times", faults->restarts_max);
	if (faults->cut)
		text_format(text, "%sone link may be cut", separator);
	if (faults->rewires_max == 1)
		text_add_string(text, "one link may be made or removed");
	else if (faults->rewires_max != 0)
		text_format(text, "%" PRIu32 " links may be made or removed", faults->rewires_max);
}

/* --- steps --- */

static bool may_crash(const struct model *model, const struct local *local)
{
	if (local->dead)
		return false;
	switch (model->faults.victim) {
	case VICTIM_HOLDER:
		return local->phase == PHASE_INSIDE || local->privileged;
	case VICTIM_BYSTANDER:
		return local->phase == PHASE_IDLE && !local->privileged;
	case VICTIM_ANY:
		break;
	}
	return true;
}

static void add_message_fault(const struct model *model, struct state_row row,
                              struct actions *actions, enum action_kind kind, uint32_t k)
{
	uint32_t number = row_letter(model, row, k);
	uint32_t to = model->letter[number].flight.to;
	uint32_t local = row_local(model, row, to - 1);

	/* A message to a dead node is lost anyway, so losing or duplicating it makes no difference.
	 * */
	if (model->local[local].dead)
		return;
	actions->list[actions->count++] = (struct action){
	        .key = action_key(kind, local, number),
	        .kind = kind,
	        .node = to,
	        .what = number,
	        .place = kind == ACTION_LOSE ? k : PLACE_NONE,
	};
}

static void add_own_fault(struct actions *actions, enum action_kind kind, uint32_t node,
                          uint32_t local, uint32_t what)
{
	actions->list[actions->count++] = (struct action){
	        .key = action_key(kind, local, what),
	        .kind = kind,
	        .node = node,
	        .what = what,
	        .place = PLACE_NONE,
	};
}

/* The faults that have happened so far in the run that leads to a row. */
struct harm {
	uint32_t lost, duplicated, crashes, dead;
	uint32_t cut_from, cut_to; /* the ends of the link that is cut; 0: no link is cut */
};

static struct harm sum_harm(const struct model *model, struct state_row row)
{
	struct harm harm = {0};

	for (uint32_t i = 0; i < model->nodes; i++) {
		const struct local *local = &model->local[row_local(model, row, i)];
		harm.lost += local->lost;
		harm.duplicated += local->duplicated;
		harm.crashes += local->crashes;
		harm.dead += local->dead;
		if (local->cut != 0) {
			harm.cut_from = i + 1;
			harm.cut_to = local->cut;
		}
	}
	return harm;
}

/* A message that is in flight on the cut link is lost when it would be delivered. */
static void lose_cut(const struct model *model, const struct harm *harm, struct actions *actions)
{
	for (size_t k = 0; k < actions->count && harm->cut_from != 0; k++) {
		struct action *action = &actions->list[k];
		if (action->kind != ACTION_DELIVER)
			continue;
		uint32_t from = model->letter[action->what].from;
		if ((from == harm->cut_from && action->node == harm->cut_to) ||
		    (from == harm->cut_to && action->node == harm->cut_from)) {
			action->kind = ACTION_LOSE;
			action->key = 0;
		}
	}
}

/* --- changes of the network --- */

static uint64_t neighbours_of(const struct model *model, struct state_row row, uint32_t node)
{
	return model->local[row_local(model, row, node - 1)].neighbours;
}

/* Would all nodes still be connected without the link between a and b? */
static bool is_connected_without(const struct model *model, struct state_row row, uint32_t a,
                                 uint32_t b)
{
	uint64_t reached = (uint64_t)1 << (a - 1), before = 0;

	while (reached != before) {
		before = reached;
		for (uint32_t i = 1; i <= model->nodes; i++) {
			uint64_t neighbours = neighbours_of(model, row, i);
			if (i == a || i == b)
				neighbours &= ~((uint64_t)1 << ((i == a ? b : a) - 1));
			reached |= (reached >> (i - 1) & 1) != 0 ? neighbours : 0;
		}
	}
	return reached == UINT64_MAX >> (64 - model->nodes);
}

static bool needs_link(const struct model *model, struct state_row row, uint32_t node,
                       uint32_t neighbour)
{
	const struct local *local = &model->local[row_local(model, row, node - 1)];
	uint32_t room[MODEL_NODES_MAX];
	struct site site = model_site(model, node, local->neighbours, room);

	return model->algorithm->needs_link(&site, local->state, neighbour);
}

static bool may_unlink(const struct model *model, struct state_row row, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < row_letters_count(model, row); k++) {
		const struct model_letter *letter = &model->letter[row_letter(model, row, k)];
		uint32_t from = letter->from, to = letter->flight.to;
		if ((from == a && to == b) || (from == b && to == a))
			return false;
	}
	return !needs_link(model, row, a, b) && !needs_link(model, row, b, a) &&
	       is_connected_without(model, row, a, b);
}

/* If one end of a link has made or removed it, adds the step in which the other end does the same.
 * Nothing else may happen before that. Returns false if there is no such link. */
static bool finish_link(const struct model *model, struct state_row row, struct actions *actions)
{
	for (uint32_t i = 1; i <= model->nodes; i++) {
		for (uint32_t j = i + 1; j <= model->nodes; j++) {
			bool here = (neighbours_of(model, row, i) >> (j - 1) & 1) != 0;
			bool there = (neighbours_of(model, row, j) >> (i - 1) & 1) != 0;
			if (here == there)
				continue;
			actions->count = 0;
			add_own_fault(actions, here ? ACTION_LINK : ACTION_UNLINK, j,
			              row_local(model, row, j - 1), i);
			return true;
		}
	}
	return false;
}

static void add_rewirings(const struct model *model, struct state_row row, struct actions *actions)
{
	uint32_t rewired = 0;

	if (finish_link(model, row, actions))
		return;
	for (uint32_t i = 0; i < model->nodes; i++)
		rewired += model->local[row_local(model, row, i)].rewired;
	for (uint32_t i = 1; i <= model->nodes && rewired < model->faults.rewires_max; i++) {
		for (uint32_t j = i + 1; j <= model->nodes; j++) {
			bool linked = (neighbours_of(model, row, i) >> (j - 1) & 1) != 0;
			if (!linked || may_unlink(model, row, i, j))
				add_own_fault(actions, linked ? ACTION_UNLINK : ACTION_LINK, i,
				              row_local(model, row, i - 1), j);
		}
	}
}

void model_add_faults(const struct model *model, struct state_row row, struct actions *actions)
{
	const struct faults *faults = &model->faults;
	uint32_t letters = row_letters_count(model, row), last = UINT32_MAX;
	struct harm harm = sum_harm(model, row);

	if (faults->rewires_max != 0) {
		add_rewirings(model, row, actions);
		return;
	}
	lose_cut(model, &harm, actions);
	for (uint32_t k = 0; k < letters; k++) {
		uint32_t number = row_letter(model, row, k);
		uint64_t type = (uint64_t)1 << model->letter[number].type;
		if (number != last && (faults->lose & type) != 0 && harm.lost == 0)
			add_message_fault(model, row, actions, ACTION_LOSE, k);
		if (number != last && (faults->duplicate & type) != 0 && harm.duplicated == 0)
			add_message_fault(model, row, actions, ACTION_DUPLICATE, k);
		last = number;
	}
	for (uint32_t i = 1; i <= model->nodes; i++) {
		uint32_t local = row_local(model, row, i - 1);
		if (harm.crashes < faults->crashes_max && may_crash(model, &model->local[local]))
			add_own_fault(actions, ACTION_CRASH, i, local, 0);
		if (model->local[local].dead && harm.crashes - harm.dead < faults->restarts_max)
			add_own_fault(actions, ACTION_RESTART, i, local, 0);
		for (uint32_t j = i + 1; j <= model->nodes && faults->cut && harm.cut_from == 0;
		     j++) {
			if (network_linked(&model->setup->network, i, j))
				add_own_fault(actions, ACTION_CUT, i, local, j);
		}
	}
}
