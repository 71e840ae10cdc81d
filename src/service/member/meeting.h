/*
 * A meeting ends with the member in a cluster. Either it meets the other founders, and the cluster
 * is born; or it asks members of an existing cluster for their charter.
 */
#ifndef MEMBER_MEETING_H
#define MEMBER_MEETING_H

#include "member.h"
#include "post.h"

struct meeting;

/* Makes a meeting, which begins at `begin_at`. `founders` is empty if the member joins a
 * cluster. */
struct meeting *meeting_create(struct member *member, const struct electors *founders,
                               const struct member_options *options);
void meeting_destroy(struct meeting *meeting);
/* Does what is due. Returns when the next thing is due. */
uint64_t meeting_tick(struct meeting *meeting);
/* Call it when a node has sent its charter. */
void meeting_met(struct meeting *meeting);
bool meeting_heard(struct meeting *meeting, const char *name, const uint8_t *bytes, size_t size);
void meeting_identity_written(struct meeting *meeting);
void meeting_log_written(struct meeting *meeting);
/* Returns the nodes that this member waits for, as a text that is valid until the next call. */
const char *meeting_text(struct meeting *meeting);

#endif
