#include "enrol.h"

#include "buffer.h"
#include "cli.h"
#include "clock.h"
#include "enrolment.h"
#include "guest.h"
#include "memory.h"
#include "must.h"
#include "outbuffer.h"
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
enum {
	TALK_MS = 6000, /* how long the talk with one node may take */
	PAUSE_MS = 500, /* the time between two rounds */
	/* How long to go on asking, if no node can be reached or nodes say "later". */
	TRIES_MS = 30000,
	TOKEN_FILE_MAX = 4096,
};

/* --- the files --- */

static const char *path_in(struct node_words *words, const char *name)
{
	char *path = NULL;

	memory_must(asprintf(&path, "%s/%s", words->data, name) > 0);
	return node_words_keep(words, path);
}

static int check_words(const struct node_words *words, struct problem *problem)
{
	if (words->invitation == NULL)
		return 0;
	if (words->tls.ca != NULL || words->tls.certificate != NULL || words->tls.key != NULL)
		return problem_set(problem, "--invitation: it gives this node a certificate, so "
		                            "that --tls-ca, --tls-cert and --tls-key are not "
		                            "needed");
	if (words->data == NULL)
		return problem_set(problem, "--invitation: --data DIR is needed, a folder for the "
		                            "key and the certificate");
	return 0;
}

int enrol_prepare(struct node_words *words, struct daemon_options *options, struct problem *problem)
{
	options->tls = words->tls;
	if (check_words(words, problem) != 0)
		return -1;
	if (words->data == NULL || words->tls.ca != NULL || words->tls.certificate != NULL ||
	    words->tls.key != NULL)
		return 0;
	struct credentials_files kept = {.ca = path_in(words, "tls-ca.crt"),
	                                 .certificate = path_in(words, "tls.crt"),
	                                 .key = path_in(words, "tls.key"),
	                                 .ca_key = words->tls.ca_key};
	bool has = access(kept.certificate, F_OK) == 0;
	if (!has && words->invitation == NULL) {
		if (access(kept.key, F_OK) == 0)
			return problem_set(problem,
			                   "--data %.200s: this node was invited, and has not got "
			                   "its certificate yet: --invitation FILE is needed",
			                   words->data);
		return 0;
	}
	if (!has && words->join_count == 0)
		return problem_set(problem, "--invitation: --join HOST:PORT is needed, the address "
		                            "of a member that was started with --tls-ca-key");
	options->tls = kept;
	return 0;
}

/* Reads the first line of the file, or of standard input. */
static int read_token(const char *path, struct token *ret_token, struct problem *problem)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	char text[TOKEN_FILE_MAX];
	struct problem wrong;

	if (file == NULL)
		return problem_set(problem, "--invitation '%.200s': %s", path, strerror(errno));
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	if (!standard)
		fclose(file);
	text[strnlen(text, size)] = '\0';
	int result = token_read(text, ret_token, &wrong);
	explicit_bzero(text, sizeof(text));
	return result == 0
	               ? 0
	               : problem_set(problem, "--invitation '%.100s': %.300s", path, wrong.text);
}

/* --- a talk with one node --- */

enum talk_result {
	TALK_DONE,
	TALK_AGAIN, /* another node may give the certificate, or this node may give it later */
	TALK_OTHER, /* another node may give the certificate, but this node never will */
	TALK_NEVER, /* no node will give the certificate */
};

struct talk {
	const struct daemon_options *options;
	const struct token *token;
	struct evp_pkey_st *key;
	struct tls *tls;
	int fd;
	uint64_t until; /* when the talk must be over */
	struct buffer input;
	uint8_t ca[CERTIFICATE_SIZE_MAX]; /* the certificate of the CA that the node has sent */
	size_t ca_size;
	struct problem *problem; /* why there is no certificate */
};

/* Waits for the socket. Returns false when the time is over. */
static bool wait_for(const struct talk *talk, short events)
{
	uint64_t now = clock_boot_ns();
	struct pollfd poll_fd = {.fd = talk->fd, .events = events};

	return now < talk->until && poll(&poll_fd, 1, (int)((talk->until - now) / MS) + 1) > 0;
}

static int write_all(struct talk *talk)
{
	const uint8_t *bytes;
	size_t size;

	while ((size = tls_output(talk->tls, &bytes)) > 0) {
		ssize_t written = send(talk->fd, bytes, size, MSG_NOSIGNAL);
		if (written >= 0)
			tls_written(talk->tls, (size_t)written);
		else if (errno != EAGAIN)
			return problem_set(talk->problem, "%s", strerror(errno));
		else if (!wait_for(talk, POLLOUT))
			return problem_set(talk->problem, "it does not read");
	}
	return 0;
}

/* Reads once from the socket, and appends what the node has sent to the input. */
static int read_some(struct talk *talk)
{
	uint8_t room[4096];
	size_t got;

	if (!wait_for(talk, POLLIN))
		return problem_set(talk->problem, "it does not answer");
	ssize_t size = recv(talk->fd, room, sizeof(room), 0);
	if (size < 0 && errno == EAGAIN)
		return 0;
	if (size <= 0)
		return problem_set(talk->problem, "%s",
		                   size < 0 ? strerror(errno) : "it ends the connection");
	tls_input(talk->tls, room, (size_t)size);
	while ((got = tls_read(talk->tls, room, sizeof(room))) > 0)
		buffer_append(&talk->input, room, got);
	if (tls_state(talk->tls) == TLS_FAILED)
		return problem_set(talk->problem, "%s", tls_problem(talk->tls));
	return write_all(talk);
}

static int say(struct talk *talk, const struct enrolment *enrolment)
{
	struct out out;

	out_init(&out);
	enrolment_write(&out, enrolment);
	tls_write(talk->tls, out.bytes, out.bytes_count);
	explicit_bzero(out.bytes, out.bytes_count);
	out_free(&out);
	return write_all(talk);
}

/* Sends the request for a certificate. It contains the secret, so it is sent only to a node that
 * was found to belong to the right cluster. */
static int say_wish(struct talk *talk)
{
	uint8_t key[CERTIFICATE_KEY_MAX];
	const struct daemon_options *options = talk->options;
	struct enrolment wish = {
	        .type = RECORD_ENROL, .bytes = key, .size = guest_public_key(talk->key, key)};

	memcpy(wish.secret, talk->token->secret, sizeof(wish.secret));
	snprintf(wish.name, sizeof(wish.name), "%s", options->name);
	snprintf(wish.host, sizeof(wish.host), "%s",
	         options->listen.host != NULL ? options->listen.host : "");
	int result = say(talk, &wish);
	explicit_bzero(&wish, sizeof(wish));
	return result;
}

static enum talk_result take_ca(struct talk *talk, const struct enrolment *heard)
{
	struct enrolment refusal = {.type = RECORD_REFUSAL};

	if (guest_trusts(talk->tls, talk->token, heard->bytes, heard->size, talk->problem) != 0) {
		snprintf(refusal.text, sizeof(refusal.text), "%s", talk->problem->text);
		struct problem why = *talk->problem;
		say(talk, &refusal);
		*talk->problem = why;
		return TALK_NEVER;
	}
	memcpy(talk->ca, heard->bytes, heard->size);
	talk->ca_size = heard->size;
	return say_wish(talk) == 0 ? TALK_DONE : TALK_AGAIN;
}

static enum talk_result take_certificate(struct talk *talk, const struct enrolment *heard)
{
	const struct credentials_files *files = &talk->options->tls;
	struct guest_certificate given = {.ca = talk->ca,
	                                  .ca_size = talk->ca_size,
	                                  .certificate = heard->bytes,
	                                  .certificate_size = heard->size};

	return guest_keep(&given, talk->options->name, talk->key, files->ca, files->certificate,
	                  talk->problem) == 0
	               ? TALK_DONE
	               : TALK_NEVER;
}

/* Waits for a record of the type `wanted`. *ret_size is its size. If none comes, sets the problem
 * and returns what that means for the talk. */
static enum talk_result hear(struct talk *talk, enum record_type wanted,
                             struct enrolment *ret_heard, size_t *ret_size)
{
	enum enrolment_kind kind;

	while ((kind = enrolment_read((const uint8_t *)buffer_front(&talk->input),
	                              buffer_size(&talk->input), ret_heard, ret_size)) ==
	       ENROLMENT_MORE) {
		if (tls_state(talk->tls) == TLS_ENDED) {
			problem_set(talk->problem, "it ends the connection");
			return TALK_AGAIN;
		}
		if (read_some(talk) != 0)
			return TALK_AGAIN;
	}
	if (kind == ENROLMENT_WHOLE && ret_heard->type == wanted)
		return TALK_DONE;
	if (kind == ENROLMENT_WHOLE &&
	    (ret_heard->type == RECORD_REFUSAL || ret_heard->type == RECORD_ELSEWHERE)) {
		problem_set(talk->problem, "refuses this node: %.400s", ret_heard->text);
		/* A node that refuses before it sends its CA has not looked at the invitation. */
		return ret_heard->type == RECORD_ELSEWHERE ? TALK_AGAIN
		       : wanted == RECORD_CA               ? TALK_OTHER
		                                           : TALK_NEVER;
	}
	problem_set(talk->problem, kind == ENROLMENT_VERSION
	                                   ? "it speaks another version of the protocol"
	                                   : "it does not speak baton's protocol");
	return TALK_AGAIN;
}

static enum talk_result converse(struct talk *talk)
{
	struct enrolment heard;
	size_t size = 0;

	if (write_all(talk) != 0)
		return TALK_AGAIN;
	enum talk_result result = hear(talk, RECORD_CA, &heard, &size);
	if (result == TALK_DONE)
		result = take_ca(talk, &heard);
	if (result != TALK_DONE)
		return result;
	buffer_take(&talk->input, size);
	result = hear(talk, RECORD_CERTIFICATE, &heard, &size);
	return result == TALK_DONE ? take_certificate(talk, &heard) : result;
}

static int dial(struct talk *talk, const char *text)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
	struct daemon_address address;
	char port[8];
	int failed = 0;
	socklen_t size = sizeof(failed);

	if (parse_address(text, "--join", &address, talk->problem) != 0)
		return -1;
	snprintf(port, sizeof(port), "%u", address.port);
	int error = getaddrinfo(address.host, port, &hints, &found);
	free(address.host);
	if (error != 0)
		return problem_set(talk->problem, "its host is not found: %s", gai_strerror(error));
	talk->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (talk->fd < 0 ||
	    (connect(talk->fd, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS))
		failed = errno;
	freeaddrinfo(found);
	if (failed == 0 && !wait_for(talk, POLLOUT))
		return problem_set(talk->problem, "it does not answer");
	if (failed == 0)
		getsockopt(talk->fd, SOL_SOCKET, SO_ERROR, &failed, &size);
	return failed == 0 ? 0 : problem_set(talk->problem, "%s", strerror(failed));
}

static enum talk_result talk_to(const char *address, const struct daemon_options *options,
                                const struct token *token, struct evp_pkey_st *key,
                                struct problem *problem)
{
	struct credentials *credentials = credentials_of_guest();
	struct talk talk = {.options = options,
	                    .token = token,
	                    .key = key,
	                    .fd = -1,
	                    .until = clock_boot_ns() + TALK_MS * MS,
	                    .problem = problem};
	enum talk_result result = TALK_AGAIN;

	if (dial(&talk, address) == 0) {
		talk.tls = tls_create(credentials, false);
		result = converse(&talk);
		tls_destroy(talk.tls);
	}
	if (talk.fd >= 0)
		close(talk.fd);
	buffer_free(&talk.input);
	credentials_free(credentials);
	return result;
}

/* --- all nodes --- */

/* Asks all nodes of --join, in rounds. */
static int ask_all(const struct daemon_options *options, const struct token *token,
                   struct evp_pkey_st *key)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
	uint64_t until = clock_boot_ns() + TRIES_MS * MS;
	struct problem problem, told = {""};

	for (bool hope = true; hope && clock_boot_ns() < until; nanosleep(&pause, NULL)) {
		hope = false;
		for (uint32_t i = 0; i < options->join_count; i++) {
			const char *address = options->join[i];
			enum talk_result result = talk_to(address, options, token, key, &problem);
			if (result == TALK_DONE) {
				fprintf(stderr, "baton node: %s has signed a certificate: %s\n",
				        address, options->tls.certificate);
				return 0;
			}
			if (strcmp(problem.text, told.text) != 0)
				fprintf(stderr, "baton node: %s: %s\n", address, problem.text);
			told = problem;
			if (result == TALK_NEVER)
				return -1;
			hope = hope || result == TALK_AGAIN;
		}
	}
	fprintf(stderr, "baton node: nobody has signed a certificate for this node\n");
	return -1;
}

int enrol_run(const struct node_words *words, const struct daemon_options *options)
{
	struct token token;
	struct problem problem;

	if (words->invitation == NULL || access(options->tls.certificate, F_OK) == 0)
		return 0;
	struct evp_pkey_st *key = NULL;
	if (read_token(words->invitation, &token, &problem) != 0 ||
	    (key = certificate_key(options->tls.key, &problem)) == NULL) {
		fprintf(stderr, "baton node: %s\n", problem.text);
		return -1;
	}
	int result = ask_all(options, &token, key);
	certificate_free_key(key);
	explicit_bzero(&token, sizeof(token));
	return result;
}
