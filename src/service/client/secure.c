#include "secure.h"

#include "exchange.h"
#include "tls.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct secure {
	int fd;
	struct tls *tls;
	/* How often the connection was used: `uses` is in memory that forked processes share,
	 * `uses_known` is this process' own count. They differ if another process has used the
	 * connection. */
	_Atomic uint64_t *uses;
	uint64_t uses_known;
};

/* --- the files --- */

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

int secure_files_complete(struct secure_files *files, struct why *why)
{
	bool given = files->ca != NULL || files->certificate != NULL || files->key != NULL;

	if (!given)
		*files = (struct secure_files){environment("BATON_TLS_CA"),
		                               environment("BATON_TLS_CERT"),
		                               environment("BATON_TLS_KEY")};
	int count = (files->ca != NULL) + (files->certificate != NULL) + (files->key != NULL);
	if (count == 0 || count == 3)
		return 0;
	const char *missing = files->ca == NULL            ? "--tls-ca (BATON_TLS_CA)"
	                      : files->certificate == NULL ? "--tls-cert (BATON_TLS_CERT)"
	                                                   : "--tls-key (BATON_TLS_KEY)";
	return why_set(why, BATON_ECERTIFICATE,
	               "TLS needs a CA, a certificate and its key: %s is missing", missing);
}

static struct credentials *load(const struct secure_files *files, struct why *why)
{
	const struct credentials_files paths = {
	        .ca = files->ca, .certificate = files->certificate, .key = files->key};
	struct problem problem;
	struct credentials *credentials = credentials_load(&paths, &problem);

	if (credentials == NULL)
		why_set(why, BATON_ECERTIFICATE, "%s", problem.text);
	return credentials;
}

int secure_files_check(const struct secure_files *files, struct why *why)
{
	struct credentials *credentials = load(files, why);

	if (credentials == NULL)
		return BATON_ECERTIFICATE;
	credentials_free(credentials);
	return 0;
}

/* --- opening and closing --- */

void secure_close(struct secure *secure)
{
	if (secure == NULL)
		return;
	tls_destroy(secure->tls);
	munmap((void *)secure->uses, sizeof(*secure->uses));
	free(secure);
}

static struct secure *create(int fd, const struct credentials *credentials, const char *host)
{
	struct secure *secure = calloc(1, sizeof(*secure));
	void *uses = mmap(NULL, sizeof(*secure->uses), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (secure == NULL || uses == MAP_FAILED) {
		free(secure);
		if (uses != MAP_FAILED)
			munmap(uses, sizeof(*secure->uses));
		return NULL;
	}
	secure->fd = fd;
	secure->uses = uses;
	secure->tls = tls_create(credentials, false);
	tls_expect_host(secure->tls, host);
	return secure;
}

bool secure_is_ours(const struct secure *secure)
{
	return *secure->uses == secure->uses_known;
}

bool secure_claim(struct secure *secure)
{
	uint64_t known = secure->uses_known;

	/* If two processes encrypted records with the same number, an attacker could learn from
	 * them. */
	if (!atomic_compare_exchange_strong(secure->uses, &known, known + 1))
		return false;
	secure->uses_known = known + 1;
	return true;
}

/* Writes what TLS has for the node. Returns 0 or errno. */
static int flush(struct secure *secure, int flags)
{
	const uint8_t *bytes;
	size_t size;

	while ((size = tls_output(secure->tls, &bytes)) > 0) {
		ssize_t count = send(secure->fd, bytes, size, flags | MSG_NOSIGNAL);
		if (count < 0 && errno != EINTR)
			return errno;
		if (count > 0)
			tls_written(secure->tls, (size_t)count);
	}
	return 0;
}

/* --- the handshake --- */

static int no_tls(const char *address, struct why *why)
{
	return why_set(why, BATON_ENODE,
	               "the node at %.200s does not use TLS there: start it with --tls-ca, "
	               "--tls-cert and --tls-key, or go without them here",
	               address);
}

/* Receives once. Returns 0 or an error. */
static int shake_once(struct secure *secure, const char *address, int64_t until_ms, bool first,
                      struct why *why)
{
	char bytes[8192];
	struct pollfd item = {.fd = secure->fd, .events = POLLIN};
	int64_t left_ms = until_ms - now_ms();
	int ready = left_ms > 0 ? poll(&item, 1, (int)left_ms) : 0;

	if (ready == 0)
		return why_set(why, BATON_ENODE,
		               "the node at %.200s does not go on with the TLS handshake", address);
	ssize_t count = recv(secure->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (count <= 0)
		return why_set(
		        why, BATON_ENODE,
		        "the node at %.200s has ended the connection in the TLS handshake%s%s",
		        address, count < 0 ? ": " : "", count < 0 ? strerror(errno) : "");
	/* The node answers with an error in RESP: it took the handshake for a command. */
	if (first && bytes[0] == '-')
		return no_tls(address, why);
	tls_input(secure->tls, (const uint8_t *)bytes, (size_t)count);
	return 0;
}

static int shake(struct secure *secure, const char *address, int64_t until_ms, struct why *why)
{
	int error = 0;

	for (bool first = true; error == 0 && tls_state(secure->tls) == TLS_SHAKING;
	     first = false) {
		(void)flush(secure, 0); /* if this fails, so does the next read */
		error = shake_once(secure, address, until_ms, first, why);
	}
	(void)flush(secure, 0); /* sends the end of the handshake, or an alert */
	if (error < 0)
		return error;
	if (tls_state(secure->tls) == TLS_FAILED)
		return why_set(why, BATON_EACCESS, "no TLS with the node at %.200s: %.300s",
		               address, tls_problem(secure->tls));
	const struct certificate_holder *holder = tls_holder(secure->tls);
	if (holder->role != CERTIFICATE_NODE)
		return why_set(why, BATON_EACCESS,
		               "no TLS with the node at %.200s: it has the certificate of the "
		               "client '%.100s', and not a node's",
		               address, holder->name);
	return 0;
}

int secure_open(int fd, const char *host, const char *address, const struct secure_files *files,
                int64_t until_ms, struct secure **ret_secure, struct why *why)
{
	struct credentials *credentials = load(files, why);

	if (credentials == NULL)
		return BATON_ECERTIFICATE;
	struct secure *secure = create(fd, credentials, host);
	credentials_free(credentials);
	if (secure == NULL)
		return why_set(why, BATON_EMEMORY, "out of memory");
	int error = shake(secure, address, until_ms, why);
	if (error < 0) {
		secure_close(secure);
		return error;
	}
	*ret_secure = secure;
	return 0;
}

/* --- bytes --- */

void secure_received(struct secure *secure, const char *bytes, size_t size)
{
	tls_input(secure->tls, (const uint8_t *)bytes, size);
}

size_t secure_read(struct secure *secure, char *room, size_t size)
{
	return tls_read(secure->tls, (uint8_t *)room, size);
}

int secure_verdict(const struct secure *secure, struct why *why)
{
	if (tls_state(secure->tls) == TLS_FAILED)
		return why_set(why, BATON_EACCESS, "no TLS with the node: %.300s",
		               tls_problem(secure->tls));
	if (tls_state(secure->tls) == TLS_ENDED)
		return why_set(why, BATON_ECONNECTION, "the node has closed the connection");
	return 0;
}

int secure_send(struct secure *secure, const void *bytes, size_t size, int flags)
{
	tls_write(secure->tls, bytes, size);
	return flush(secure, flags);
}
