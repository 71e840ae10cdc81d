/*
 * Checks one state of the whole system.
 */
#include "grow.h"
#include "search.h"

static bool violate(struct violation *violation, enum verdict_kind verdict, const char *what,
                    uint32_t node)
{
	violation->verdict = verdict;
	violation->what = what;
	violation->node = node;
	return true;
}

static const char *broken_global(const struct model *model, struct state_row row,
                                 struct sight *sight)
{
	const struct invariant *invariant = model->algorithm->invariants;
	uint32_t flights_count = row_letters_count(model, row);
	bool seen = false;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (invariant->global == NULL ||
		    !invariant_applies(invariant, &model->setup->network))
			continue;
		if (!seen) {
			sight->flights = grow(sight->flights, &sight->flights_size, flights_count,
			                      sizeof(*sight->flights));
			for (uint32_t i = 0; i < model->nodes; i++)
				sight->states[i] = model->local[row_local(model, row, i)].state;
			for (uint32_t k = 0; k < flights_count; k++)
				sight->flights[k] = model->letter[row_letter(model, row, k)].flight;
			seen = true;
		}
		struct snapshot snapshot = {
		        .network = &model->setup->network,
		        .states = sight->states,
		        .flights = sight->flights,
		        .flights_count = flights_count,
		};
		if (!invariant->global(&snapshot))
			return invariant->name;
	}
	return NULL;
}

/* A deadlock: a node waits or cannot get ready, while nobody is inside, nothing is in flight and
 * no timer runs. Requests may be possible, but nobody has to ask. Nodes that have crashed do not
 * count. Returns the node, or 0. */
static uint32_t stuck_node(const struct model *model, struct state_row row)
{
	uint32_t stuck = 0;
	bool all = true;

	if (row_letters_count(model, row) > 0)
		return 0;
	for (uint32_t i = 1; i <= model->nodes; i++) {
		const struct local *local = &model->local[row_local(model, row, i - 1)];
		if (local->phase == PHASE_INSIDE || local->armed)
			return 0;
		if (local->dead)
			continue;
		bool is_stuck = local->phase == PHASE_WAITING || !local->may_request;
		if (stuck == 0 && is_stuck)
			stuck = i;
		all = all && is_stuck;
	}
	return all || model->sought == SOUGHT_ANY ? stuck : 0;
}

/* Elections: at most one place may have declared itself the leader, and all places that know a
 * leader must know the same one. */
static bool check_leaders(const struct model *model, struct state_row row,
                          struct violation *violation)
{
	uint32_t leader = 0, declared = 0;

	for (uint32_t i = 1; i <= model->nodes; i++) {
		uint32_t learned = model->local[row_local(model, row, i - 1)].leader;
		if (learned == model->setup->network.identifiers[i - 1] && declared++ > 0)
			return violate(violation, VERDICT_UNIQUE_LEADER, "two leaders", i);
	}
	for (uint32_t i = 1; i <= model->nodes; i++) {
		uint32_t learned = model->local[row_local(model, row, i - 1)].leader;
		if (learned != 0 && leader != 0 && learned != leader)
			return violate(violation, VERDICT_AGREEMENT, "two leaders are known", i);
		leader = learned != 0 ? learned : leader;
	}
	return false;
}

/* Is the run over, so that nothing can happen any more? */
static bool is_over(const struct model *model, struct state_row row)
{
	if (row_letters_count(model, row) > 0)
		return false;
	for (uint32_t i = 0; i < model->nodes; i++) {
		const struct local *local = &model->local[row_local(model, row, i)];
		if (local->armed || local->phase == PHASE_INSIDE || local->requests)
			return false;
	}
	return true;
}

/* Elections: when nothing can happen any more, every place that is alive must know the leader,
 * and none may still take part. */
static bool check_end(const struct model *model, struct state_row row, struct violation *violation)
{
	for (uint32_t i = 1; i <= model->nodes; i++) {
		const struct local *local = &model->local[row_local(model, row, i - 1)];
		if (model->dead[i - 1])
			continue;
		if (local->leader == 0)
			return violate(violation, VERDICT_TERMINATION,
			               "it ends and somebody knows no leader", i);
		if (local->takes_part)
			return violate(violation, VERDICT_TERMINATION,
			               "it ends and somebody still takes part", i);
	}
	return false;
}

static uint32_t second_inside(const struct model *model, struct state_row row)
{
	uint32_t inside = 0, i = 0;

	while (inside < 2)
		inside += model->local[row_local(model, row, i++)].phase == PHASE_INSIDE;
	return i;
}

bool check_state(const struct model *model, struct state_row row, struct sight *sight,
                 struct violation *ret_violation)
{
	const struct algorithm *algorithm = model->algorithm;
	uint64_t marks = model_marks(model, row);

	if (mark_count(marks, MARK_INSIDE) > 1)
		return violate(ret_violation, VERDICT_MUTUAL_EXCLUSION, "mutual_exclusion",
		               second_inside(model, row));
	if (model->sought == SOUGHT_TWO_INSIDE)
		return false;
	for (uint32_t i = 1; i <= model->nodes && mark_count(marks, MARK_BROKEN) > 0; i++) {
		const char *broken = model->local[row_local(model, row, i - 1)].broken_invariant;
		if (broken != NULL)
			return violate(ret_violation, VERDICT_INVARIANT, broken, i);
	}
	if (algorithm->has_token && !algorithm->regenerates && !model->lose_token &&
	    !model->faulty && mark_count(marks, MARK_TOKEN) != 1)
		return violate(ret_violation, VERDICT_INVARIANT, "one_token", 0);
	const char *broken = model->faulty ? NULL : broken_global(model, row, sight);
	if (broken != NULL)
		return violate(ret_violation, VERDICT_INVARIANT, broken, 0);
	if (algorithm->kind == KIND_ELECTION)
		return check_leaders(model, row, ret_violation) ||
		       (is_over(model, row) && check_end(model, row, ret_violation));
	uint32_t stuck = stuck_node(model, row);
	return stuck != 0 && violate(ret_violation, VERDICT_DEADLOCK, "deadlock", stuck);
}
