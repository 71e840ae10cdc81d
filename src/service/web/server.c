#include "server.h"

#include "figures.h"
#include "files.h"
#include "hub.h"
#include "memory.h"
#include "request.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	HEADER_MAX = 16384, /* the most bytes of a request's header */
	/* The most connections at a time; each may ask the node. More than GUESTS_MAX, so that a
	 * new one is accepted before an old one has ended. */
	CONNECTIONS_MAX = HUB_ASKS_MAX,
	STREAMS_MAX = 900,   /* the most connections that are streams */
	SILENCE_MAX = 30,    /* how many seconds a connection may stay without traffic */
	UNREAD_MAX = 131072, /* the most bytes that the kernel keeps for a slow reader */
	STREAM_BLOCK = 8192, /* the most bytes of a stream that are read at a time */
};

/* How many locks a page of /api/status has, and how many locks may be skipped before it. */
enum { COUNT_DEFAULT = 100, COUNT_MAX = 1000, SKIP_MAX = 1000000000 };

static const char type_text[] = "text/plain; charset=utf-8";
static const char type_json[] = "application/json";
static const char type_metrics[] = "text/plain; version=0.0.4; charset=utf-8";
static const char type_stream[] = "text/event-stream; charset=utf-8";

static const char policy[] = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
                             "style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* A request. It takes several calls: its body is read, then perhaps the node is asked. */
struct job {
	struct ask ask; /* the question to the node; must be the first member */
	struct server *server;
	struct MHD_Connection *connection;
	bool post;            /* the request is an order to break a lock */
	bool asked, finished; /* the node was asked; the outcome is there */
	uint64_t count, skip; /* the parameters of /api/status */
	char body[REQUEST_BODY_MAX];
	size_t body_size;
	bool too_long;
};

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct guest *guest_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
	        ->socket_context;
}

/* --- answers --- */

static void add_headers(struct MHD_Response *response, const char *type, const char *caching)
{
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Content-Security-Policy", policy);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "X-Frame-Options", "DENY");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cache-Control", caching);
}

static enum MHD_Result send_response(const struct server *server, struct MHD_Connection *connection,
                                     unsigned status, struct MHD_Response *response)
{
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow",
		                        server->options.control ? "GET, HEAD, POST" : "GET, HEAD");
	/* A client that is refused for lack of room must not keep a connection. */
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

/* Answers with a text that is copied. libmicrohttpd leaves the body out after a HEAD. */
static enum MHD_Result answer(struct server *server, struct MHD_Connection *connection,
                              unsigned status, const char *type, const char *text)
{
	struct MHD_Response *response =
	        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (response == NULL)
		return MHD_NO;
	guest_due(&server->guests, guest_of(connection), GUEST_ANSWER_MS);
	add_headers(response, type, "no-store");
	return send_response(server, connection, status, response);
}

static enum MHD_Result answer_json(struct server *server, struct MHD_Connection *connection,
                                   unsigned status, json_t *json)
{
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	memory_must(text != NULL);
	json_decref(json);
	enum MHD_Result result = answer(server, connection, status, type_json, text);
	free(text);
	return result;
}

/* Answers {"error": …} to a question about the node. */
static enum MHD_Result refuse_json(struct server *server, struct MHD_Connection *connection,
                                   unsigned status, const char *words)
{
	return answer_json(server, connection, status,
	                   json_pack("{s:o}", "error", figures_text(words, strlen(words))));
}

static enum MHD_Result refuse(struct server *server, struct MHD_Connection *connection,
                              unsigned status, const char *words)
{
	return answer(server, connection, status, type_text, words);
}

/* Serves a file with a tag: browsers ask each time whether the file has changed, and mostly it has
 * not. */
static enum MHD_Result serve_file(struct server *server, struct MHD_Connection *connection,
                                  const struct served *file)
{
	const char *known = header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH), *encoding;
	struct file_bytes bytes =
	        file_choose(file, header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING), &encoding);
	char tag[32];

	file_tag(bytes, tag, sizeof(tag));
	bool same = known != NULL && strstr(known, tag) != NULL;
	struct MHD_Response *response =
	        MHD_create_response_from_buffer(same ? 0 : (size_t)(bytes.end - bytes.begin),
	                                        (void *)bytes.begin, MHD_RESPMEM_PERSISTENT);
	if (response == NULL)
		return MHD_NO;
	guest_due(&server->guests, guest_of(connection), GUEST_ANSWER_MS);
	add_headers(response, file->type, "no-cache");
	MHD_add_response_header(response, "Vary", "Accept-Encoding");
	MHD_add_response_header(response, "ETag", tag);
	if (encoding != NULL)
		MHD_add_response_header(response, "Content-Encoding", encoding);
	return send_response(server, connection, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
	                     response);
}

/* --- streams --- */

static void pause_viewer(struct viewer *viewer)
{
	MHD_suspend_connection(viewer->user);
}

static void wake_viewer(struct viewer *viewer)
{
	MHD_resume_connection(viewer->user);
}

struct stream {
	struct viewer viewer; /* the viewer; must be the first member */
	struct feed *feed;
};

static ssize_t read_stream(void *context, uint64_t position, char *room, size_t size)
{
	struct stream *stream = context;
	ssize_t count = feed_read(stream->feed, &stream->viewer, room, size);

	(void)position;
	return count < 0 ? MHD_CONTENT_READER_END_OF_STREAM : count;
}

static void end_stream(void *context)
{
	struct stream *stream = context;

	feed_leave(stream->feed, &stream->viewer);
	free(stream);
}

static enum MHD_Result serve_events(struct server *server, struct MHD_Connection *connection,
                                    bool head)
{
	if (head)
		return answer(server, connection, MHD_HTTP_OK, type_stream, "");
	if (feed_viewers(&server->feed) >= STREAMS_MAX)
		return refuse_json(server, connection, MHD_HTTP_SERVICE_UNAVAILABLE,
		                   "there are too many viewers");
	struct stream *stream = calloc(1, sizeof(*stream));
	memory_must(stream != NULL);
	stream->feed = &server->feed;
	stream->viewer.user = connection;
	if (feed_join(&server->feed, &stream->viewer))
		hub_wake(server->hub);
	struct MHD_Response *response = MHD_create_response_from_callback(
	        MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, stream, end_stream);
	memory_must(response != NULL);
	guest_due(&server->guests, guest_of(connection), -1);
	add_headers(response, type_stream, "no-store");
	/* A proxy must not collect events before it passes them on. */
	MHD_add_response_header(response, "X-Accel-Buffering", "no");
	return send_response(server, connection, MHD_HTTP_OK, response);
}

/* --- what the node is asked for --- */

/* Called by the hub's thread. */
static void on_answered(struct ask *ask)
{
	struct job *job = (struct job *)(void *)ask;

	job->finished = true;
	MHD_resume_connection(job->connection);
}

/* Suspends the request before it asks, because the answer may come before hub_ask returns. */
static enum MHD_Result ask_node(struct job *job, enum ask_kind kind)
{
	job->asked = true;
	job->ask.kind = kind;
	job->ask.done = on_answered;
	guest_due(&job->server->guests, guest_of(job->connection), -1);
	MHD_suspend_connection(job->connection);
	if (!hub_ask(job->server->hub, &job->ask)) {
		problem_set(&job->ask.problem, "baton web is ending");
		on_answered(&job->ask);
	}
	return MHD_YES;
}

/* Cuts the page that was asked for out of all locks. The reply is shared with other requests. */
static json_t *cut_status(const struct job *job)
{
	const json_t *locks = json_object_get(job->ask.reply, "locks");
	json_t *status = json_copy(job->ask.reply);
	size_t total = json_array_size(locks);
	json_t *page = json_array();

	for (uint64_t i = job->skip; i < total && i < job->skip + job->count; i++)
		json_array_append(page, json_array_get(locks, (size_t)i));
	bool more = figures_locks_more(locks, HUB_LOCKS_MAX);
	json_object_set_new(status, "locks", page);
	json_object_set_new(status, "locks_total", json_integer((json_int_t)total));
	json_object_set_new(status, "locks_more", json_boolean(more));
	return status;
}

static enum MHD_Result answer_job(struct job *job)
{
	struct server *server = job->server;
	const struct ask *ask = &job->ask;

	if (ask->kind == ASK_INFO) {
		/* If there is no node, the metrics say so. The scrape itself has not failed. */
		char *metrics = figures_metrics(ask->reply);
		enum MHD_Result result =
		        answer(server, job->connection, MHD_HTTP_OK, type_metrics, metrics);
		free(metrics);
		return result;
	}
	if (ask->reply == NULL)
		return refuse_json(server, job->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
		                   ask->problem.text);
	if (ask->kind == ASK_BREAK)
		return answer_json(
		        server, job->connection, MHD_HTTP_OK,
		        json_pack("{s:b}", "broken", json_integer_value(ask->reply) == 1));
	return answer_json(server, job->connection, MHD_HTTP_OK, cut_status(job));
}

/* Reads ?pattern=…&count=…&skip=…. Returns 0, or -1 and a problem. */
static int read_query(struct MHD_Connection *connection, struct job *job, struct problem *problem)
{
	const char *pattern = NULL, *count, *skip;
	size_t size = 0;

	if (MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "pattern",
	                                  strlen("pattern"), &pattern, &size) != MHD_YES ||
	    size == 0) {
		pattern = "*";
		size = 1;
	}
	if (size > sizeof(job->ask.text))
		return problem_set(problem, "pattern: at most %zu bytes", sizeof(job->ask.text));
	memcpy(job->ask.text, pattern, size);
	job->ask.text_size = size;
	count = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "count");
	skip = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "skip");
	job->count = COUNT_DEFAULT;
	if (count != NULL &&
	    request_number(count, "count", 1, COUNT_MAX, &job->count, problem) != 0)
		return -1;
	return skip == NULL ? 0 : request_number(skip, "skip", 0, SKIP_MAX, &job->skip, problem);
}

static enum MHD_Result serve_status(struct job *job)
{
	struct problem problem;

	if (read_query(job->connection, job, &problem) != 0)
		return refuse_json(job->server, job->connection, MHD_HTTP_BAD_REQUEST,
		                   problem.text);
	return ask_node(job, ASK_STATUS);
}

static enum MHD_Result serve_session(struct server *server, struct MHD_Connection *connection)
{
	return answer_json(server, connection, MHD_HTTP_OK,
	                   json_pack("{s:b, s:b, s:s}", "control", server->options.control, "node",
	                             hub_has_node(server->hub), "version", BATON_VERSION));
}

/* --- orders --- */

/* Only the page itself may give an order. Any other page can make a browser send a POST, but not
 * with the header Baton-Control, and the browser then sends that page's origin. Returns NULL, or
 * why the order is refused. */
static const char *judge_order(struct MHD_Connection *connection)
{
	const char *host = header(connection, MHD_HTTP_HEADER_HOST);
	const char *origin = header(connection, MHD_HTTP_HEADER_ORIGIN);
	const char *control = header(connection, "Baton-Control");

	if (origin == NULL || !request_is_own_origin(origin, host))
		return "only the page of this server may give orders";
	if (control == NULL || strcmp(control, "1") != 0)
		return "the header Baton-Control: 1 is missing";
	return NULL;
}

static enum MHD_Result finish_break(struct job *job)
{
	struct break_order order;
	struct problem problem;

	if (job->too_long)
		return refuse_json(job->server, job->connection, MHD_HTTP_CONTENT_TOO_LARGE,
		                   "the body is too long");
	if (request_break(job->body, job->body_size, &order, &problem) != 0)
		return refuse_json(job->server, job->connection, MHD_HTTP_BAD_REQUEST,
		                   problem.text);
	memcpy(job->ask.text, order.name, order.name_size);
	job->ask.text_size = order.name_size;
	job->ask.fence = order.fence;
	return ask_node(job, ASK_BREAK);
}

static void take_body(struct job *job, const char *bytes, size_t size)
{
	if (size > sizeof(job->body) - job->body_size) {
		job->too_long = true;
		return;
	}
	memcpy(job->body + job->body_size, bytes, size);
	job->body_size += size;
}

/* --- requests --- */

static enum MHD_Result serve_get(struct job *job, const char *url, bool head)
{
	struct server *server = job->server;
	const struct served *file = file_find(url);

	if (file != NULL)
		return serve_file(server, job->connection, file);
	if (strcmp(url, "/api/events") == 0)
		return serve_events(server, job->connection, head);
	if (strcmp(url, "/api/status") == 0)
		return serve_status(job);
	if (strcmp(url, "/api/session") == 0)
		return serve_session(server, job->connection);
	if (strcmp(url, "/metrics") == 0)
		return ask_node(job, ASK_INFO);
	return refuse(server, job->connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
}

/* Called when the header is complete. A request that is not refused is answered only when its body
 * has been read too; otherwise the library would close the connection after the answer. */
static enum MHD_Result begin(struct server *server, struct MHD_Connection *connection,
                             const char *url, const char *method, void **state)
{
	const char *host = header(connection, MHD_HTTP_HEADER_HOST);
	bool post = server->options.control && strcmp(method, MHD_HTTP_METHOD_POST) == 0 &&
	            strcmp(url, "/api/break") == 0;

	if (host == NULL || !request_is_host(host, server->options.host, server->port))
		return refuse(server, connection, MHD_HTTP_MISDIRECTED_REQUEST,
		              "This is not the host that was asked for.\n");
	if (!post && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
		              server->options.control
		                      ? "Only GET and HEAD, and POST to /api/break.\n"
		                      : "Only GET and HEAD.\n");
	const char *wrong = post ? judge_order(connection) : NULL;
	if (wrong != NULL)
		return refuse_json(server, connection, MHD_HTTP_FORBIDDEN, wrong);
	struct job *job = calloc(1, sizeof(*job));
	memory_must(job != NULL);
	job->server = server;
	job->connection = connection;
	job->post = post;
	*state = job;
	return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
	struct job *job = *state;

	(void)version;
	if (job == NULL) {
		*upload_size = 0;
		return begin(context, connection, url, method, state);
	}
	if (*upload_size > 0) {
		take_body(job, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	if (job->asked)
		return job->finished ? answer_job(job) : MHD_YES;
	if (job->post)
		return finish_break(job);
	return serve_get(job, url, strcmp(method, MHD_HTTP_METHOD_HEAD) == 0);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
	struct server *server = context;
	struct job *job = *state;

	(void)code;
	guest_due(&server->guests, guest_of(connection), GUEST_REQUEST_MS);
	if (job == NULL)
		return;
	json_decref(job->ask.reply);
	free(job);
	*state = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_context = guest_enter(
		        &server->guests,
		        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
		                ->connect_fd);
	} else {
		guest_leave(&server->guests, *socket_context);
	}
}

/* Prints nothing: otherwise the library would report every broken connection on the terminal. */
static void say_nothing(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

/* Listens, and finds the port. The library could listen itself, but then the port would not be
 * known before the first request. Returns a descriptor, or -1 and errno. */
static int open_listener(struct server *server)
{
	struct sockaddr_storage *address = &server->options.address;
	bool six = address->ss_family == AF_INET6;
	socklen_t size = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1, unread_max = UNREAD_MAX;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* Connections inherit this limit. Otherwise the kernel would keep up to 4 MiB for a viewer
	 * that does not read. When it reads again, it would first see up to a minute of old events,
	 * and only then that some were left out. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &unread_max, sizeof(unread_max));
	if (six)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)address, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
	    getsockname(fd, (struct sockaddr *)address, &size) != 0) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	server->port = ntohs(six ? ((struct sockaddr_in6 *)(void *)address)->sin6_port
	                         : ((struct sockaddr_in *)(void *)address)->sin_port);
	return fd;
}

int server_start(struct server *server, const struct server_options *options)
{
	*server = (struct server){.options = *options};
	int listener = open_listener(server);
	if (listener < 0)
		return -1;
	feed_init(&server->feed);
	server->feed.pause = pause_viewer;
	server->feed.wake = wake_viewer;
	guests_init(&server->guests);
	server->hub = hub_start(options->node, &server->feed);
	server->daemon = MHD_start_daemon(
	        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0,
	        NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
	        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
	        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_MAX,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MAX, MHD_OPTION_NOTIFY_COMPLETED,
	        on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
	        MHD_OPTION_END);
	if (server->daemon == NULL) {
		hub_end(server->hub);
		hub_free(server->hub);
		feed_free(&server->feed);
		close(listener);
		/* Too few descriptors or too little memory: the library does not say which. */
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

void server_watch(struct server *server)
{
	guests_watch(&server->guests);
}

/* Ends the feed and the hub first: they wake all suspended connections, and none may be suspended
 * when the library ends. */
void server_stop(struct server *server)
{
	MHD_socket listener = MHD_quiesce_daemon(server->daemon);

	feed_end(&server->feed);
	hub_end(server->hub);
	MHD_stop_daemon(server->daemon);
	hub_free(server->hub);
	if (listener != MHD_INVALID_SOCKET)
		close(listener);
	feed_free(&server->feed);
}
