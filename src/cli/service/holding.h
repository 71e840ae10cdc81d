/*
 * What run, lock and elect share: their options, taking the lock while signals may still withdraw
 * the request, giving it back, and the line of --status-fd.
 */
#ifndef CLI_HOLDING_H
#define CLI_HOLDING_H

#include "problem.h"

#include <baton/baton.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How these three end (sysexits.h), so that the low numbers are the command's. */
enum {
	EXIT_BAD_USAGE = 64,
	EXIT_NOT_ACQUIRED = 75,
	EXIT_LOST = 76,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128, /* and the signal's number */
};

/* What was asked for. */
struct holding_words {
	const char *command; /* "run": who speaks on stderr */
	const char *name;    /* of the lock or the election */
	const char *value;   /* what a leader publishes, or NULL */
	const char *socket;
	int64_t timeout_ms; /* as of baton_lock */
	int busy_code;      /* -E */
	int64_t grace_ms;   /* -1: a quarter of the lease */
	int status_fd;      /* -1: none */
	bool verbose;       /* tell also that the lock is busy, and how long it took to get it */
	bool json;
};

/* What the long options without a letter of their own give. Letters are flock's, so that -s is one. */
enum { OPTION_GRACE = 256, OPTION_STATUS_FD, OPTION_VERBOSE };

/* Each command takes some of these. */
#define HOLDING_NONBLOCK                                                                           \
	{                                                                                          \
		"nonblock", no_argument, NULL, 'n'                                                 \
	}
#define HOLDING_WAIT                                                                               \
	{                                                                                          \
		"wait", required_argument, NULL, 'w'                                               \
	}
#define HOLDING_CODE                                                                               \
	{                                                                                          \
		"conflict-exit-code", required_argument, NULL, 'E'                                 \
	}
#define HOLDING_SOCKET                                                                             \
	{                                                                                          \
		"socket", required_argument, NULL, 'S'                                             \
	}
#define HOLDING_GRACE                                                                              \
	{                                                                                          \
		"grace", required_argument, NULL, OPTION_GRACE                                     \
	}
#define HOLDING_STATUS_FD                                                                          \
	{                                                                                          \
		"status-fd", required_argument, NULL, OPTION_STATUS_FD                             \
	}
#define HOLDING_VERBOSE                                                                            \
	{                                                                                          \
		"verbose", no_argument, NULL, OPTION_VERBOSE                                       \
	}
/* flock's other words, and those that are refused with a reason. */
#define HOLDING_TIMEOUT                                                                            \
	{                                                                                          \
		"timeout", required_argument, NULL, 'w'                                            \
	}
#define HOLDING_FLOCK                                                                              \
	{"nonblocking", no_argument, NULL, 'n'}, {"nb", no_argument, NULL, 'n'},                   \
	        {"exclusive", no_argument, NULL, 'x'}, {"shared", no_argument, NULL, 's'},         \
	{                                                                                          \
		"unlock", no_argument, NULL, 'u'                                                   \
	}
#define HOLDING_FLOCK_LETTERS "xesu"

struct holding {
	const struct holding_words *words;
	struct baton *baton;
	int watch; /* becomes readable when the lock may have been lost */
	char node[BATON_NAME_MAX + 1];
	uint64_t fence;
	uint64_t lease_ms; /* the node's */
	int64_t grace_ms;
	const char *reason; /* why it was lost or not acquired, for --status-fd; NULL: not known */
	char why[BATON_NAME_MAX + 80];  /* the same after a colon, to end a sentence with; or "" */
	uint64_t asked_ns, acquired_ns; /* acquired_ns 0: it never was */
	/* As they were at the start, and as a command must find them again. */
	sigset_t mask;
	sigset_t ignored;
};

void holding_defaults(struct holding_words *words, const char *command);

/* 0, or -1 and a problem; 1: not one of these options. */
int holding_option(int option, const char *value, struct holding_words *words,
                   struct problem *problem);

/* One line on stderr; returns EXIT_BAD_USAGE. */
int holding_misused(const struct holding_words *words, const struct problem *problem);

/* One line on stderr, "baton run: …". Never blocks: what nobody takes now is not said, because the
 * command may have to be killed meanwhile. */
__attribute__((format(printf, 2, 3))) void holding_say(const struct holding *holding,
                                                       const char *format, ...);

/*
 * Waits until the lock is held. While it waits, any signal that would end the process withdraws the
 * request and ends the process, by that signal. HOLDING_ACQUIRED, and from then on all signals are
 * blocked; or the exit code, which may be any, and everything is said and freed.
 */
enum { HOLDING_ACQUIRED = -1 };
int holding_acquire(struct holding *holding, const struct holding_words *words);

/* What would have ended the process while it waited; a subset of those that were not ignored. */
void holding_ending_signals(const struct holding *holding, sigset_t *ret_set);

/* Has it been lost? Told once. Never blocks. */
bool holding_lost(struct holding *holding);

/* Gives it back and waits a while for the node's word. Whether it was still held. */
bool holding_release(struct holding *holding);

/* The line of --status-fd; child: as the exit code tells it, -1: there was none. Safe in a signal
 * handler. */
void holding_report(const struct holding *holding, bool lost, int child);

void holding_free(struct holding *holding);

/*
 * The end of this process by a signal, without a core; `group`: sent to the whole process group, as a
 * terminal does. Process 1 exits with 128 + its number. Safe in a signal handler.
 */
_Noreturn void end_by_signal(int number, bool group);

#endif
