#include "ending.h"

#include "clock.h"
#include "must.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Pauses before the next round. Another round is needed because a process may have forked in
 * between. If a process may not be killed, rounds are less frequent. */
enum { PAUSE_MS_MIN = 1, PAUSE_MS_URGENT = 8, PAUSE_MS_MAX = 64, PAUSE_MS_REFUSED = 1000 };

/* Nothing is left when this many rounds in a row have found no process and reaped no child. */
enum { NONE_SEEN_MAX = 3 };

/* Looking at all processes once must take less than the margin divided by this. Otherwise the
 * margin may be too short for the processes to end. */
enum { LOOKS_PER_MARGIN = 10 };

void ending_refused(struct ending *ending, pid_t pid, const char *signal)
{
	struct holding *holding = ending->holding;
	bool ask = ending->lost && !ending->stays;

	if (pid == ending->refused && !ask)
		return;
	ending->refused = pid;
	if (!ending->lost) {
		holding_say(holding,
		            "process %d cannot be killed: %s fails with EPERM (Operation not "
		            "permitted), because it runs as another user. '%s' is not released "
		            "before that process has ended",
		            (int)pid, signal, holding->words->name);
		return;
	}
	int error = ask ? baton_stay(holding->baton) : 0;
	ending->stays = true;
	holding_say(
	        holding,
	        "'%s' was lost (fence %llu), and process %d cannot be stopped: %s fails with EPERM "
	        "(Operation not permitted), because it runs as another user: %s%s",
	        holding->words->name, (unsigned long long)holding->fence, (int)pid, signal,
	        error == 0 ? "nobody is let in before it has ended"
	                   : "another may be let in while it runs: ",
	        error == 0 ? "" : baton_message(holding->baton));
}

/* Reaps children that have ended. Returns true if there are children left. */
static bool reap(struct ending *ending)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		ending->none_seen = 0;
		if (pid == ending->command) {
			ending->ended = true;
			ending->status = status;
		}
	}
	return pid == 0 || errno != ECHILD;
}

/* Returns how long the guardians of other runs may take to release their locks. They need a few
 * milliseconds. If our own lock was lost, most of the margin must be left. */
static uint64_t patience_ns(const struct ending *ending)
{
	const struct holding *holding = ending->holding;
	int64_t ms = ending->lost ? holding_margin_ms(holding) / 4 : (int64_t)holding->lease_ms;

	return (uint64_t)ms * 1000000;
}

/* Returns how long ago the killing was due, even if it began late. */
static uint64_t passed_ns(struct ending *ending)
{
	uint64_t now = clock_boot_ns();

	if (ending->begun_ns == 0)
		ending->begun_ns = now;
	if (ending->lost && ending->holding->end_ns < ending->begun_ns)
		ending->begun_ns = ending->holding->end_ns;
	return now - ending->begun_ns;
}

/*
 * Returns what to do with guardians of other runs. A guardian must not end before its command: its
 * lock would be free too early. A process that was killed may need long to end, so guardians are
 * killed when nothing else is left, however late that is.
 *
 * But a process with the name of a guardian need not be one: it may start others without end, or
 * keep another from ending, as a debugger can. So if such a process runs another program than this
 * process, it is killed after a while, even if other processes are left. It is not killed at once,
 * because it may be the guardian of a baton that was installed under another name.
 */
static unsigned guardians_due(struct ending *ending)
{
	uint64_t passed = passed_ns(ending), patience = patience_ns(ending);

	if (passed < patience)
		return 0;
	return passed < 2 * patience ? KILL_GUARDIANS : KILL_GUARDIANS | KILL_LIARS;
}

/* Returns the longest pause before the next round. */
static int pause_max(struct ending *ending, bool refused)
{
	uint64_t passed = passed_ns(ending), patience = patience_ns(ending);

	if (refused)
		return PAUSE_MS_REFUSED;
	/* In the second half of the margin, rounds must follow each other quickly. After the margin
	 * haste gains nothing. */
	bool urgent = ending->lost && passed >= 2 * patience && passed < 4 * patience;
	return urgent ? PAUSE_MS_URGENT : PAUSE_MS_MAX;
}

/* Can the node keep the lost lock? It can after a break, and while it leaves. If the lease ends, or
 * the connection has ended, others get the lock in any case, and the node may not even answer. */
static bool can_stay(const struct ending *ending)
{
	const char *reason = ending->lost ? ending->holding->reason : NULL;

	return reason != NULL && (strcmp(reason, "broken") == 0 || strcmp(reason, "leaving") == 0);
}

/* Asks the node, once, to keep the lost lock, if the node can do that. */
static void stay(struct ending *ending)
{
	if (ending->late || ending->stays || !can_stay(ending))
		return;
	ending->late = true;
	baton_stay(ending->holding->baton);
}

/* Returns the processor time that this process has used. */
static int64_t processor_ms(void)
{
	struct timespec used;

	must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
	return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

struct descendants ending_look(const struct ending *ending, pid_t except, int64_t *ret_ms)
{
	int64_t before_ms = processor_ms();
	struct descendants left = descendants_left(ending->spared, except);

	*ret_ms = processor_ms() - before_ms;
	return left;
}

void ending_stay_if_many(struct ending *ending, int64_t look_ms)
{
	if (look_ms > holding_margin_ms(ending->holding) / LOOKS_PER_MARGIN)
		stay(ending);
}

/* Asks the node to keep the lost lock, if processes that were killed need so long to end that the
 * margin may be too short: there are many of them, or they have much memory, or the machine is
 * busy. */
static void stay_if_late(struct ending *ending)
{
	if (ending->late || !ending->lost || passed_ns(ending) < patience_ns(ending))
		return;
	/* The answer may take a while, so kill the group before. But do not look for all the others
	 * before: there may be too many of them. */
	if (!ending->ended && process_parent(ending->command) == getpid())
		kill(-ending->command, SIGKILL);
	stay(ending);
}

bool ending_round(struct ending *ending)
{
	stay_if_late(ending); /* even before reaping: there may be thousands of children */
	if (!reap(ending))
		return true;
	unsigned how = ending->none_seen > 0 ? KILL_THOROUGH : 0;
	how |= guardians_due(ending);
	struct descendants left =
	        descendants_kill(ending->spared, ending->ended ? 0 : ending->command, how);
	/* Children are left: spared ones, or children that have ended but are kept by a debugger.
	 * So only the list tells whether anything else is left. The list is not read at a single
	 * moment, so it must be empty several times. */
	ending->none_seen = left.count > 0 ? 0 : ending->none_seen + 1;
	if (ending->none_seen == NONE_SEEN_MAX)
		return true;
	if (left.refused != 0)
		ending_refused(ending, left.refused, "SIGKILL");
	int most = pause_max(ending, left.refused != 0);
	ending->pause_ms = ending->pause_ms == 0 ? PAUSE_MS_MIN : ending->pause_ms * 2;
	if (ending->pause_ms > most)
		ending->pause_ms = most;
	return false;
}
