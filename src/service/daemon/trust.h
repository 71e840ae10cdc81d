/*
 * The files with which a node proves who it is and recognizes others. They are read at the start
 * and again on SIGHUP. The node warns before a certificate expires.
 */
#ifndef DAEMON_TRUST_H
#define DAEMON_TRUST_H

struct daemon;

/* Reads the files, if there are any. Returns 0, or -1 after logging the reason. */
int trust_open(struct daemon *daemon);
/* Reads the files again. Open connections stay. If the files are wrong, the old certificates stay
 * in use. */
void trust_reload(struct daemon *daemon);
/* Call it now and then: warns if a certificate ends soon, or has ended. */
void trust_watch(struct daemon *daemon);

#endif
