/*
 * Suzuki and Kasami's algorithm A for SPIN as one would write it: a process for each node, its
 * variables, a channel to it, and a message with Q and LN in it. The steps are those of
 * suzuki_kasami.pml, and so are states and transitions: a REQUEST is sorted into the channel (!!)
 * and taken from anywhere in it (??), so that a channel is a multiset.
 */
#include "nodes.pml"

typedef Privilege {
	byte LN[N];
	byte Q[N] /* node + 1; behind the last: 0 */
};

chan request_to[N] = [K * (N - 1)] of { byte, byte }; /* node and its number, from 1 */
chan privilege_to[N] = [1] of { Privilege };

hidden byte j, k; /* of use within one step only */

#define SEND_PRIVILEGE(i)                                                                       \
	have_privilege = false;                                                                 \
	privilege_to[i]!privilege;                                                              \
	for (k : 0 .. N - 1) {                                                                  \
		privilege.LN[k] = 0;                                                            \
		privilege.Q[k] = 0                                                              \
	}

#define DELIVER_REQUEST(from, n)                                                                \
	:: d_step {                                                                             \
		request_to[_pid]??from, n ->                                                    \
		if                                                                              \
		:: n > RN[from] -> RN[from] = n                                                 \
		:: else                                                                         \
		fi;                                                                             \
		if                                                                              \
		:: have_privilege && !requesting && RN[from] == privilege.LN[from] + 1 ->       \
			SEND_PRIVILEGE(from)                                                    \
		:: else                                                                         \
		fi;                                                                             \
		k = 0                                                                           \
	}

#if K == 1
#define DELIVER_REQUESTS(from) DELIVER_REQUEST(from, 1)
#elif K == 2
#define DELIVER_REQUESTS(from) DELIVER_REQUEST(from, 1) DELIVER_REQUEST(from, 2)
#elif K == 3
#define DELIVER_REQUESTS(from) \
	DELIVER_REQUEST(from, 1) DELIVER_REQUEST(from, 2) DELIVER_REQUEST(from, 3)
#else
#error "-DK=1, 2 or 3"
#endif

active [N] proctype node()
{
	byte left = K; /* entries */
	byte RN[N];
	bool requesting;
	bool have_privilege = (_pid == 0);
	Privilege privilege; /* 0 while it is elsewhere */

	do
	:: d_step {
		left != 0 && !requesting ->
		left--;
		requesting = true;
		if
		:: have_privilege
		:: else ->
			RN[_pid]++;
			for (j : 0 .. N - 1) {
				if
				:: j != _pid -> request_to[j]!!_pid, RN[_pid]
				:: else
				fi
			}
		fi;
		j = 0
	}
	:: d_step {
		requesting && have_privilege ->
		privilege.LN[_pid] = RN[_pid];
		for (j : 0 .. N - 1) {
			if
			:: j != _pid && RN[j] == privilege.LN[j] + 1 ->
				k = 0;
				do
				:: privilege.Q[k] != 0 && privilege.Q[k] != j + 1 -> k++
				:: else -> break
				od;
				privilege.Q[k] = j + 1
			:: else
			fi
		}
		if
		:: privilege.Q[0] != 0 ->
			j = privilege.Q[0] - 1;
			for (k : 1 .. N - 1) {
				privilege.Q[k - 1] = privilege.Q[k]
			}
			privilege.Q[N - 1] = 0;
			SEND_PRIVILEGE(j)
		:: else
		fi;
		requesting = false
	}
	NODES(DELIVER_REQUESTS)
	:: d_step {
		privilege_to[_pid]?privilege ->
		have_privilege = true
	}
	od
}
