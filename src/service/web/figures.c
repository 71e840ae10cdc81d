#include "figures.h"

#include "bound.h"
#include "memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parsing --- */

json_t *figures_text(const char *bytes, size_t size)
{
	/* Many readers of JSON refuse a 0 in a string. */
	json_t *json = memchr(bytes, '\0', size) == NULL ? json_stringn(bytes, size) : NULL;

	if (json != NULL)
		return json;
	char *escaped = malloc(4 * size + 1), *end = escaped;
	memory_must(escaped != NULL);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c < 0x80 && c != 0)
			*end++ = (char)c;
		else
			end += sprintf(end, "\\x%02x", c);
	}
	json = json_stringn(escaped, (size_t)(end - escaped));
	free(escaped);
	memory_must(json != NULL);
	return json;
}

static bool is_number(const char *text, size_t size, bool *ret_real)
{
	size_t points = 0;

	for (size_t i = 0; i < size; i++) {
		points += text[i] == '.';
		if (text[i] != '.' && (text[i] < '0' || text[i] > '9'))
			return false;
	}
	*ret_real = points > 0;
	return size > 0 && size <= 18 && points <= 1;
}

/* Is the value of this key a name, even if it looks like a number? A node may have the name "1",
 * and a cluster 00000001. */
static bool is_name(const char *key)
{
	return strcmp(key, "name") == 0 || strcmp(key, "node") == 0 ||
	       strcmp(key, "cluster") == 0 || strcmp(key, "baton_version") == 0;
}

static json_t *parse_plain(const char *key, const char *text, size_t size)
{
	char number[32];
	bool real;

	if (is_name(key) || !is_number(text, size, &real))
		return figures_text(text, size);
	memcpy(number, text, size);
	number[size] = '\0';
	return real ? json_real(strtod(number, NULL)) : json_integer(strtoll(number, NULL, 10));
}

/* Parses "a=1,b=2". */
static json_t *parse_pairs(const char *text, size_t size)
{
	json_t *pairs = json_object();

	for (const char *end = text + size; text < end;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma != NULL ? comma : end;
		const char *equals = memchr(text, '=', (size_t)(stop - text));
		if (equals != NULL) {
			json_t *name = figures_text(text, (size_t)(equals - text));
			const char *key = json_string_value(name);
			json_object_set_new(
			        pairs, key,
			        parse_plain(key, equals + 1, (size_t)(stop - equals - 1)));
			json_decref(name);
		}
		text = stop + 1;
	}
	return pairs;
}

static void parse_line(json_t *figures, const char *line, size_t size)
{
	const char *colon = memchr(line, ':', size);

	if (colon == NULL || line[0] == '#')
		return;
	const char *value = colon + 1;
	size_t value_size = size - (size_t)(value - line);
	json_t *name = figures_text(line, (size_t)(colon - line));
	const char *key = json_string_value(name);
	json_object_set_new(figures, key,
	                    memchr(value, '=', value_size) != NULL
	                            ? parse_pairs(value, value_size)
	                            : parse_plain(key, value, value_size));
	json_decref(name);
}

static const char *text_of(const json_t *figures, const char *name)
{
	const char *text = json_string_value(json_object_get(figures, name));

	return text != NULL ? text : "";
}

json_t *figures_parse(const char *text, size_t size)
{
	json_t *figures = json_object();

	memory_must(figures != NULL);
	for (const char *end = text + size; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline != NULL ? newline : end;
		size_t length = (size_t)(stop - text);
		if (length > 0 && text[length - 1] == '\r')
			length--;
		parse_line(figures, text, length);
		text = stop + 1;
	}
	double bound =
	        bound_messages(text_of(figures, "algorithm"), text_of(figures, "topology"),
	                       (uint64_t)json_integer_value(json_object_get(figures, "members")));
	if (bound >= 0)
		json_object_set_new(figures, "messages_per_entry_bound", json_real(bound));
	return figures;
}

/* --- locks of a status --- */

/* Counts a lock for the client's member, unless it was already counted for that member. */
static void count_member(json_t *counts, json_t *seen, const json_t *client, size_t *most)
{
	const char *node = json_string_value(json_object_get(client, "node"));

	if (node == NULL || json_object_get(seen, node) != NULL)
		return;
	json_int_t count = json_integer_value(json_object_get(counts, node)) + 1;
	json_object_set_new(counts, node, json_integer(count));
	json_object_set_new(seen, node, json_true());
	*most = (size_t)count > *most ? (size_t)count : *most;
}

bool figures_locks_more(const json_t *locks, size_t limit)
{
	json_t *counts = json_object(), *seen = json_object();
	const json_t *lock, *waiter;
	size_t i, k, most = 0;

	if (json_array_size(locks) >= limit) {
		json_array_foreach (locks, i, lock) {
			json_object_clear(seen);
			count_member(counts, seen, json_object_get(lock, "holder"), &most);
			json_array_foreach (json_object_get(lock, "waiters"), k, waiter)
				count_member(counts, seen, waiter, &most);
		}
	}
	json_decref(counts);
	json_decref(seen);
	return most >= limit;
}

/* Counts the waiters of a lock by member, in total and for the lock itself. Returns true if a
 * member may have more waiters than it reported. */
static bool count_waiters(const json_t *lock, size_t limit, json_t *totals, json_t **longest)
{
	json_t *counts = json_object();
	const json_t *waiter;
	size_t i;
	bool more = false;

	json_array_foreach (json_object_get(lock, "waiters"), i, waiter) {
		const char *node = text_of(waiter, "node");
		json_int_t count = json_integer_value(json_object_get(counts, node)) + 1;
		json_int_t total = json_integer_value(json_object_get(totals, node)) + 1;
		json_int_t since = json_integer_value(json_object_get(waiter, "since_ms"));
		json_object_set_new(counts, node, json_integer(count));
		json_object_set_new(totals, node, json_integer(total));
		more = more || (size_t)count >= limit;
		if (json_is_object(*longest) &&
		    since <= json_integer_value(json_object_get(*longest, "since_ms")))
			continue;
		json_decref(*longest);
		*longest = json_pack("{s:O?, s:O?, s:I}", "name", json_object_get(lock, "name"),
		                     "node", json_object_get(waiter, "node"), "since_ms", since);
	}
	json_decref(counts);
	return more;
}

json_t *figures_waiting(json_t *locks, size_t limit)
{
	json_t *totals = json_object(), *longest = json_null(), *lock;
	json_int_t total = 0;
	bool more = false;
	size_t i;

	json_array_foreach (locks, i, lock) {
		total += (json_int_t)json_array_size(json_object_get(lock, "waiters"));
		if (!count_waiters(lock, limit, totals, &longest))
			continue;
		more = true;
		json_object_set_new(lock, "waiters_more", json_true());
	}
	return json_pack("{s:I, s:b, s:o, s:o}", "waiters_total", total, "waiters_more", more,
	                 "waiters_by_member", totals, "waits_longest", longest);
}

/* --- Prometheus' text format --- */

/* Writes a label's value: a backslash, a quote and a newline must be escaped. */
static void write_label(FILE *file, const char *name, const char *value)
{
	fprintf(file, "%s=\"", name);
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '\n')
			fputs("\\n", file);
		else if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else
			fputc(*c, file);
	}
	fputc('"', file);
}

static void write_head(FILE *file, const char *name, const char *type, const char *help)
{
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_number(FILE *file, const json_t *value, double divisor)
{
	if (json_is_integer(value) && divisor == 1)
		fprintf(file, " %lld\n", (long long)json_integer_value(value));
	else
		fprintf(file, " %.9g\n", json_number_value(value) / divisor);
}

/* A metric that is one value of INFO. */
struct plain {
	const char *name, *type, *help;
	const char *label, *label_value; /* the metric's label and its value; NULL: it has none */
	const char *figure;
	double divisor; /* how many of INFO's units make one base unit */
};

/* The rows of one metric stand together. */
static const struct plain plains[] = {
        {"baton_epoch", "gauge", "The epoch of the view that the node is in.", NULL, NULL, "epoch",
         1},
        {"baton_serves", "gauge", "1 if the node may grant locks now.", NULL, NULL, "serves", 1},
        {"baton_witness", "gauge", "1 if the node votes and serves no locks.", NULL, NULL,
         "witness", 1},
        {"baton_views_total", "counter", "Views that the node has entered.", NULL, NULL, "views",
         1},
        {"baton_lapses_total", "counter",
         "How often the node lost its lease, or was removed from the view.", NULL, NULL, "lapses",
         1},
        {"baton_lease_seconds", "gauge", "The length of a lease.", NULL, NULL, "lease_ms", 1000},
        {"baton_sessions", "gauge", "Sessions of clients at the node.", NULL, NULL, "sessions", 1},
        {"baton_locks", "gauge", "Locks that the node knows, by state.", "state", "held",
         "locks_held", 1},
        {"baton_locks", NULL, NULL, "state", "waited", "locks_waited", 1},
        {"baton_locks", NULL, NULL, "state", "idle", "locks_idle", 1},
        {"baton_waiters", "gauge", "Clients at the node that wait for a lock.", NULL, NULL,
         "waiters", 1},
        {"baton_grants_total", "counter",
         "Locks granted to clients of the node; token says whether it was here or had to come.",
         "token", "here", "grants_here", 1},
        {"baton_grants_total", NULL, NULL, "token", "came", "grants_came", 1},
        {"baton_losses_total", "counter", "Locks that clients of the node lost.", "reason",
         "broken", "losses_broken", 1},
        {"baton_losses_total", NULL, NULL, "reason", "leaving", "losses_leaving", 1},
        {"baton_losses_total", NULL, NULL, "reason", "connection", "losses_connection", 1},
        {"baton_losses_total", NULL, NULL, "reason", "view", "losses_view", 1},
        {"baton_losses_total", NULL, NULL, "reason", "lease", "losses_lease", 1},
        {"baton_losses_total", NULL, NULL, "reason", "conflict", "losses_conflict", 1},
        {"baton_refusals_total", "counter", "Requests of clients that were not granted.", "reason",
         "busy", "refusals_busy", 1},
        {"baton_refusals_total", NULL, NULL, "reason", "timeout", "refusals_timeout", 1},
        {"baton_refusals_total", NULL, NULL, "reason", "silent", "refusals_silent", 1},
        {"baton_tokens_regenerated_total", "counter", "Lost tokens that the algorithm replaced.",
         NULL, NULL, "tokens_regenerated", 1},
        {"baton_messages_per_entry_bound", "gauge",
         "The most messages for one entry, as documents claim for the algorithm.", NULL, NULL,
         "messages_per_entry_bound", 1},
        {"baton_control_sent_total", "counter",
         "Frames sent that are not messages of the algorithm.", NULL, NULL, "control_sent", 1},
        {"baton_control_received_total", "counter",
         "Frames received that are not messages of the algorithm.", NULL, NULL, "control_received",
         1},
        {"baton_frames_refused_total", "counter",
         "Frames and packets of members that no correct member sends.", NULL, NULL,
         "frames_refused", 1},
        {"process_resident_memory_bytes", "gauge", "Memory of the node's process.", NULL, NULL,
         "used_memory_rss", 1},
        {"baton_certificate_end_seconds", "gauge",
         "When the node's certificate or its CA expires; only with TLS.", NULL, NULL,
         "certificate_ends_at", 1},
        {"process_start_time_seconds", "gauge", "When the node's process started.", NULL, NULL,
         "started_at", 1},
};

static void write_plains(FILE *file, const json_t *figures)
{
	for (size_t i = 0; i < sizeof(plains) / sizeof(*plains); i++) {
		const struct plain *plain = &plains[i];
		const json_t *value = json_object_get(figures, plain->figure);
		if (!json_is_number(value))
			continue;
		if (plain->type != NULL)
			write_head(file, plain->name, plain->type, plain->help);
		fputs(plain->name, file);
		if (plain->label != NULL) {
			fputc('{', file);
			write_label(file, plain->label, plain->label_value);
			fputc('}', file);
		}
		write_number(file, value, plain->divisor);
	}
}

static void write_build(FILE *file, const json_t *figures)
{
	write_head(file, "baton_build_info", "gauge",
	           "The version of the node's program, and the settings of its cluster.");
	fputs("baton_build_info{", file);
	write_label(file, "version", text_of(figures, "baton_version"));
	fputc(',', file);
	write_label(file, "algorithm", text_of(figures, "algorithm"));
	fputc(',', file);
	write_label(file, "topology", text_of(figures, "topology"));
	fputs("} 1\n", file);
}

/* Writes a metric with a row for each member whose figures have this field. */
static void write_members(FILE *file, const json_t *figures, const char *metric, const char *type,
                          const char *help, const char *label, const char *field, double divisor)
{
	bool any = false;

	for (unsigned i = 0;; i++) {
		char name[32];
		snprintf(name, sizeof(name), "member%u", i);
		const json_t *member = json_object_get(figures, name);
		const json_t *value = json_object_get(member, field);
		if (member == NULL)
			return;
		if (!json_is_number(value))
			continue;
		if (!any)
			write_head(file, metric, type, help);
		any = true;
		fprintf(file, "%s{", metric);
		write_label(file, label, text_of(member, "name"));
		fputc('}', file);
		write_number(file, value, divisor);
	}
}

/* Writes the series of one histogram, with a label or without one. */
static void write_series(FILE *file, const json_t *figures, const char *metric, const char *label,
                         const char *figure)
{
	const json_t *histogram = json_object_get(figures, figure);
	const json_t *count = json_object_get(histogram, "count");
	const char *comma = *label != '\0' ? "," : "";
	const char *name;
	json_t *value;

	if (!json_is_integer(count))
		return;
	json_object_foreach ((json_t *)histogram, name, value) {
		if (strncmp(name, "le_", 3) != 0)
			continue;
		fprintf(file, "%s_bucket{%s%sle=\"%.9g\"}", metric, label, comma,
		        strtod(name + 3, NULL) / 1e6);
		write_number(file, value, 1);
	}
	fprintf(file, "%s_bucket{%s%sle=\"+Inf\"}", metric, label, comma);
	write_number(file, count, 1);
	const char *open = *label != '\0' ? "{" : "", *close = *label != '\0' ? "}" : "";
	fprintf(file, "%s_sum%s%s%s", metric, open, label, close);
	write_number(file, json_object_get(histogram, "sum_us"), 1e6);
	fprintf(file, "%s_count%s%s%s", metric, open, label, close);
	write_number(file, count, 1);
}

static void write_histograms(FILE *file, const json_t *figures)
{
	write_head(file, "baton_acquire_seconds", "histogram",
	           "From a client's request to its grant, by the node's clock.");
	write_series(file, figures, "baton_acquire_seconds", "token=\"here\"", "acquire_here");
	write_series(file, figures, "baton_acquire_seconds", "token=\"came\"", "acquire_came");
	write_head(file, "baton_hold_seconds", "histogram",
	           "From a grant to its end, by the node's clock.");
	write_series(file, figures, "baton_hold_seconds", "", "hold");
}

static void write_types(FILE *file, const json_t *figures, const char *metric, const char *help,
                        const char *figure)
{
	const char *type;
	json_t *value;

	write_head(file, metric, "counter", help);
	json_object_foreach (json_object_get(figures, figure), type, value) {
		fprintf(file, "%s{", metric);
		write_label(file, "type", type);
		fputc('}', file);
		write_number(file, value, 1);
	}
}

static void write_cpu(FILE *file, const json_t *figures)
{
	write_head(file, "process_cpu_seconds_total", "counter",
	           "Processor time that the node's process has used.");
	fprintf(file, "process_cpu_seconds_total %.6f\n",
	        json_number_value(json_object_get(figures, "used_cpu_sys")) +
	                json_number_value(json_object_get(figures, "used_cpu_user")));
}

char *figures_metrics(const json_t *figures)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	memory_must(file != NULL);
	write_head(file, "baton_up", "gauge", "1 if the node answers.");
	fprintf(file, "baton_up %d\n", figures != NULL);
	if (figures != NULL) {
		write_build(file, figures);
		write_plains(file, figures);
		write_members(file, figures, "baton_member_up", "gauge",
		              "1 if the node has a link to the member; for the node itself, 1 if "
		              "it serves.",
		              "member", "up", 1);
		write_members(file, figures, "baton_member_lease_seconds", "gauge",
		              "What is left of the member's lease, as far as the node knows.",
		              "member", "lease_left_ms", 1000);
		write_members(file, figures, "baton_link_sent_bytes_total", "counter",
		              "Bytes sent to a peer.", "peer", "sent_bytes", 1);
		write_members(file, figures, "baton_link_received_bytes_total", "counter",
		              "Bytes received from a peer.", "peer", "received_bytes", 1);
		write_histograms(file, figures);
		write_types(file, figures, "baton_messages_sent_total",
		            "Messages of the algorithm that the node sent.", "messages_sent");
		write_types(file, figures, "baton_messages_received_total",
		            "Messages of the algorithm that the node received.",
		            "messages_received");
		write_cpu(file, figures);
	}
	memory_must(fclose(file) == 0);
	return text;
}
