/*
 * The error codes of baton. 0 and positive numbers are success, these are the rest; one list gives
 * the enumeration, the texts and the documentation.
 */
#ifndef BATON_ERROR_H
#define BATON_ERROR_H

#define BATON_ERRORS(X)                                                                            \
	X(BATON_EMESSAGE, -1, "malformed message: bad length, bad type, or a value out of range")  \
	X(BATON_EAGAIN, -2, "not now: keep the frame and offer it again later")                    \
	X(BATON_ECLUSTER, -3, "a frame of another cluster")                                        \
	X(BATON_ESENDER, -4,                                                                       \
	  "a frame from somebody who is no member or no neighbour in this view")                   \
	X(BATON_EVIEW, -5, "the members do not suit the topology, or the view is malformed")       \
	X(BATON_ENOVIEW, -6, "this node is in no agreed view")                                     \
	X(BATON_ESTOPPED, -7, "this node has stopped: going on could do harm")                     \
	X(BATON_ESESSION, -8, "no such session")                                                   \
	X(BATON_EBUSY, -9, "the session's last command has not been answered yet")                 \
	X(BATON_ENAME, -10, "a name or pattern has 1 to 255 bytes")                                \
	X(BATON_EVALUE, -11, "a value has at most 4096 bytes")                                     \
	X(BATON_EFENCE, -12, "a fence is a whole number from 1 to 2^53 - 1")                       \
	X(BATON_EHELD, -13, "this session holds the lock already")                                 \
	X(BATON_ELOST, -14, "the lock was taken away before its holder had been announced")        \
	X(BATON_ESILENT, -15, "a member did not answer in time, and no other has it")              \
	X(BATON_EWAITERS, -16, "too many clients wait for this lock here")                         \
	X(BATON_ELOCKS, -17, "too many locks are in use here in this epoch")                       \
	X(BATON_ESUBSCRIPTIONS, -18, "too many subscriptions of this session")                     \
	X(BATON_ELEADERS, -19, "too many elections are won or campaigned for here")                \
	X(BATON_ELINK, -20, "too much is kept for this peer, which does not acknowledge it")

enum baton_error {
#define BATON_ERROR_ENUM(name, code, text) name = (code),
	BATON_ERRORS(BATON_ERROR_ENUM)
#undef BATON_ERROR_ENUM
};

#endif
