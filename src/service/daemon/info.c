#include "info.h"

#include "arguments.h"
#include "instance.h"
#include "permissions.h"
#include "tenant.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void put(struct buffer *to, const char *format, ...)
{
	enum { LINE_MAX = 1024 };
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(buffer_need(to, LINE_MAX), LINE_MAX, format, arguments);
	va_end(arguments);
	to->end += size < LINE_MAX ? (size_t)size : LINE_MAX - 1;
}

static void put_number(struct buffer *to, const char *name, uint64_t number)
{
	put(to, "%s:%llu\r\n", name, (unsigned long long)number);
}

static uint64_t count_resident_bytes(void)
{
	unsigned long long total, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file != NULL && fscanf(file, "%llu %llu", &total, &resident) != 2)
		resident = 0;
	if (file != NULL)
		fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void tell_server(const struct daemon *daemon, struct buffer *to)
{
	struct rusage usage = {0};
	uint64_t age = daemon->loop.now - daemon->started;

	getrusage(RUSAGE_SELF, &usage);
	put(to,
	    "# Server\r\nbaton_version:" BATON_VERSION "\r\nredis_mode:standalone\r\nloading:0\r\n"
	    "node:%s\r\n",
	    daemon_name(daemon));
	put_number(to, "process_id", (uint64_t)getpid());
	put_number(to, "uptime_in_seconds", age / LOOP_MS / 1000);
	put_number(to, "started_at", (uint64_t)time(NULL) - age / LOOP_MS / 1000);
	if (daemon->credentials != NULL)
		put_number(to, "certificate_ends_at",
		           (uint64_t)credentials_end(daemon->credentials));
	put_number(to, "used_memory_rss", count_resident_bytes());
	put(to, "used_cpu_sys:%ld.%06ld\r\nused_cpu_user:%ld.%06ld\r\n",
	    (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec, (long)usage.ru_utime.tv_sec,
	    (long)usage.ru_utime.tv_usec);
}

/* Writes the lines about this node and the peers to which it needs a link. `whole`: with the bytes
 * that went over each link, which are for all locks together. */
static void tell_members(const struct daemon *daemon, struct buffer *to, uint64_t left_ms,
                         bool whole)
{
	const struct tenant *tenant = member_tenant(daemon->member);
	uint32_t count = 0;
	const struct tenant_peer *peers = tenant != NULL ? tenant_peers(tenant, &count) : NULL;

	put(to, "member0:name=%s,up=%d,lease_left_ms=%llu\r\n", daemon_name(daemon),
	    node_waiting_for(daemon->node) == NULL, (unsigned long long)left_ms);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t sent, received;
		member_traffic(daemon->member, peers[i].process, &sent, &received);
		put(to, "member%u:name=%s,up=%d", i + 1, peers[i].name, peers[i].stands);
		if (whole)
			put(to, ",sent_bytes=%llu,received_bytes=%llu", (unsigned long long)sent,
			    (unsigned long long)received);
		put(to, "\r\n");
	}
}

static void tell_cluster(const struct daemon *daemon, struct buffer *to,
                         const struct node_figures *figures, bool whole)
{
	const struct daemon_settings *settings = &daemon->settings;
	uint64_t deadline = node_lease_deadline(daemon->node), now = daemon->loop.now;
	uint64_t left_ms =
	        deadline != NODE_NEVER && deadline > now ? (deadline - now) / LOOP_MS : 0;

	put(to, "\r\n# Cluster\r\nalgorithm:%s\r\ntopology:%s\r\n", settings->algorithm->name,
	    settings->topology != NULL ? settings->topology : settings->algorithm->topology);
	const struct cluster_id *id = &member_identity(daemon->member)->charter.cluster;
	uint64_t mixed = id->high ^ id->low;
	/* A digest is enough to notice another cluster. The cluster's id itself stays among
	 * members. */
	put(to, "cluster:%08x\r\n", (uint32_t)(mixed ^ mixed >> 32));
	put_number(to, "epoch", node_epoch(daemon->node));
	put_number(to, "views", figures->views);
	put_number(to, "members", node_members_count(daemon->node));
	put_number(to, "serves", node_waiting_for(daemon->node) == NULL);
	put_number(to, "witness", member_identity(daemon->member)->witness);
	put_number(to, "lapses", node_lapses(daemon->node));
	put_number(to, "lease_ms", settings->lease_ms);
	if (deadline != NODE_NEVER)
		put_number(to, "lease_left_ms", left_ms);
	tell_members(daemon, to, left_ms, whole);
}

static void tell_clients(const struct daemon *daemon, struct buffer *to,
                         const struct node_figures *figures)
{
	put(to, "\r\n# Clients\r\n");
	put_number(to, "connected_clients", daemon->clients.count);
	put_number(to, "sessions", figures->sessions);
}

static void tell_locks(struct buffer *to, const struct node_figures *figures)
{
	uint64_t came = 0;

	for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
		came += figures->acquire[TOKEN_CAME].counts[i];
	put(to, "\r\n# Locks\r\n");
	put_number(to, "locks", figures->locks);
	put_number(to, "locks_held", figures->locks_held);
	put_number(to, "locks_waited", figures->locks_waited);
	put_number(to, "locks_idle", figures->locks - figures->locks_held - figures->locks_waited);
	put_number(to, "locks_bytes", figures->lock_bytes);
	put_number(to, "waiters", figures->waiters);
	put_number(to, "grants_here", figures->grants - came);
	put_number(to, "grants_came", came);
	for (unsigned i = 0; i < LOSSES_COUNT; i++) {
		char name[64];
		snprintf(name, sizeof(name), "losses_%s", node_loss_text(i));
		put_number(to, name, figures->losses[i]);
	}
	put_number(to, "refusals_busy", figures->refused_busy);
	put_number(to, "refusals_timeout", figures->refused_timeout);
	put_number(to, "refusals_silent", figures->refused_silent);
	put_number(to, "tokens_regenerated", figures->regenerated);
}

/* Counts are cumulative: le_250 counts all times of at most 250 microseconds. */
static void tell_histogram(struct buffer *to, const char *name, const struct histogram *histogram)
{
	uint64_t count = 0;

	put(to, "%s:sum_us=%llu", name, (unsigned long long)(histogram->sum_ns / 1000));
	for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
		count += histogram->counts[i];
		put(to, ",le_%llu=%llu", (unsigned long long)histogram_bounds_us[i],
		    (unsigned long long)count);
	}
	count += histogram->counts[HISTOGRAM_BOUNDS];
	put(to, ",count=%llu\r\n", (unsigned long long)count);
}

static void tell_types(struct buffer *to, const char *name, const struct algorithm *algorithm,
                       const uint64_t *counts)
{
	put(to, "%s:", name);
	for (size_t i = 0; i < algorithm->messages_count; i++)
		put(to, "%s%s=%llu", i > 0 ? "," : "", algorithm->messages[i].name,
		    (unsigned long long)counts[i]);
	put(to, "\r\n");
}

/* Writes the counters, for a client that may see a status. `whole`: it may see all locks, so it
 * gets those that count all locks together, too. */
static void tell_figures(const struct daemon *daemon, struct buffer *to, bool whole)
{
	const struct algorithm *algorithm = daemon->settings.algorithm;
	struct node_figures figures;

	node_figures(daemon->node, &figures);
	tell_cluster(daemon, to, &figures, whole);
	tell_clients(daemon, to, &figures);
	if (!whole)
		return;
	tell_locks(to, &figures);
	put(to, "\r\n# Times\r\n");
	tell_histogram(to, "acquire_here", &figures.acquire[TOKEN_HERE]);
	tell_histogram(to, "acquire_came", &figures.acquire[TOKEN_CAME]);
	tell_histogram(to, "hold", &figures.hold);
	put(to, "\r\n# Messages\r\n");
	tell_types(to, "messages_sent", algorithm, figures.sent_by_type);
	tell_types(to, "messages_received", algorithm, figures.received_by_type);
	put_number(to, "control_sent", figures.control_sent);
	put_number(to, "control_received", figures.control_received);
	put_number(to, "frames_refused", member_offences(daemon->member) + figures.malformed);
}

/* Serves INFO. It needs no permission, because client libraries send it whenever they connect. */
bool serve_info(struct client *client, const struct resp_argument *a, uint32_t count)
{
	const struct daemon *daemon = client->daemon;
	struct buffer text = {0};

	(void)a; /* the arguments name sections; INFO is short, so it always has all of them */
	(void)count;
	tell_server(daemon, &text);
	if ((rules_verbs_somewhere(permission_rules(client), &client->subject) & VERB_STATUS) != 0)
		tell_figures(daemon, &text, permission_sees_all(client));
	resp_bulk(&client->output, buffer_front(&text), buffer_size(&text));
	buffer_free(&text);
	return true;
}
