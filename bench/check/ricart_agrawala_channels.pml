/*
 * Ricart and Agrawala's algorithm of 1981 for SPIN as one would write it: a process for each node,
 * its variables, a channel to it. The steps are those of ricart_agrawala.pml, and so are states and
 * transitions: what is sent is sorted into the channel (!!) and taken from anywhere in it (??), so
 * that a channel is a multiset.
 */
#include "nodes.pml"

mtype = { REQUEST, REPLY };

chan to[N] = [2 * (N - 1)] of { mtype, byte, byte }; /* kind, number, sender of a REQUEST */

hidden byte j, number; /* of use within one step only */

#define DELIVER_REQUEST(from)                                                                   \
	:: d_step {                                                                             \
		to[_pid]??REQUEST, number, from ->                                              \
		if                                                                              \
		:: number > highest -> highest = number                                         \
		:: else                                                                         \
		fi;                                                                             \
		if                                                                              \
		:: our_number != 0 &&                                                           \
		   (number > our_number || (number == our_number && from > _pid)) ->            \
			deferred[from] = true                                                   \
		:: else ->                                                                      \
			to[from]!!REPLY, 0, 0                                                   \
		fi;                                                                             \
		number = 0                                                                      \
	}

active [N] proctype node()
{
	byte left = K;    /* entries */
	byte our_number;  /* 0: wants nothing */
	byte highest;     /* number received */
	byte outstanding; /* replies; 0 while it wants in: inside */
	bool deferred[N];

	do
	:: d_step {
		left != 0 && our_number == 0 ->
		left--;
		our_number = highest + 1;
		outstanding = N - 1;
		for (j : 0 .. N - 1) {
			if
			:: j != _pid -> to[j]!!REQUEST, our_number, _pid
			:: else
			fi
		}
		j = 0
	}
	:: d_step {
		our_number != 0 && outstanding == 0 ->
		our_number = 0;
		for (j : 0 .. N - 1) {
			if
			:: deferred[j] ->
				deferred[j] = false;
				to[j]!!REPLY, 0, 0
			:: else
			fi
		}
		j = 0
	}
	NODES(DELIVER_REQUEST)
	:: d_step {
		to[_pid]??REPLY, _, _ ->
		outstanding--
	}
	od
}
