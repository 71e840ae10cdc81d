/*
 * What the two models share. Nodes are 0 to N - 1 here. They are written out, and so are the pairs
 * of them, because the options of a Promela loop cannot be made by a loop.
 */
#ifndef N
#error "how many nodes: -DN="
#endif
#ifndef K
#error "how often each node may enter: -DK="
#endif

#define BIT(i) (1 << (i))

#if N == 2
#define NODES(option) option(0) option(1)
#define PAIRS(option) option(0, 1) option(1, 0)
#define SUM(term, i) (term(i, 0) + term(i, 1))
#elif N == 3
#define NODES(option) option(0) option(1) option(2)
#define PAIRS(option) \
	option(0, 1) option(0, 2) option(1, 0) option(1, 2) option(2, 0) option(2, 1)
#define SUM(term, i) (term(i, 0) + term(i, 1) + term(i, 2))
#elif N == 4
#define NODES(option) option(0) option(1) option(2) option(3)
#define PAIRS(option)                                                                 \
	option(0, 1) option(0, 2) option(0, 3) option(1, 0) option(1, 2) option(1, 3) \
	option(2, 0) option(2, 1) option(2, 3) option(3, 0) option(3, 1) option(3, 2)
#define SUM(term, i) (term(i, 0) + term(i, 1) + term(i, 2) + term(i, 3))
#else
#error "-DN=2, 3 or 4"
#endif

/*
 * With -DCHECKS: an option that is possible only where a property does not hold costs no state and
 * is looked at once in each state. EXPECT is about a step. OVER is a step from a proper end back
 * to it, so that SPIN takes any other state without a successor for a deadlock.
 */
#ifdef CHECKS
#define ALWAYS(property) :: d_step { !(property) -> assert(property) }
#define EXPECT(property) assert(property);
#define OVER(end) :: d_step { end -> skip }
#else
#define ALWAYS(property)
#define EXPECT(property)
#define OVER(end)
#endif
