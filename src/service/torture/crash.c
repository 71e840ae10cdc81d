#include "crash.h"

#include "random_run.h"

void faults_crash(struct run *run, uint32_t place, bool leaves)
{
	if (leaves)
		cluster_leave(&run->cluster, place);
	else
		cluster_crash(&run->cluster, place);
	judge_disturbed(run, run->cluster.now);
	for (uint32_t i = 0; i < run->clients_count; i++) {
		if (run->clients[i].session != 0 && run->clients[i].place == place)
			visitor_orphan(run, i);
	}
}
