/*
 * The error codes of baton. They are negative; 0 and positive numbers are success. One list gives
 * the enumeration, the texts and the documentation.
 */
#ifndef BATON_ERROR_H
#define BATON_ERROR_H

#define BATON_ERRORS(X)                                                                            \
	X(BATON_EMESSAGE, -1, "malformed message: bad length, bad type, or a value out of range")  \
	X(BATON_EAGAIN, -2, "not now: keep the frame and offer it again later")                    \
	X(BATON_ECLUSTER, -3, "a frame of another cluster")                                        \
	X(BATON_ESENDER, -4,                                                                       \
	  "a frame from a node that is not a member, or not a neighbour, in this view")            \
	X(BATON_EVIEW, -5, "the members do not suit the topology, or the view is malformed")       \
	X(BATON_ENOVIEW, -6, "this node is in no agreed view")                                     \
	X(BATON_ESTOPPED, -7, "this node has stopped: going on could do harm")                     \
	X(BATON_ESESSION, -8, "no such session")                                                   \
	X(BATON_EBUSY, -9, "the session's last command has not been answered yet")                 \
	X(BATON_ENAME, -10, "a name or pattern has 1 to 255 bytes")                                \
	X(BATON_EVALUE, -11, "a value has at most 4096 bytes")                                     \
	X(BATON_EFENCE, -12, "a fence is a whole number from 1 to 2^53 - 1")                       \
	X(BATON_EHELD, -13, "this session holds the lock already")                                 \
	X(BATON_ELOST, -14, "the lock was lost: taken away, or its session has ended")             \
	X(BATON_ESILENT, -15,                                                                      \
	  "a member did not answer in time, and no other one knows the answer")                    \
	X(BATON_EWAITERS, -16, "too many clients wait for this lock here")                         \
	X(BATON_ELOCKS, -17, "too many locks are in use here in this epoch")                       \
	X(BATON_ESUBSCRIPTIONS, -18,                                                               \
	  "too many subscriptions: a session may have 1024, and a user 114688 at this node")       \
	X(BATON_ELEADERS, -19, "too many clients lead or campaign here")                           \
	X(BATON_ELINK, -20, "too much is kept for this peer, which does not acknowledge it")       \
	X(BATON_EUSERLOCKS, -21,                                                                   \
	  "this user holds or waits for too many locks here: see --max-user-locks")                \
	X(BATON_EUSERLEADERS, -22,                                                                 \
	  "this user leads or campaigns 57344 times here: the rest is for other users")            \
	X(BATON_EPATTERNS, -23,                                                                    \
	  "too many patterns are subscribed to: a user may have 224 at this node, all users 256")  \
	X(BATON_EUSERNAMES, -24,                                                                   \
	  "the table of locks is nearly full of names that this user left: try again later")       \
	/* Errors of the client library. */                                                        \
	X(BATON_EMEMORY, -40, "out of memory")                                                     \
	X(BATON_EADDRESS, -41, "an address is the path of a socket, or HOST:PORT")                 \
	X(BATON_ENODE, -42, "there is no node to talk to")                                         \
	X(BATON_EACCESS, -43, "not permitted")                                                     \
	X(BATON_ECONNECTION, -44, "the connection ended before the node had answered")             \
	X(BATON_EPROTOCOL, -45, "the reply is malformed, so this is no node")                      \
	X(BATON_EREFUSED, -46, "the node refused the command")                                     \
	X(BATON_ETIMEOUT, -47, "not acquired in time")                                             \
	X(BATON_ENOTFREE, -48, "not acquired: the lock is not free")                               \
	X(BATON_EPENDING, -49, "not answered yet")                                                 \
	X(BATON_ENOTHELD, -50, "not held, or not with that fence")                                 \
	X(BATON_EMODE, -51, "this handle is used for something else: open another")                \
	X(BATON_ESTALE, -52, "the fence is older than one that was seen before")                   \
	X(BATON_EFILE, -53, "the file of a fence cannot be read or written")                       \
	X(BATON_ETORN, -54, "the file of a fence does not hold a fence")                           \
	X(BATON_ECERTIFICATE, -55, "the files for TLS are missing or cannot be used")

enum baton_error {
#define BATON_ERROR_ENUM(name, code, text) name = (code),
	BATON_ERRORS(BATON_ERROR_ENUM)
#undef BATON_ERROR_ENUM
};

#endif
