#include "step.h"

#include "control.h"
#include "trouble.h"
#include "whole.h"

const struct site *step_site(struct node *node, const struct lock *lock)
{
	struct site *site = &node->view.site;

	site->holder = lock->home;
	if (node->view.toward != NULL)
		site->toward = node->view.toward[lock->home - 1];
	return site;
}

void *step_state(struct node *node, struct lock *lock)
{
	return packed_open(&node->opened, &node->pool, lock);
}

/* Carries out the effects of the algorithm's last step. */
static void perform(struct node *node, struct lock *lock)
{
	const struct out *out = &node->out;
	const struct effect *last = NULL;
	struct pace *pace = &node->paces[lock->pace];

	pace->steps++;
	for (uint32_t i = 0; i < out->effects_count && !node->stopped; i++) {
		const struct effect *effect = &out->effects[i];
		if (effect->kind == EFFECT_ENTER) {
			if (lock->phase != PHASE_WAITING)
				trouble_stop(node, "an algorithm let this node in unasked");
			lock->phase = PHASE_INSIDE;
			if (lock->live != NULL) {
				lock->live->turns = 0;
				/* Assume that messages were needed. lock_settle resets this if none
				 * was. */
				lock->live->came = true;
			}
			last = NULL;
		} else if (effect->kind != EFFECT_SEND) {
			/* The node only counts regenerated tokens. Timers are set only with
			 * parameters that the service refuses. */
			must(effect->kind == EFFECT_REGENERATED);
			node->figures.regenerated++;
		} else if (effect->send.to == node->view.self && node->view.count == 1) {
			must(node->algorithm->circulates);
			struct letter letter = {lock->counter, effect->send.side, effect->send.size,
			                        out->bytes + effect->send.offset};
			road_add(node, lock, &letter);
			pace->balance++;
		} else if (effect->send.to == 0 || effect->send.to > node->view.count ||
		           !node->view.members[effect->send.to - 1].linked) {
			trouble_stop(
			        node,
			        "an algorithm sent a message to a node that is not a neighbour");
		} else {
			bool same = last != NULL && last->send.offset == effect->send.offset &&
			            last->send.side == effect->send.side;
			message_send(node, lock, effect, same);
			pace->balance++;
			last = effect;
		}
	}
}

void step_start(struct node *node, struct lock *lock)
{
	if (lock->phase != PHASE_NONE)
		return;
	const struct site *site = step_site(node, lock);
	out_clear(&node->out);
	lock->phase = PHASE_IDLE;
	node->algorithm->init(site, step_state(node, lock), &node->out);
	perform(node, lock);
}

int step_deliver(struct node *node, struct lock *lock, const struct letter *letter)
{
	const struct site *site = step_site(node, lock);
	struct message message = {
	        .side = side_opposite(letter->side), .size = letter->size, .body = letter->body};

	out_clear(&node->out);
	int error = node->algorithm->receive(site, step_state(node, lock), &message, &node->out);
	if (error == 0) {
		node->paces[lock->pace].balance--;
		perform(node, lock);
	}
	return error;
}

void step_leave(struct node *node, struct lock *lock)
{
	const struct site *site = step_site(node, lock);

	out_clear(&node->out);
	lock->phase = PHASE_IDLE;
	node->algorithm->release(site, step_state(node, lock), &node->out);
	perform(node, lock);
}

static void move_first(struct node *node, struct lock *lock)
{
	struct letter letter = road_take(node, lock);

	if (step_deliver(node, lock, &letter) != 0)
		node->figures.malformed++;
}

void step_move(struct node *node, struct lock *lock, uint32_t count)
{
	while (count-- > 0)
		move_first(node, lock);
}

/* In a view of one member, a message that moves on comes back at once. So count first, and move
 * each message only once. */
void step_move_if_waiting(struct node *node, struct lock *lock)
{
	uint32_t count = road_count(node, lock);

	while (count-- > 0 && lock->phase == PHASE_WAITING)
		move_first(node, lock);
}

static bool is_ready(struct node *node, struct lock *lock)
{
	const struct site *site = step_site(node, lock);

	return node->algorithm->ready == NULL ||
	       node->algorithm->ready(site, step_state(node, lock));
}

static void send_touch(struct node *node, const struct lock *lock)
{
	control_begin(node, FRAME_TOUCH, lock->home);
	control_name(node, lock_name(node, lock));
	control_end(node, lock->home);
}

/* A token that circulates may be parked at home, or not even have set out: then the home must know
 * that a client waits. */
void step_request(struct node *node, struct lock *lock)
{
	bool home = lock->home == node->view.self, made = lock->phase == PHASE_NONE;

	step_start(node, lock);
	if (made && node->view.starts && !home)
		send_touch(node, lock);
	if (!is_ready(node, lock) || node->stopped)
		return;
	const struct site *site = step_site(node, lock);
	out_clear(&node->out);
	lock->phase = PHASE_WAITING;
	node->algorithm->request(site, step_state(node, lock), &node->out);
	perform(node, lock);
	if (!node->algorithm->circulates)
		return;
	step_move_if_waiting(node, lock);
	if (lock->phase == PHASE_WAITING && !home && !made && !road_is_fresh(node, lock))
		send_touch(node, lock);
}
