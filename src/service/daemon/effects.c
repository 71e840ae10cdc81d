#include "effects.h"

#include "archive.h"
#include "closing.h"
#include "commands_member.h"
#include "grace.h"
#include "instance.h"
#include "lease_note.h"
#include "lease_page.h"
#include "leave.h"
#include "log.h"
#include "must.h"
#include "peers.h"
#include "replies.h"

#include "tenant.h"
#include <string.h>

/* How many lines about lost locks are logged in a second. */
enum { LOSSES_LOGGED_MAX = 64 };

/* Was the lock lost because this node lapsed: at the end of its lease, or when it left the view? */
static bool is_lapse(const struct node_bytes *why)
{
	return (why->size == sizeof(NODE_LOST_LEASE) - 1 &&
	        memcmp(why->bytes, NODE_LOST_LEASE, why->size) == 0) ||
	       (why->size == sizeof(NODE_LOST_VIEW) - 1 &&
	        memcmp(why->bytes, NODE_LOST_VIEW, why->size) == 0);
}

void effects_tell_losses(struct daemon *daemon)
{
	if (daemon->losses_count > LOSSES_LOGGED_MAX)
		log_line(LEVEL_WARNING, "%llu more locks were lost within a second",
		         (unsigned long long)(daemon->losses_count - LOSSES_LOGGED_MAX));
	daemon->losses_count = 0;
}

static void on_losses(struct loop_timer *timer)
{
	effects_tell_losses((struct daemon *)((char *)timer - offsetof(struct daemon, losses)));
}

/* Tells the operator; the holder gets an event. A lapse may lose many thousands of locks, which
 * must not take long. */
static void log_loss(struct daemon *daemon, const struct node_effect *effect)
{
	if (daemon->losses_count++ == 0) {
		daemon->losses.due = on_losses;
		loop_timer_set(&daemon->loop, &daemon->losses, daemon->loop.now + 1000 * LOOP_MS);
	}
	if (daemon->losses_count > LOSSES_LOGGED_MAX)
		return;
	log_line(LEVEL_WARNING, "the holder of '%.*s' has lost it, fence %llu: %.*s",
	         (int)effect->lost.name.size, effect->lost.name.bytes,
	         (unsigned long long)effect->lost.fence, (int)effect->lost.why.size,
	         effect->lost.why.bytes);
}

static void do_lost(struct daemon *daemon, const struct node_effect *effect)
{
	struct client *client = client_of(daemon, effect->lost.session);

	log_loss(daemon, effect);
	if (client != NULL && is_lapse(&effect->lost.why))
		client_lapsed(client);
	else if (client != NULL)
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
	case NODE_WARN:
		log_line(LEVEL_WARNING,
		         "half of the lease has passed without an answer from the voters: %llu ms "
		         "are "
		         "left",
		         (unsigned long long)(effect->warn.left_ns / LOOP_MS));
		break;
	case NODE_SEND:
	case NODE_READ:
	case NODE_BUMP:
	case NODE_RENEW:
	case NODE_EXTEND:
	case NODE_DEPART:
		must(false); /* the member handles these itself */
	}
}

/* With two voters, nothing could be agreed when either is down. So in a cluster of two only one
 * votes, and an operator should know what that means. */
static void warn_of_two(struct daemon *daemon)
{
	const struct tenant *tenant = member_tenant(daemon->member);
	const struct electors *electors = tenant_electors(tenant);

	if (tenant_view(tenant).seats_count != 2 || electors->count != 1)
		return;
	log_line(
	        LEVEL_WARNING,
	        "two members, and only %s votes: if it fails, nobody is let in until it is back. "
	        "With a third node, or with one that only votes (baton node --witness), any one of "
	        "them may fail",
	        electors->list[0].name);
}

static void do_view(struct daemon *daemon, const struct member_effect *effect)
{
	members_note(daemon);
	log_line(LEVEL_INFO, "epoch %llu, %u member%s%s", (unsigned long long)effect->view.epoch,
	         effect->view.members_count, effect->view.members_count == 1 ? "" : "s",
	         effect->view.in ? "" : "; this node is not among them");
	if (daemon->frozen_since_ns == 0)
		daemon->frozen_since_ns = daemon->loop.now;
	if (effect->view.in)
		warn_of_two(daemon);
}

static void stop(struct daemon *daemon, int code)
{
	daemon->code = code;
	daemon_leave(daemon);
}

/* Takes the settings of the cluster to which the node now belongs. They may differ from those with
 * which it began. Its clients are dropped; none of them holds anything, and they reconnect by
 * themselves. */
static void settle(struct daemon *daemon, const struct charter *charter)
{
	const struct daemon_options *options = daemon->options;
	struct daemon_settings settings;
	struct problem problem;
	struct client *client;

	if (options->resolve(options->context, charter->settings, &settings, &problem) != 0) {
		log_line(LEVEL_ERROR, "%s", problem.text);
		daemon->ended = true;
		daemon->code = 2;
		return;
	}
	LIST_FOREACH (client, &daemon->clients.all, all)
		client_close(client);
	daemon->settings = settings;
	struct member_settlement settlement = {.node = daemon_node_options(daemon),
	                                       .wiring = settings.wiring,
	                                       .lease_ns = settings.lease_ms * LOOP_MS};
	const char *wrong = member_settle(daemon->member, &settlement, daemon->loop.now);
	if (wrong != NULL) {
		log_line(LEVEL_ERROR, "%s", wrong);
		daemon->ended = true;
		daemon->code = 2;
		return;
	}
	daemon->node = member_node(daemon->member);
	/* The old note is no longer needed: commands started under a killed node on this socket
	 * have stopped by now. */
	lease_note_write(options->socket, settings.lease_ms);
	if (!daemon->newborn)
		listeners_resume(daemon);
	log_line(LEVEL_INFO, "belongs to the cluster %016llx%016llx: %s, lease %llu ms",
	         (unsigned long long)charter->cluster.high,
	         (unsigned long long)charter->cluster.low, settings.algorithm->name,
	         (unsigned long long)settings.lease_ms);
}

bool effects_do(struct daemon *daemon)
{
	static const enum daemon_level levels[] = {[MEMBER_WARNING] = LEVEL_WARNING,
	                                           [MEMBER_INFO] = LEVEL_INFO,
	                                           [MEMBER_DEBUG] = LEVEL_DEBUG};
	struct member_effect effect;
	bool any = false;

	lease_page_publish(daemon);
	/* Called while an effect is being carried out: the outer call will take the new effects
	 * too. */
	if (daemon->pumping)
		return false;
	daemon->pumping = true;
	for (; !daemon->ended && member_effect(daemon->member, &effect); any = true) {
		switch (effect.kind) {
		case MEMBER_NODE:
			do_node_effect(daemon, &effect.node);
			break;
		case MEMBER_DIAL:
			peers_dial(daemon, effect.dial.connection, effect.dial.address);
			break;
		case MEMBER_CLOSE:
			peers_close_connection(effect.close);
			break;
		case MEMBER_VIEW:
			do_view(daemon, &effect);
			break;
		case MEMBER_REMOVED:
			daemon_removed(daemon, tenant_removed(member_tenant(daemon->member)));
			break;
		case MEMBER_SETTLE:
			settle(daemon, effect.charter);
			break;
		case MEMBER_WRITE:
			archive_write(daemon->archive, effect.write);
			break;
		case MEMBER_IDENTITY:
			archive_write_identity(daemon->archive, member_identity(daemon->member));
			break;
		case MEMBER_ADDRESS:
			archive_write_address(daemon->archive, effect.address.name,
			                      effect.address.address);
			break;
		case MEMBER_ANSWERED:
			members_answered(daemon, &effect);
			break;
		case MEMBER_STOP:
			log_line(LEVEL_ERROR, "%s", effect.stop);
			stop(daemon, 1);
			break;
		case MEMBER_LOG:
			log_line(levels[effect.log.level], "%s", effect.log.text);
			break;
		}
	}
	daemon->pumping = false;
	return any;
}
