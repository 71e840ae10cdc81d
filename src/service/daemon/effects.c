#include "effects.h"

#include "epoch_file.h"
#include "grace.h"
#include "instance.h"
#include "leave.h"
#include "log.h"
#include "must.h"
#include "peers.h"
#include "replies.h"

static void do_lost(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client = client_of(daemon, effect->lost.session);

	/* The holder learns this from an event, the operator from this line. */
	log_line(LEVEL_WARNING, "the holder of '%.*s' has lost it, fence %llu: %.*s",
	         (int)effect->lost.name.size, effect->lost.name.bytes,
	         (unsigned long long)effect->lost.fence, (int)effect->lost.why.size,
	         effect->lost.why.bytes);
	if (client != NULL)
		client_lost(client);
}

static void do_node_effect(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client;

	switch (effect->kind) {
	case NODE_REPLY:
		client = client_of(daemon, effect->reply.session);
		if (client != NULL)
			reply_tell(client, effect);
		break;
	case NODE_EVENT:
		client = client_of(daemon, effect->event.session);
		if (client != NULL)
			reply_event(client, effect);
		break;
	case NODE_LOST:
		do_lost(daemon, effect);
		break;
	case NODE_STOP:
		log_line(LEVEL_ERROR, "stopped, because going on could do harm: %s",
		         effect->stop.why);
		daemon->code = 1;
		daemon_leave(daemon);
		break;
	case NODE_SHOUT:
		log_line(LEVEL_ERROR, "%s", effect->shout.text);
		break;
	case NODE_SEND:
	case NODE_READ:
	case NODE_BUMP:
		must(false); /* the member handles these itself */
		break;
	case NODE_RENEW:
	case NODE_WARN:
	case NODE_EXTEND:
	case NODE_DEPART:
		must(false); /* a fixed membership has no leases */
	}
}

static void do_view(struct daemon *daemon, const struct member_effect *effect)
{
	if (daemon->options->data != NULL)
		epoch_file_write(daemon->options->data, effect->view.epoch, effect->view.floor);
	log_line(LEVEL_INFO, "epoch %llu, %u member%s", (unsigned long long)effect->view.epoch,
	         effect->view.members_count, effect->view.members_count == 1 ? "" : "s");
	if (!effect->view.served)
		log_line(LEVEL_ERROR, "nobody is served in it: %s", node_waiting_for(daemon->node));
}

bool effects_do(struct daemon *daemon)
{
	static const enum daemon_level levels[] = {[MEMBER_WARNING] = LEVEL_WARNING,
	                                           [MEMBER_INFO] = LEVEL_INFO,
	                                           [MEMBER_DEBUG] = LEVEL_DEBUG};
	struct member_effect effect;
	bool any = false;

	/* Called while an effect is being carried out: the outer call also does what this effect
	 * causes. */
	if (daemon->pumping)
		return false;
	daemon->pumping = true;
	for (; member_effect(daemon->member, &effect); any = true) {
		switch (effect.kind) {
		case MEMBER_NODE:
			do_node_effect(daemon, &effect.node);
			break;
		case MEMBER_DIAL:
			peers_dial(daemon, effect.dial.connection, effect.dial.peer);
			break;
		case MEMBER_CLOSE:
			peers_close_connection(effect.close);
			break;
		case MEMBER_VIEW:
			do_view(daemon, &effect);
			break;
		case MEMBER_LOG:
			log_line(levels[effect.log.level], "%s", effect.log.text);
			break;
		}
	}
	daemon->pumping = false;
	return any;
}
