#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of a request's header, the most connections, and how many seconds a connection may
 * be idle. */
enum { HEADER_MAX = 16384, CONNECTIONS_MAX = 256, SILENCE_MAX = 30 };

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name cannot be in parentheses. */
#define DECLARE(symbol) extern const unsigned char symbol[], symbol##_end[];
#define DECLARE_ALL(name) DECLARE(page_##name) DECLARE(page_##name##_br) DECLARE(page_##name##_gz)
DECLARE_ALL(index_html)
DECLARE_ALL(app_js)
DECLARE_ALL(style_css)
DECLARE_ALL(baton_wasm)
DECLARE_ALL(lines_json)
DECLARE_ALL(sources_json)
DECLARE_ALL(tours_json)

struct bytes {
	const unsigned char *begin, *end;
};

/* A file as it is, and compressed in two ways. */
struct served {
	const char *path, *type;
	struct bytes plain, brotli, gzip;
};

#define SERVED(path, type, name)                                                                   \
	{                                                                                          \
		path, type, {page_##name, page_##name##_end},                                      \
		        {page_##name##_br, page_##name##_br_end},                                  \
		{                                                                                  \
			page_##name##_gz, page_##name##_gz_end                                     \
		}                                                                                  \
	}
static const struct served table[] = {
        SERVED("/", "text/html; charset=utf-8", index_html),
        SERVED("/index.html", "text/html; charset=utf-8", index_html),
        SERVED("/app.js", "text/javascript; charset=utf-8", app_js),
        SERVED("/style.css", "text/css; charset=utf-8", style_css),
        SERVED("/baton.wasm", "application/wasm", baton_wasm),
        SERVED("/lines.json", "application/json", lines_json),
        SERVED("/sources.json", "application/json", sources_json),
        SERVED("/tours.json", "application/json", tours_json),
};

static const char policy[] = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
                             "style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const struct served *find_file(const char *path)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(table[i].path, path) == 0)
			return &table[i];
	}
	return NULL;
}

bool server_is_host(const struct server *server, const char *given)
{
	const char *names[] = {"localhost", "127.0.0.1", "[::1]", server->options.host};
	char expected[300];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool bare = strchr(names[i], ':') != NULL && names[i][0] != '[';
		snprintf(expected, sizeof(expected), bare ? "[%s]:%u" : "%s:%u", names[i],
		         server->port);
		if (strcasecmp(expected, given) == 0)
			return true;
		/* In HTTP a port of 80 may be left out. */
		if (server->port == 80 && strcasecmp(names[i], given) == 0)
			return true;
	}
	return false;
}

/* Is the encoding among the accepted ones, with a weight that is not 0? */
static bool is_accepted(const char *accepted, const char *encoding)
{
	size_t length = strlen(encoding);

	while (accepted != NULL && *accepted != '\0') {
		accepted += strspn(accepted, ", \t");
		size_t item = strcspn(accepted, ",");
		size_t name = strcspn(accepted, ",; \t");
		if (name == length && strncasecmp(accepted, encoding, length) == 0) {
			const char *weight = memmem(accepted, item, "q=0", 3);
			return weight == NULL ||
			       strspn(weight + 2, "0.") < strcspn(weight + 2, ", \t");
		}
		accepted += item;
	}
	return false;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              struct bytes bytes, const char *encoding, const char *tag, bool head)
{
	(void)head; /* libmicrohttpd leaves out the body by itself */
	struct MHD_Response *response = MHD_create_response_from_buffer(
	        (size_t)(bytes.end - bytes.begin), (void *)bytes.begin, MHD_RESPMEM_PERSISTENT);

	if (response == NULL)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Content-Security-Policy", policy);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "X-Frame-Options", "DENY");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cache-Control", "no-cache");
	MHD_add_response_header(response, "Vary", "Accept-Encoding");
	if (encoding != NULL)
		MHD_add_response_header(response, "Content-Encoding", encoding);
	if (tag != NULL)
		MHD_add_response_header(response, "ETag", tag);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *words)
{
	const unsigned char *begin = (const unsigned char *)words;

	return answer(connection, status, "text/plain; charset=utf-8",
	              (struct bytes){begin, begin + strlen(words)}, NULL, NULL, false);
}

/* Makes a tag of the bytes as they are sent, with FNV-1a. It only tells versions apart; nothing
 * relies on it for security. */
static void make_tag(struct bytes bytes, char *ret_tag, size_t size)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const unsigned char *c = bytes.begin; c < bytes.end; c++)
		hash = (hash ^ *c) * UINT64_C(1099511628211);
	snprintf(ret_tag, size, "\"%016llx\"", (unsigned long long)hash);
}

static enum MHD_Result serve(struct MHD_Connection *connection, const struct served *file,
                             bool head)
{
	const char *accepted = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
	                                                   MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const char *known = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
	                                                MHD_HTTP_HEADER_IF_NONE_MATCH);
	bool brotli = is_accepted(accepted, "br"), gzip = is_accepted(accepted, "gzip");
	struct bytes bytes = brotli ? file->brotli : gzip ? file->gzip : file->plain;
	const char *encoding = brotli ? "br" : gzip ? "gzip" : NULL;
	char tag[32];

	make_tag(bytes, tag, sizeof(tag));
	if (known != NULL && strstr(known, tag) != NULL)
		return answer(connection, MHD_HTTP_NOT_MODIFIED, file->type,
		              (struct bytes){bytes.begin, bytes.begin}, encoding, tag, head);
	return answer(connection, MHD_HTTP_OK, file->type, bytes, encoding, tag, head);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
	const struct server *server = context;
	const char *host =
	        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

	(void)version;
	(void)upload;
	(void)state;
	if (host == NULL || !server_is_host(server, host))
		return refuse(connection, MHD_HTTP_MISDIRECTED_REQUEST,
		              "This is not the host that was asked for.\n");
	if (!head && strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
		*upload_size = 0;
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
	}
	const struct served *file = find_file(url);
	if (file == NULL)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
	return serve(connection, file, head);
}

/* Prints nothing: otherwise the library would report every broken connection on the terminal. */
static void say_nothing(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

int server_start(struct server *server, const struct server_options *options)
{
	unsigned family = options->address.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0;

	*server = (struct server){.options = *options};
	errno = 0;
	server->daemon = MHD_start_daemon(
	        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | family, 0, NULL, NULL,
	        on_request, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
	        MHD_OPTION_SOCK_ADDR, &server->options.address, MHD_OPTION_CONNECTION_LIMIT,
	        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_MAX,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MAX, MHD_OPTION_END);
	if (server->daemon == NULL) {
		errno = errno != 0 ? errno : EADDRINUSE;
		return -1;
	}
	server->port = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	return 0;
}

void server_stop(struct server *server)
{
	MHD_stop_daemon(server->daemon);
}
