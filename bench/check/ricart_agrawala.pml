/*
 * Ricart and Agrawala's algorithm of 1981 for SPIN, step for step what `baton check
 * ricart-agrawala --reorder` does: a request, an exit and a delivery are one step each, entering is
 * part of the step that makes it possible, and the messages in flight are a multiset of (receiver,
 * content). One process with nothing but d_steps has one control state, so that SPIN's states are
 * those of the algorithm.
 *
 * It is packed, because SPIN pays for every byte. There is at most one REQUEST from one node to
 * another, because its sender waits for the REPLY; of the REPLYs to a node, which are all the same,
 * the number counts.
 */
#include "nodes.pml"

byte left[N] = K;        /* entries */
byte our_number[N];      /* 0: wants nothing */
byte highest[N];         /* number received */
byte outstanding[N];     /* replies; 0 while it wants in: inside */
byte deferred[N];        /* to whom a REPLY is owed */
byte asked[N * (N - 1)]; /* the number of the REQUEST under way; 0: there is none */
byte replies[N];         /* REPLYs under way to a node */

#define ASKED(to, from) asked[(to) * (N - 1) + (from) - ((from) > (to))]

hidden byte j; /* of use within one step only */

/* Not the loop last: of a d_step that ends in one, SPIN 6.5.2 makes C that does not compile. */
#define REQUEST(i)                                                                              \
	:: d_step {                                                                             \
		left[i] != 0 && our_number[i] == 0 ->                                           \
		left[i]--;                                                                      \
		our_number[i] = highest[i] + 1;                                                 \
		for (j : 0 .. N - 1) {                                                          \
			if                                                                      \
			:: j != i ->                                                            \
				EXPECT(ASKED(j, i) == 0)                                        \
				ASKED(j, i) = our_number[i]                                     \
			:: else                                                                 \
			fi                                                                      \
		}                                                                               \
		outstanding[i] = N - 1                                                          \
	}

#define EXIT(i)                                                                                 \
	:: d_step {                                                                             \
		our_number[i] != 0 && outstanding[i] == 0 ->                                    \
		our_number[i] = 0;                                                              \
		for (j : 0 .. N - 1) {                                                          \
			replies[j] = replies[j] + ((deferred[i] >> j) & 1)                      \
		}                                                                               \
		deferred[i] = 0                                                                 \
	}

#define DELIVER_REQUEST(i, from)                                                                \
	:: d_step {                                                                             \
		ASKED(i, from) != 0 ->                                                          \
		EXPECT(!(deferred[i] & BIT(from)))                                              \
		if                                                                              \
		:: ASKED(i, from) > highest[i] -> highest[i] = ASKED(i, from)                   \
		:: else                                                                         \
		fi;                                                                             \
		if                                                                              \
		:: our_number[i] != 0 && (ASKED(i, from) > our_number[i] ||                     \
		                          (ASKED(i, from) == our_number[i] && from > i)) ->     \
			deferred[i] = deferred[i] | BIT(from)                                   \
		:: else ->                                                                      \
			replies[from]++                                                         \
		fi;                                                                             \
		ASKED(i, from) = 0                                                              \
	}

#define DELIVER_REPLY(i)                                                                        \
	:: d_step {                                                                             \
		replies[i] != 0 ->                                                              \
		EXPECT(outstanding[i] != 0)                                                     \
		replies[i]--;                                                                   \
		outstanding[i]--                                                                \
	}

#define INSIDE(ignored, i) (our_number[i] != 0 && outstanding[i] == 0)
#define OWES_WHILE_IDLE(i) || (our_number[i] == 0 && (deferred[i] != 0 || outstanding[i] != 0))
#define TO_COME(i, from) (((deferred[from] >> i) & 1) + (from != i && ASKED(from, i) != 0))
#define REPLIES_ARE_TO_COME(i) && replies[i] + SUM(TO_COME, i) == outstanding[i]
#define PASSED_OVER(i, by)                                                                      \
	|| (INSIDE(0, by) && our_number[i] != 0 &&                                              \
	    (our_number[i] < our_number[by] || (our_number[i] == our_number[by] && i < by)))
#define ALL_READ(i, from) && ASKED(i, from) == 0
#define AT_REST(i) && left[i] == 0 && our_number[i] == 0 && replies[i] == 0

active proctype nodes()
{
	do
	ALWAYS(SUM(INSIDE, 0) <= 1) /* mutual exclusion */
	ALWAYS(!(false NODES(OWES_WHILE_IDLE)))
	ALWAYS(true NODES(REPLIES_ARE_TO_COME))
	ALWAYS(!(false PAIRS(PASSED_OVER)))
	OVER(true NODES(AT_REST) PAIRS(ALL_READ))
	NODES(REQUEST)
	NODES(EXIT)
	PAIRS(DELIVER_REQUEST)
	NODES(DELIVER_REPLY)
	od
}
