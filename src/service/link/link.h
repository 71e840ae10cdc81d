/*
 * One end of a link between two members: frames arrive at the other end once each and in order,
 * however often the connection between them breaks. No I/O: bytes in, bytes out.
 *
 * A link outlives its connections; it belongs to two incarnations. On a connection go records:
 *
 *     length (4 bytes, of what follows), type (1 byte), body
 *
 * all numbers little-endian. The first record each way is HELLO, which says who speaks, and the
 * number of the last frame that the speaker has got; then frames, each with its number, begin with
 * the next. A frame is kept until its number is acknowledged: by the ACK that goes in front of
 * every batch of records if there is something new to acknowledge, or alone when much has come
 * and nothing goes back (link_wants_ack). What the receiver has seen it drops; a gap in the numbers
 * means that the sender has forgotten frames of older epochs on purpose.
 *
 * Notices are the engine's: they are not numbered and not kept, and go before all frames that are
 * not begun to be written: on a new connection, before the frames that are sent again. A notice says
 * all that the notices before it said, so that one that is not begun to be written is replaced.
 *
 * Nothing here allocates unless a buffer has to become larger than it ever was (those above 1 MiB are
 * given back when they are empty). A frame is copied once on its way out, and on its way in only if it
 * came in several pieces or was not taken at once.
 */
#ifndef LINK_LINK_H
#define LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINK_VERSION = 2,
	LINK_NAME_MAX = 255,
	LINK_FRAME_MAX = 1 << 20,
	LINK_TEXT_MAX = 512, /* bytes of why a connection is refused */
	LINK_NOTICE_MAX = 1 << 21,
};

/* --- the handshake --- */

struct link_hello {
	uint64_t cluster;             /* must be the same */
	uint64_t setup;               /* a digest of what must be the same at all members */
	uint64_t incarnation;         /* of the speaker */
	uint64_t peer_incarnation;    /* whose frames `received` counts; 0: not met yet */
	uint64_t received;            /* the number of the last frame taken from it */
	char name[LINK_NAME_MAX + 1]; /* the speaker */
	char peer[LINK_NAME_MAX + 1]; /* to whom it believes to speak */
};

enum link_hello_kind {
	HELLO_MORE,     /* not all of it is there yet */
	HELLO_WHOLE,    /* *ret_hello, *ret_size bytes taken */
	HELLO_REFUSED,  /* the other side says no: *ret_text, at most LINK_TEXT_MAX bytes, no
	                      control characters */
	HELLO_VERSION,  /* it speaks another version of this protocol: *ret_version */
	HELLO_NONSENSE, /* not this protocol */
};

struct link_heard {
	enum link_hello_kind kind;
	size_t size; /* bytes taken, with HELLO_WHOLE and HELLO_REFUSED */
	struct link_hello hello;
	char text[LINK_TEXT_MAX + 1];
	uint32_t version;
};

/* The first record of a connection. The version stands before everything else that may ever change. */
void link_hello_read(const uint8_t *bytes, size_t size, struct link_heard *ret);

/* Bytes of a HELLO, or of a refusal (longer texts are cut), into `room`; how many. */
enum { LINK_HELLO_MAX = 1024 };
size_t link_hello_write(const struct link_hello *hello, uint8_t room[LINK_HELLO_MAX]);
size_t link_refusal_write(const char *text, uint8_t room[LINK_HELLO_MAX]);

/* --- a link --- */

struct link;

/* `kept_max`: bytes that are kept for the peer at most (each frame has 13 more than its own). Only
 * what is no frame, a notice above all, may go beyond. An epoch that ends because of this limit
 * doubles it for the epochs after it, up to 8 times `kept_max`. */
struct link *link_create(size_t kept_max);
void link_destroy(struct link *link);

/* A connection stands, and the peer's HELLO says that it has got this frame. Output begins with what
 * it has not got. 0, or BATON_EMESSAGE: that number has never been given to a frame. A number smaller than
 * one that was acknowledged is no error: that HELLO was written before. */
int link_attach(struct link *link, uint64_t peer_received);
/* The connection is gone: what was half read or half written is forgotten, and so is what was read and
 * not taken: the peer will send it again. */
void link_detach(struct link *link);
bool link_attached(const struct link *link);
/* The number of the last frame that was taken here: for HELLO. */
uint64_t link_received(const struct link *link);

/* A frame of 1 to LINK_FRAME_MAX bytes; its epoch is not 0 and not smaller than that of the frame
 * before. Also while detached. 0, or BATON_ELINK: kept_max would be passed, and the frame is not taken;
 * nor is any other of that epoch, for the peer must not see what follows without it. */
int link_send(struct link *link, uint64_t epoch, const uint8_t *bytes, size_t size);
/* Without a connection a notice is thrown away: the engine tells all it knows on a new one. */
void link_notice(struct link *link, const uint8_t *bytes, size_t size);
/* The last that the peer shall hear on this connection: why. Goes before all that is not begun to be
 * written; longer texts are cut. Without a connection nothing happens. */
void link_refuse(struct link *link, const char *text);
/* Frames of epochs before this one are forgotten, unless they are half written. */
void link_forget(struct link *link, uint64_t epoch);

/* All bytes to write, in one piece; 0: none. Good until the next call with this link. Then how many of
 * them were written (none is fine). While attached only. */
size_t link_output(struct link *link, const uint8_t **ret_bytes);
void link_written(struct link *link, size_t size);
/* So much has come since the last ACK that one should go out alone (64 KiB or 256 frames). link_ack puts one
 * among the output if there is anything new to say; call it now and then on a link that has nothing else
 * to say, or its peer keeps its last frames. */
bool link_wants_ack(const struct link *link);
void link_ack(struct link *link);
/* Bytes that the peer has not acknowledged or that were not written; 0: all that was sent has come. */
size_t link_pending(const struct link *link);

/* --- input --- */

enum link_record {
	LINK_NOTHING, /* all given bytes are read; they are not needed any more */
	LINK_FRAME,
	LINK_NOTICE,
	LINK_REFUSED, /* the peer ends this connection: *ret_bytes is why, ended by 0, without control
	                 characters */
	LINK_BROKEN, /* the peer does not keep to the protocol: *ret_bytes is a sentence about it, ended by
	                 0; only link_detach helps */
};

/*
 * Bytes that have come, while attached. They are not copied: they must stay until link_next has said
 * LINK_NOTHING or LINK_BROKEN, or until link_keep or link_detach. Before that no more bytes may be given.
 */
void link_input(struct link *link, const uint8_t *bytes, size_t size);
/*
 * The next whole record, good until the next call with this link. LINK_FRAME: link_take says that
 * it was taken; without that the same frame is given again (the node may not want it now).
 */
enum link_record link_next(struct link *link, const uint8_t **ret_bytes, size_t *ret_size);
void link_take(struct link *link);
/* Copies what is left of the given bytes, when a frame is not taken: the peer should not be read on
 * until it is, or what is kept here grows. */
void link_keep(struct link *link);

#endif
