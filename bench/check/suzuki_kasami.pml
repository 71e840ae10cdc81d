/*
 * Suzuki and Kasami's algorithm A for SPIN, step for step what `baton check suzuki-kasami
 * --reorder` does: a request, an exit and a delivery are one step each, entering is part of the
 * step that makes it possible, and the messages in flight are a multiset of (receiver, content).
 * One process with nothing but d_steps has one control state, so that SPIN's states are those of
 * the algorithm.
 *
 * It is packed, because SPIN pays for every byte: a set of nodes is the bits of one byte, and of LN
 * and Q, which travel with the privilege, there is one copy. Numbers of requests are one higher
 * than in the paper, where RN is -1 at first.
 */
#include "nodes.pml"

/* REQUEST(j, n), n from 1, under way to i; at most one, because j gives each number once. */
#define REQUEST_BIT(i, j, n) BIT(((j) - ((j) > (i))) * K + (n) - 1)
#if (N - 1) * K <= 8
#define REQUESTS byte
#else
#define REQUESTS int
#endif

byte left[N] = K; /* entries */
byte RN[N * N];   /* of node i: from i * N */
byte LN[N];
byte Q[N];        /* node + 1; behind the last: 0 */
byte has_privilege = BIT(0);
byte requesting;
REQUESTS asked[N];
byte privilege_to; /* a PRIVILEGE is under way to these */

hidden byte j, k; /* of use within one step only */

#define WANTS(i) (requesting & BIT(i))
#define HOLDS(i) (has_privilege & BIT(i))

#define REQUEST(i)                                                                              \
	:: d_step {                                                                             \
		left[i] != 0 && !WANTS(i) ->                                                    \
		left[i]--;                                                                      \
		requesting = requesting | BIT(i);                                               \
		if                                                                              \
		:: HOLDS(i)                                                                     \
		:: else ->                                                                      \
			RN[i * N + i]++;                                                        \
			for (j : 0 .. N - 1) {                                                  \
				if                                                              \
				:: j != i ->                                                    \
					EXPECT(!(asked[j] & REQUEST_BIT(j, i, RN[i * N + i])))  \
					asked[j] = asked[j] | REQUEST_BIT(j, i, RN[i * N + i])  \
				:: else                                                         \
				fi                                                              \
			}                                                                       \
		fi                                                                              \
	}

#define SEND_PRIVILEGE(i, to)                                                                   \
	EXPECT(!(privilege_to & BIT(to)))                                                       \
	has_privilege = has_privilege - BIT(i);                                                 \
	privilege_to = privilege_to | BIT(to)

#define EXIT(i)                                                                                 \
	:: d_step {                                                                             \
		WANTS(i) && HOLDS(i) ->                                                         \
		LN[i] = RN[i * N + i];                                                          \
		for (j : 0 .. N - 1) {                                                          \
			if                                                                      \
			:: j != i && RN[i * N + j] == LN[j] + 1 ->                              \
				k = 0;                                                          \
				do                                                              \
				:: Q[k] != 0 && Q[k] != j + 1 -> k++                            \
				:: else -> break                                                \
				od;                                                             \
				Q[k] = j + 1                                                    \
			:: else                                                                 \
			fi                                                                      \
		}                                                                               \
		if                                                                              \
		:: Q[0] != 0 ->                                                                 \
			j = Q[0] - 1;                                                           \
			for (k : 1 .. N - 1) {                                                  \
				Q[k - 1] = Q[k]                                                 \
			}                                                                       \
			SEND_PRIVILEGE(i, j)                                                    \
		:: else                                                                         \
		fi;                                                                             \
		requesting = requesting - BIT(i)                                                \
	}

#define DELIVER_REQUEST(i, from, n)                                                             \
	:: d_step {                                                                             \
		asked[i] & REQUEST_BIT(i, from, n) ->                                           \
		asked[i] = asked[i] - REQUEST_BIT(i, from, n);                                  \
		if                                                                              \
		:: n > RN[i * N + from] -> RN[i * N + from] = n                                 \
		:: else                                                                         \
		fi;                                                                             \
		if                                                                              \
		:: HOLDS(i) && !WANTS(i) && RN[i * N + from] == LN[from] + 1 ->                 \
			SEND_PRIVILEGE(i, from)                                                 \
		:: else                                                                         \
		fi                                                                              \
	}

#if K == 1
#define DELIVER_REQUESTS(i, from) DELIVER_REQUEST(i, from, 1)
#elif K == 2
#define DELIVER_REQUESTS(i, from) DELIVER_REQUEST(i, from, 1) DELIVER_REQUEST(i, from, 2)
#elif K == 3
#define DELIVER_REQUESTS(i, from) \
	DELIVER_REQUEST(i, from, 1) DELIVER_REQUEST(i, from, 2) DELIVER_REQUEST(i, from, 3)
#else
#error "-DK=1, 2 or 3"
#endif

#define DELIVER_PRIVILEGE(i)                                                                    \
	:: d_step {                                                                             \
		privilege_to & BIT(i) ->                                                        \
		EXPECT(WANTS(i) && !HOLDS(i))                                                   \
		privilege_to = privilege_to - BIT(i);                                           \
		has_privilege = has_privilege | BIT(i)                                          \
	}

#define COUNT(set, i) ((set >> i) & 1)
#define IN_QUEUE_TWICE(i, j) || (Q[i] != 0 && Q[i] == Q[j])
#define HOLDER_IN_QUEUE(i) || (Q[i] != 0 && HOLDS(Q[i] - 1))
#define AT_REST(i) && left[i] == 0 && asked[i] == 0

active proctype nodes()
{
	do
	ALWAYS(SUM(COUNT, (requesting & has_privilege)) <= 1)             /* mutual exclusion */
	ALWAYS(SUM(COUNT, has_privilege) + SUM(COUNT, privilege_to) == 1) /* one token */
	ALWAYS(!(false PAIRS(IN_QUEUE_TWICE)) && !(false NODES(HOLDER_IN_QUEUE)))
	OVER(requesting == 0 && privilege_to == 0 NODES(AT_REST))
	NODES(REQUEST)
	NODES(EXIT)
	PAIRS(DELIVER_REQUESTS)
	NODES(DELIVER_PRIVILEGE)
	od
}
