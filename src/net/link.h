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
 * Notices are the engine's: they are not numbered, not kept, and go before frames that were given
 * to the link later.
 */
#ifndef NET_LINK_H
#define NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINK_VERSION = 1,
	LINK_NAME_MAX = 255,
	LINK_FRAME_MAX = 1 << 20,
	LINK_TEXT_MAX = 512,  /* bytes of why a connection is refused */
	LINK_NOTICE_MAX = 1 << 20,
};

/* --- the handshake --- */

struct link_hello {
	uint64_t cluster;     /* must be the same */
	uint64_t setup;       /* a digest of what must be the same at all members */
	uint64_t incarnation; /* of the speaker */
	uint64_t peer_incarnation; /* whose frames `received` counts; 0: not met yet */
	uint64_t received;    /* the number of the last frame taken from it */
	char name[LINK_NAME_MAX + 1]; /* the speaker */
	char peer[LINK_NAME_MAX + 1]; /* to whom it believes to speak */
};

enum link_greeting {
	GREETING_MORE,     /* not all of it is there yet */
	GREETING_HELLO,    /* *ret_hello, *ret_size bytes taken */
	GREETING_REFUSED,  /* the other side says no: *ret_text, at most LINK_TEXT_MAX bytes, no
	                      control characters */
	GREETING_VERSION,  /* it speaks another version of this protocol: *ret_version */
	GREETING_NONSENSE, /* not this protocol */
};

struct link_greeted {
	enum link_greeting kind;
	size_t size; /* bytes taken, with GREETING_HELLO and GREETING_REFUSED */
	struct link_hello hello;
	char text[LINK_TEXT_MAX + 1];
	uint32_t version;
};

/* The first record of a connection. The version stands before everything else that may ever change. */
void link_greeting_read(const uint8_t *bytes, size_t size, struct link_greeted *ret);

/* Bytes of a HELLO, or of a refusal (longer texts are cut), into `room`; how many. */
enum { LINK_GREETING_MAX = 1024 };
size_t link_hello_write(const struct link_hello *hello, uint8_t room[LINK_GREETING_MAX]);
size_t link_refusal_write(const char *text, uint8_t room[LINK_GREETING_MAX]);

/* --- a link --- */

struct link;

/* `kept_max`: bytes of frames that are kept for the peer at most. */
struct link *link_create(size_t kept_max);
void link_destroy(struct link *link);

/* A connection stands, and the peer's HELLO says that it has got this frame. Output begins with what
 * it has not got. 0, or BATON_EMESSAGE: that number has never been sent. */
int link_attach(struct link *link, uint64_t peer_received);
/* The connection is gone: what was half read or half written is forgotten. */
void link_detach(struct link *link);
bool link_attached(const struct link *link);
/* The number of the last frame that was taken here: for HELLO. */
uint64_t link_received(const struct link *link);

/* 0, or BATON_ELINK: kept_max would be passed, and the frame is not taken. Also while detached. */
int link_send(struct link *link, uint64_t epoch, const uint8_t *bytes, size_t size);
/* Without a connection a notice is thrown away: the engine tells all it knows on a new one. */
void link_notice(struct link *link, const uint8_t *bytes, size_t size);
/* Frames of epochs before this one are forgotten, unless they are half written. */
void link_forget(struct link *link, uint64_t epoch);

/* The next bytes to write, at once as many as there are in one piece; 0: none. Then how many of them
 * were written. While attached only. */
size_t link_output(struct link *link, const uint8_t **ret_bytes);
void link_written(struct link *link, size_t size);
/* So much has come since the last ACK that one should go out alone; link_ack puts one among the output. */
bool link_wants_ack(const struct link *link);
void link_ack(struct link *link);
/* Bytes that the peer has not acknowledged or that were not written. */
size_t link_pending(const struct link *link);

/* --- input --- */

enum link_record { LINK_NOTHING, LINK_FRAME, LINK_NOTICE, LINK_BROKEN };

/* Bytes that have come. They are copied only as far as a record is not complete. */
void link_input(struct link *link, const uint8_t *bytes, size_t size);
/*
 * The next whole record, good until the next call with this link. LINK_FRAME: link_take says that
 * it was taken; without that the same frame is given again (the node may not want it now).
 * LINK_BROKEN: the peer does not keep to the protocol, and *ret_bytes is a sentence about it, ended by 0.
 */
enum link_record link_next(struct link *link, const uint8_t **ret_bytes, size_t *ret_size);
void link_take(struct link *link);

#endif
