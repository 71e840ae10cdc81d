/*
 * The addresses of members and voters that a member has heard of. The member asks at these
 * addresses after a restart, and when the voters that it knows do not answer.
 */
#ifndef MEMBER_ADDRESSES_H
#define MEMBER_ADDRESSES_H

struct member;

/* If there are more addresses than this, those whose names are no longer in use are forgotten. */
enum { ADDRESSES_MAX = 512 };

/* Remembers the address of a name, and has the driver store it if it is new. */
void addresses_remember(struct member *member, const char *name, const char *address);

#endif
