/*
 * The shared part of run, lock and elect: their options, acquiring the lock while signals can still
 * withdraw the request, releasing the lock, and the line of --status-fd.
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
#include <time.h>

/* The exit codes of run, lock and elect (sysexits.h). The low numbers are left for the command. */
enum {
	EXIT_BAD_USAGE = 64,
	EXIT_NOT_ACQUIRED = 75,
	EXIT_LOST = 76,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	/* The exit code of a command that a signal ended is this plus the signal's number. */
	EXIT_SIGNAL = 128,
};

/* The options and operands. */
struct holding_words {
	const char *command; /* the name of this command in messages, such as "run" */
	const char *name;    /* the name of the lock or the election */
	const char *value;   /* the value that a leader publishes, or NULL */
	const char *socket;
	int64_t timeout_ms; /* the timeout of baton_lock */
	int busy_code;      /* the exit code of -E */
	int64_t grace_ms;   /* how long the command gets to stop; -1: a quarter of the lease */
	int status_fd;      /* the descriptor of --status-fd; -1: none */
	bool verbose;       /* also print that the lock is busy, and how long it took to get it */
	bool json;
};

/* Codes of the long options that have no letter. The letters are those of flock, where -s is
 * taken. */
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
/* Other names that flock has for options, and options that are refused with a reason. */
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
	uint64_t lease_ms; /* the lease of the node */
	int64_t grace_ms;
	/* By when all processes of the command must be gone, on clock_boot_ns. This is one margin
	 * before the end of the lease, as holding_note_end last read it. After a loss it may be
	 * earlier: the end of the grace, which the node counts from the moment at which it reported
	 * the loss. */
	uint64_t end_ns;
	/* Why the lock was lost or not acquired, for --status-fd; NULL: not known. */
	const char *reason;
	/* `reason` with ": " before it, as the end of a sentence; or "". */
	char why[BATON_NAME_MAX + 80];
	/* When the lock was asked for, and when acquired; acquired_ns 0: never. */
	uint64_t asked_ns, acquired_ns;
	/* The address of the node that was reached. It is for the signal handler that reports that
	 * the node is gone: at that moment the library may be changing its own copy. */
	char address[300];
	timer_t look; /* fires repeatedly during a wait without limit, if `has_look` */
	bool has_look;
	/* How many times in a row the timer has found no connection. */
	volatile unsigned looks_alone;
	volatile bool told_alone; /* the user was told that the node is gone */
	/* The signal settings at the start, which the command must get back. */
	sigset_t mask;
	sigset_t ignored;
};

void holding_defaults(struct holding_words *words, const char *command);

/* Takes an option. Returns 0; -1 and a problem; or 1 if it is not one of these options. */
int holding_option(int option, const char *value, struct holding_words *words,
                   struct problem *problem);

/* Prints one line on stderr and returns EXIT_BAD_USAGE. */
int holding_misused(const struct holding_words *words, const struct problem *problem);

/* Prints one line on stderr, "baton run: …". Never blocks: if nobody reads stderr now, the line is
 * dropped, because the command may have to be killed in the meantime. */
__attribute__((format(printf, 2, 3))) void holding_say(const struct holding *holding,
                                                       const char *format, ...);

/*
 * Waits until the lock is held. While it waits, any signal that would end the process withdraws the
 * request and ends the process, by that signal. Returns HOLDING_ACQUIRED, and from then on all
 * signals are blocked; or the exit code, which may be any number, after everything was printed and
 * freed.
 */
enum { HOLDING_ACQUIRED = -1 };
int holding_acquire(struct holding *holding, const struct holding_words *words);

/* Returns the signals that would have ended the process while it waited, without those that were
 * ignored. */
void holding_ending_signals(const struct holding *holding, sigset_t *ret_set);

/* Is the lock lost? Returns true only once. Never blocks. */
bool holding_lost(struct holding *holding);
/* Reads when the lease of the node ends, and sets `end_ns`. */
void holding_note_end(struct holding *holding);
/* Returns how long the command may take to stop from now on: the grace, or less if the lease ends
 * before. */
int64_t holding_time_to_stop_ms(const struct holding *holding);
/*
 * True if the lease of the node ends within this time, or has ended. Uses only the clock, not the
 * node or the network. A process that was stopped has to call it first when it goes on.
 */
bool holding_ends_within(const struct holding *holding, int64_t ms);
/* Returns the margin: the time between the end of the command and the grant to another client. */
int64_t holding_margin_ms(const struct holding *holding);
/* Notes why the lock was lost, unless that is noted already. The lock must be known to be lost. */
void holding_note_loss(struct holding *holding);

/* Releases the lock and waits a while for the node's answer. Returns true if the lock was still
 * held until then. */
bool holding_release(struct holding *holding);

/* Writes the line of --status-fd, or drops it if nobody reads for a second. `child` is the
 * command's exit code, or -1 if there was no command. Uses SIGALRM, and blocks it at the end. May
 * be called in a signal handler. */
void holding_report(const struct holding *holding, bool lost, int child);

void holding_free(struct holding *holding);

/*
 * Ends this process by a signal, without a core dump. With `group`, sends the signal to the whole
 * process group, as a terminal does. Process 1 exits with 128 plus the number. May be called in a
 * signal handler.
 */
_Noreturn void end_by_signal(int number, bool group);

#endif
