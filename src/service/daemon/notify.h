/*
 * Readiness, as systemd's service manager wants to hear it.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

/* Tells systemd, if it asked: "READY=1", "STOPPING=1", "STATUS=…". */
void notify_send(const char *state);

#endif
