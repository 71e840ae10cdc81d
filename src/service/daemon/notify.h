/*
 * Tells systemd's service manager that the node is ready.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

/* Sends "READY=1", "STOPPING=1" or "STATUS=…", if systemd asked for it. */
void notify_send(const char *state);

#endif
