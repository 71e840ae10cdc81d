#include "ending.h"

#include <errno.h>
#include <sys/wait.h>

/* How long to wait before the next round, because a process may have forked in between. A process
 * that may not be killed is tried less often. */
enum { PAUSE_MS_MIN = 1, PAUSE_MS_MAX = 64, PAUSE_MS_REFUSED = 1000 };

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
		if (pid == ending->command) {
			ending->ended = true;
			ending->status = status;
		}
	}
	return pid == 0 || errno != ECHILD;
}

bool ending_round(struct ending *ending)
{
	if (!reap(ending))
		return true;
	struct descendants left = descendants_kill(
	        ending->spared, ending->ended ? 0 : ending->command, ending->none_seen > 0);
	/* If there are spared children too, only the list tells that nothing is left. It must be
	 * empty twice, because it is not taken at a single moment. */
	ending->none_seen = left.count > 0 ? 0 : ending->none_seen + 1;
	if (ending->spared->count > 0 && ending->none_seen == 2)
		return true;
	if (left.refused != 0)
		ending_refused(ending, left.refused, "SIGKILL");
	int most = left.refused != 0 ? PAUSE_MS_REFUSED : PAUSE_MS_MAX;
	ending->pause_ms = ending->pause_ms == 0 ? PAUSE_MS_MIN : ending->pause_ms * 2;
	if (ending->pause_ms > most)
		ending->pause_ms = most;
	return false;
}
