/*
 * An operator of a colony, who forbids and allows a name in turn, each time at another place. The
 * operator gives the next order when the last one was answered. A voter that has obeyed the last
 * order must not show the opposite; otherwise it has obeyed an older order for the second time.
 *
 * No node has the name, so that the members are not disturbed. An order without an answer may be
 * obeyed at any later time. So after such an order the operator goes on with another name.
 */
#include "colony.h"

#include "voter.h"

#include <inttypes.h>

enum { ROUNDS = 4 };

static void come_again(struct colony *colony)
{
	struct colony_operator *operator= & colony->operator;
	uint64_t pause = chance_percent(&operator->chance, 50) ? 20 * COLONY_MS : COLONY_SECOND;

	colony_push(colony, colony->now + 1 + chance_below(&operator->chance, pause), COLONY_ORDER,
	            0, 0, 0);
}

void operator_begin(struct colony *colony)
{
	struct colony_operator *operator= & colony->operator;

	operator->chance = chance_stream(colony->plan.seed, 4, 0);
	if (colony->plan.orders)
		come_again(colony);
}

/* Checks that every voter that has obeyed the last order shows it. */
static void judge(struct colony *colony)
{
	const struct colony_operator *operator= & colony->operator;

	for (uint32_t i = 0; i < colony->places_count; i++) {
		const struct colony_place *place = &colony->places[i];
		const struct voter *voter =
		        place->member != NULL ? member_voter(place->member) : NULL;
		if (voter == NULL || place->stranger ||
		    !state_obeyed(voter_state(voter), operator->last) ||
		    state_forbids(voter_state(voter), entry_text_of(operator->name)) ==
		            operator->forbids)
			continue;
		colony_wrong(colony, "%s has obeyed the order to %s %s, and then an older one",
		             place->name, operator->forbids ? "forbid" : "allow", operator->name);
	}
}

static bool can_order(const struct colony_place *place)
{
	return !place->stranger && !place->leaving && place->member != NULL &&
	       member_tenant(place->member) != NULL;
}

static void give_order(struct colony *colony)
{
	struct colony_operator *operator= & colony->operator;
	uint32_t number = (uint32_t)chance_below(&operator->chance, colony->plan.nodes);
	struct colony_place *place = &colony->places[number];

	if (!can_order(place))
		return;
	operator->forbids = !operator->forbids;
	operator->place = number;
	operator->life = place->life;
	snprintf(operator->name, sizeof(operator->name), "gnu%" PRIu32, operator->names_count);
	operator->last.process = place->process;
	operator->last.number = member_order(
	        place->member, operator->forbids ? ORDER_FORBID : ORDER_INVITE, operator->name,
	        colony_clock(colony, number));
	operator->waits = true;
	colony_note(colony, number,
	            "is ordered to %s %s, order %" PRIu64, operator->forbids ? "forbid" : "allow",
	                                                   operator->name, operator->last.number);
	colony_pump(colony, number);
}

/* Call it when the last order will not be answered. */
static void give_up(struct colony_operator *operator)
{
	operator->waits = false;
	operator->last =(struct order_id){0};
	operator->names_count++;
	operator->forbids = false;
}

void operator_answered(struct colony *colony, const struct colony_place *place,
                       const struct member_effect *effect)
{
	struct colony_operator *operator= & colony->operator;

	colony_note(colony, place->number, "order %" PRIu64 " is %s", effect->answered.number,
	            effect->answered.done ? "obeyed" : "not answered");
	if (effect->answered.refusal != REFUSAL_NONE)
		colony_wrong(colony, "%s: an order is refused", place->name);
	if (!operator->waits || operator->place != place->number || operator->last.number !=
	     effect->answered.number)
		return;
	if (!effect->answered.done) {
		give_up(operator);
		return;
	}
	operator->waits = false;
	operator->answers++;
	operator->rounds -= operator->rounds> 0;
	judge(colony);
}

void operator_on_event(struct colony *colony)
{
	struct colony_operator *operator= & colony->operator;

	if (operator->waits && colony->places[operator->place].life != operator->life)
		give_up(operator);
	if (!operator->waits) {
		judge(colony);
		if (!colony->healing || operator->rounds> 0)
			give_order(colony);
	}
	come_again(colony);
}

void operator_heal(struct colony *colony)
{
	if (colony->plan.orders)
		colony->operator.rounds = ROUNDS;
}

const char *operator_waiting(const struct colony *colony)
{
	return colony->operator.rounds> 0 ? "orders are not obeyed" : NULL;
}
