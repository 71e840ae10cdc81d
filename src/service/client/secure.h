/*
 * TLS on the connection of an exchange. The state of TLS is in the memory of one process. After a
 * fork, the process that uses the connection first can go on with it, and the other one sees that
 * it cannot.
 */
#ifndef CLIENT_SECURE_H
#define CLIENT_SECURE_H

#include "why.h"

#include <baton/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The paths of the files; all NULL: no TLS. */
struct secure_files {
	const char *ca, *certificate, *key;
};

/* Takes the files from the environment, if none is given. Returns 0, or BATON_ECERTIFICATE if only
 * some of the three are there. */
int secure_files_complete(struct secure_files *files, struct why *why);
/* Checks whether the files can be used. Returns 0 or BATON_ECERTIFICATE. */
int secure_files_check(const struct secure_files *files, struct why *why);

struct secure;

/*
 * Does the TLS handshake on a connected socket, until `until_ms` by now_ms at most. The node's
 * certificate must be for this host. Returns 0, BATON_ECERTIFICATE (the files), BATON_EACCESS (a
 * certificate is refused), BATON_ENODE (there is no TLS, or no answer) or BATON_EMEMORY.
 */
int secure_open(int fd, const char *host, const char *address, const struct secure_files *files,
                int64_t until_ms, struct secure **ret_secure, struct why *why);
/* Frees the state, but does not close the socket. NULL is ignored. */
void secure_close(struct secure *secure);

/* Can this process use the connection? If another one has gone on with it, this one can only close
 * it. */
bool secure_is_ours(const struct secure *secure);
/* Notes that this process goes on with the connection. Returns the same as secure_is_ours. Call it
 * before bytes are read from the socket or written to it. */
bool secure_claim(struct secure *secure);

/* Takes bytes that came from the socket. Then secure_read must be called until it returns 0. */
void secure_received(struct secure *secure, const char *bytes, size_t size);
/* Returns how many decrypted bytes are in `room`; 0: there are no more. */
size_t secure_read(struct secure *secure, char *room, size_t size);
/* Returns 0; BATON_ECONNECTION if the node sends nothing more; or BATON_EACCESS if TLS has
 * failed. */
int secure_verdict(const struct secure *secure, struct why *why);

/* Encrypts bytes and writes them to the socket, with these flags of send. Returns 0 or errno. */
int secure_send(struct secure *secure, const void *bytes, size_t size, int flags);

#endif
