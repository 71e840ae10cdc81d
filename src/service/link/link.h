/*
 * One end of a link between two members. Each frame arrives at the other end exactly once and in
 * order, no matter how often the connection breaks. No I/O: bytes in, bytes out.
 *
 * A link outlives its connections; it belongs to two processes. A connection carries records:
 *
 *     length (4 bytes, of what follows), type (1 byte), body
 *
 * All numbers are little-endian. The first record in each direction is HELLO. It tells who the
 * sender is, and the number of the last frame that the sender has received. The other side then
 * sends the frames after that one, each with its number. A frame is kept until its number is
 * acknowledged: by an ACK before a batch of records, or by an ACK alone when much has arrived and
 * nothing goes back (link_wants_ack). The receiver drops frames that it has already received. A gap
 * in the numbers means that the sender has dropped frames of older epochs on purpose.
 *
 * Nothing here allocates, unless a buffer has to become larger than it ever was (buffers above 1
 * MiB are freed when they are empty). A frame is copied once on its way out. On its way in it is
 * copied only if it arrived in several pieces or was not taken at once.
 */
#ifndef LINK_LINK_H
#define LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* The version of the protocol. Nodes of different versions refuse each other. It rises with
	 * every change of what nodes send each other: handshakes, frames, and the packets and
	 * entries of the engine. */
	LINK_VERSION = 6,
	LINK_NAME_MAX = 255,
	LINK_FRAME_MAX = 1 << 20,
	LINK_TEXT_MAX = 512, /* the most bytes of the reason why a connection is refused */
};

/* --- the handshake --- */

struct link_hello {
	uint64_t cluster; /* the sender's cluster, which must be the same on both sides */
	uint64_t setup;   /* a digest of what must be the same at all members */
	/* The number of the sender's process, not 0. A process keeps its number, and so its links,
	 * when it joins the cluster again, as another incarnation. */
	uint64_t process;
	/* The number of the process that the sender wants to reach; `received` counts the frames of
	 * that process. */
	uint64_t peer_process;
	uint64_t received;            /* the number of the last frame taken from the peer */
	char name[LINK_NAME_MAX + 1]; /* the sender's name */
	/* The name of the member that the sender wants to reach. */
	char peer[LINK_NAME_MAX + 1];
};

enum link_hello_kind {
	HELLO_MORE,  /* the hello is not complete yet */
	HELLO_WHOLE, /* `hello` is complete */
	/* The other side refuses the connection; `text` says why, without control characters. */
	HELLO_REFUSED,
	HELLO_VERSION,  /* the other side speaks another version of this protocol: `version` */
	HELLO_NONSENSE, /* the bytes are not of this protocol */
};

struct link_heard {
	enum link_hello_kind kind;
	size_t size; /* how many bytes the hello or refusal took */
	struct link_hello hello;
	char text[LINK_TEXT_MAX + 1];
	uint32_t version;
};

/* Reads the first record of a connection. The version comes before everything that may change
 * between versions. */
void link_hello_read(const uint8_t *bytes, size_t size, struct link_heard *ret);

/* Write a HELLO, or a refusal (longer texts are cut), into `room`, and return its size. */
enum { LINK_HELLO_MAX = 1024 };
size_t link_hello_write(const struct link_hello *hello, uint8_t room[LINK_HELLO_MAX]);
size_t link_refusal_write(const char *text, uint8_t room[LINK_HELLO_MAX]);

/* --- a link --- */

struct link;

/* Makes a link. `kept_max` is the most bytes that are kept for the peer; each frame needs 13 more
 * than its own. Only an ACK may exceed this limit. When a frame finds no room, the limit is
 * doubled for the next epochs, up to 8 times `kept_max`. */
struct link *link_create(size_t kept_max);
void link_destroy(struct link *link);

/* Call it when a connection is open. `peer_received` is the number of the last frame that the peer
 * has received, from its HELLO; output begins with the frame after it. Returns 0, or BATON_EMESSAGE
 * if no frame with that number was ever sent. A number smaller than one that was acknowledged is no
 * error: the HELLO may have been written before that acknowledgement. */
int link_attach(struct link *link, uint64_t peer_received);
/* Call it when the connection is gone. Forgets what was half read or half written, and frames that
 * were read but not taken: the peer will send these again. */
void link_detach(struct link *link);
bool link_attached(const struct link *link);
/* Returns the number of the last frame that was taken here, for HELLO. */
uint64_t link_received(const struct link *link);

/* Sends a frame of 1 to LINK_FRAME_MAX bytes; its epoch is not 0 and not smaller than that of the
 * frame before. May be called while detached. Returns 0, or BATON_ELINK if kept_max would be
 * exceeded. After that the link accepts no more frames of that epoch, because the peer must not see
 * later frames without this one. */
int link_send(struct link *link, uint64_t epoch, const uint8_t *bytes, size_t size);
/* Drops the frames of epochs before this one, unless they are half written. */
void link_forget(struct link *link, uint64_t epoch);

/* link_output returns how many bytes are to be written (0: none), and in *ret_bytes all of them in
 * one piece, valid until the next call to this link. link_written tells how many of them were
 * written; 0 is allowed. Call both only while attached. */
size_t link_output(struct link *link, const uint8_t **ret_bytes);
void link_written(struct link *link, size_t size);
/* link_wants_ack tells whether so much has arrived since the last ACK (64 KiB or 256 frames) that
 * one should be sent alone. link_ack adds an ACK to the output if there is anything new to
 * acknowledge. On a link without other output, call it now and then; otherwise the peer must keep
 * its last frames. */
bool link_wants_ack(const struct link *link);
void link_ack(struct link *link);
/* Returns how many bytes are not written yet, or not acknowledged by the peer; 0: everything has
 * arrived. */
size_t link_pending(const struct link *link);
/* Calls a function for each kept frame with a number above `after`, the oldest first. The judge of
 * a simulation uses it to look at everything in flight. */
void link_each_kept(const struct link *link, uint64_t after,
                    void (*see)(void *context, const uint8_t *bytes, size_t size), void *context);

/* --- input --- */

enum link_record {
	LINK_NOTHING, /* all given bytes were read and are not needed any more */
	LINK_FRAME,
	/* The peer has violated the protocol. *ret_bytes is a sentence that says how, with a
	 * terminating 0. The link must be detached. */
	LINK_BROKEN,
};

/*
 * Takes bytes that have arrived, while attached. They are not copied: they must stay valid, and no
 * more bytes may be given, until link_next has returned LINK_NOTHING or LINK_BROKEN, or until
 * link_keep or link_detach.
 */
void link_input(struct link *link, const uint8_t *bytes, size_t size);
/*
 * Returns the next whole record, valid until the next call to this link. After LINK_FRAME, call
 * link_take if the frame was taken; otherwise the same frame is returned again, because the node
 * may have no room for it now.
 */
enum link_record link_next(struct link *link, const uint8_t **ret_bytes, size_t *ret_size);
void link_take(struct link *link);
/* Copies the rest of the given bytes, when a frame is not taken. Then read nothing more from the
 * peer until the frame is taken; otherwise the copy grows. */
void link_keep(struct link *link);

#endif
