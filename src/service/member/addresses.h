/*
 * The addresses of members and voters that a member has heard of. It asks there when the voters that
 * it knows do not answer, and after a restart.
 */
#ifndef MEMBER_ADDRESSES_H
#define MEMBER_ADDRESSES_H

struct member;

/* Beyond this number, those are forgotten whose names are no longer in use. */
enum { ADDRESSES_MAX = 512 };

/* Remembers the address of a name, and has the driver store it if it is new. */
void addresses_remember(struct member *member, const char *name, const char *address);

#endif
