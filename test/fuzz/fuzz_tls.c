/*
 * Feeds bytes to a connection with TLS. The first byte of the input chooses what happens. Either
 * the rest goes as it is to a side that accepts, or to one that dials; or two sides talk to each
 * other, and the rest says which of their bytes are changed on the way. It must not crash, a
 * connection that has failed says why, and everything that is decrypted is what the other side
 * wrote.
 */
#include "must.h"
#include "tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TURNS_MAX = 8, TEXT_SIZE = 300 };

static struct credentials *credentials;

/* Makes a CA and a node's certificate in a folder that is removed at once. */
static void make_credentials(void)
{
	char folder[] = "/tmp/fuzz-tls.XXXXXX";
	char paths[4][64];
	static const char *const names[] = {"ca.crt", "ca.key", "n.crt", "n.key"};
	struct certificate_wish wish = {.holder = {CERTIFICATE_NODE, "n"}, .days = 100};
	struct problem problem;

	must(mkdtemp(folder) != NULL);
	for (size_t i = 0; i < 4; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
	/* The CA is valid for longer than the certificate, because a second may pass before the
	 * certificate is made. */
	must(certificate_make_ca(paths[0], paths[1], 200, &problem) == 0);
	must(certificate_make(&wish, paths[0], paths[1], paths[2], paths[3], &problem) == 0);
	credentials = credentials_load(&(struct credentials_files){.ca = paths[0],
	                                                           .certificate = paths[2],
	                                                           .key = paths[3]},
	                               &problem);
	must(credentials != NULL);
	for (size_t i = 0; i < 4; i++)
		unlink(paths[i]);
	rmdir(folder);
}

/* Changes of the bytes on the way: after some good bytes, one byte is changed in some bits. */
struct changes {
	const uint8_t *at, *end;
	size_t good; /* how many bytes pass before the next change */
	bool any;    /* a byte was changed */
};

static void next_change(struct changes *changes)
{
	changes->good = SIZE_MAX;
	if (changes->end - changes->at < 3)
		return;
	changes->good = (size_t)changes->at[0] << 8 | changes->at[1];
}

static void give(struct tls *to, uint8_t *bytes, size_t size, struct changes *changes)
{
	size_t done = 0;

	while (done < size) {
		size_t part = size - done;
		if (changes->good < part) {
			part = changes->good + 1;
			changes->any = changes->any || changes->at[2] != 0;
			bytes[done + part - 1] ^= changes->at[2];
			changes->at += 3;
			next_change(changes);
		} else if (changes->good != SIZE_MAX) {
			changes->good -= part;
		}
		tls_input(to, bytes + done, part);
		done += part;
	}
}

static void check_state(const struct tls *tls)
{
	must((tls_state(tls) == TLS_FAILED) == (tls_problem(tls)[0] != '\0'));
	if (tls_state(tls) == TLS_OPEN)
		must(tls_holder(tls)->role == CERTIFICATE_NODE &&
		     strcmp(tls_holder(tls)->name, "n") == 0);
}

/* The bytes that one side has written, and how many of them the other has read. */
struct stream {
	uint8_t text[TURNS_MAX * TEXT_SIZE];
	size_t written, read;
};

static void speak(struct tls *tls, struct stream *stream)
{
	if (tls_state(tls) != TLS_OPEN || stream->written == sizeof(stream->text))
		return;
	for (size_t i = 0; i < TEXT_SIZE; i++)
		stream->text[stream->written + i] = (uint8_t)(stream->written + i * 7);
	tls_write(tls, stream->text + stream->written, TEXT_SIZE);
	stream->written += TEXT_SIZE;
}

static void carry(struct tls *from, struct tls *to, struct stream *stream, struct changes *changes)
{
	const uint8_t *bytes;
	size_t size = tls_output(from, &bytes), got;
	uint8_t room[100], *copy = malloc(size + 1);

	must(copy != NULL);
	if (size > 0)
		memcpy(copy, bytes, size);
	tls_written(from, size);
	give(to, copy, size, changes);
	free(copy);
	while ((got = tls_read(to, room, sizeof(room))) > 0) {
		must(stream->read + got <= stream->written);
		must(memcmp(stream->text + stream->read, room, got) == 0);
		stream->read += got;
	}
	check_state(to);
}

static void talk(const uint8_t *data, size_t size, bool keep)
{
	struct tls *sides[] = {tls_create(credentials, false), tls_create(credentials, true)};
	struct stream streams[2] = {{.written = 0}, {.written = 0}};
	struct changes changes = {.at = data, .end = data + size};

	next_change(&changes);
	if (keep) {
		tls_keep_buffers(sides[0]);
		tls_keep_buffers(sides[1]);
	}
	for (int turn = 0; turn < TURNS_MAX; turn++) {
		speak(sides[turn % 2], &streams[turn % 2]);
		carry(sides[turn % 2], sides[1 - turn % 2], &streams[turn % 2], &changes);
	}
	if (!changes.any)
		for (int i = 0; i < 2; i++)
			must(tls_state(sides[i]) == TLS_OPEN && streams[i].written > 0 &&
			     streams[i].read > 0);
	tls_destroy(sides[0]);
	tls_destroy(sides[1]);
}

static void listen_to(const uint8_t *data, size_t size, bool accepts)
{
	struct tls *tls = tls_create(credentials, accepts);
	uint8_t room[100];

	/* Give the bytes in two parts, so that a record can be cut. */
	for (int i = 0; i < 2; i++) {
		size_t part = i == 0 ? size / 3 : size - size / 3;
		tls_input(tls, data, part);
		while (tls_read(tls, room, sizeof(room)) > 0)
			;
		data += part;
		check_state(tls);
		must(tls_state(tls) != TLS_OPEN);
	}
	tls_end(tls);
	tls_destroy(tls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (credentials == NULL)
		make_credentials();
	if (size == 0)
		return 0;
	if (data[0] % 4 < 2)
		listen_to(data + 1, size - 1, data[0] % 4 == 0);
	else
		talk(data + 1, size - 1, data[0] % 4 == 2);
	return 0;
}
