"""What doc/results.md says between its tables."""

HEAD = """\
# What the papers claim, and what was measured

Four documents say what these algorithms cost; a fifth, Dijkstra's note of 1983, gives an algorithm and no count. Each
of their claims has a row here: what it is about, the formula and its value, what `baton compare` measured, and the
verdict. What no document claims, and only follows from the rules of the algorithms, is set apart: it has a chapter of
its own at the end, and columns of its own in the summary. The claims are data (`src/lab/compare/claims.c`; `baton compare
--claims` lists them), but for those that compare one algorithm or topology with another, or count the stages of an
election: these are judged by what makes this page (`tools/results`). No figure here was typed: `make results` makes
the page again, to the last digit.

- Neilsen: M. L. Neilsen, *A DAG-Based Algorithm for Distributed Mutual Exclusion*, Master's thesis, Kansas State
  University, 1989
- Hélary: J.-M. Hélary, N. Plouzeau and M. Raynal, *A distributed algorithm for mutual exclusion in an arbitrary
  network*, INRIA, Rapport de recherche 496, March 1986
- Suzuki-Kasami: I. Suzuki and T. Kasami, *A Distributed Mutual Exclusion Algorithm*, ACM Transactions on Computer
  Systems 3(4), November 1985
- Raynal: M. Raynal, *Election and Mutual Exclusion Algorithms*, chapter 2 of a textbook of the late 1980s

**Loads.** *Light*: one request at a time, from a node drawn from all alike; {amount}, after a warm-up. *Fewest* and
*most* are of single entries, also of as many again with exponential delays. *Heavy*: everybody wants in again as soon
as it has left. A message takes one unit of time, and so does a critical section; *delays vary*: a message takes an
exponential time, one on average. The *synchronization delay* is the time from an exit at which another waits to the
next entry. Claims about times in units of the longest delay are judged with delays of one, and with delays drawn from
0 to 1. *Losses*: a token is lost at its first hop, or its second,
and so on. *Elections*: all begin at once, with increasing and decreasing identifiers, with as many survivors of each
round as there can be, and in {arrangements} random arrangements, of which the mean is; or one begins: the greatest,
the one behind it, and one at random. The messages that announce the leader are counted apart.

**Verdicts.** What is counted must hold exactly. *Mean*: within five standard errors, or one per cent. *About*: within
a quarter. *Of the order*: from one size to one sixteen times as large, measured over claimed grows threefold at most.
*At best*: never less, and seen. A claim that is **wrong** is known to be, and the reason stands below its table; if
any other failed, this page would not be made.

**Formulas.** N nodes, E edges, D the diameter; K and k members of the largest and the smallest committee; L requests
are a round in Suzuki and Kasami's algorithm B. log is to the base 2; H(n) is 1 + 1/2 + … + 1/n; S(n) is n + 2⌊n/2⌋ +
4⌊n/3⌋ + … + 2^i ⌊n/(2^(i-1) + 1)⌋ + …; F(n) is the greatest i such that the (i+2)-nd Fibonacci number is at most n;
B(n) is the bytes of the number n in a message. Several values in a cell belong to the values of N in the table's
head; – where nothing is claimed.
"""

ARBITRARY = """\
The tree, with the line as its extreme, the ring, the complete network, and the general case. A node that has the
token sends nothing; another floods its request and the token retraces the way of the copy that came first. These are
the figures of the mended text. As printed, a copy that comes behind the token is flooded again, and from a ring of 7
on an entry can take more than 2n messages: see [errata.md](errata.md#helary-seen).
"""

UPPER = """\
The most messages that an entry can take, by the diameter of the tree; and those of the algorithms that chapter 2
describes.
"""

VARIABLES = """\
Three simple variables in a node, two integers in a REQUEST, nothing in a PRIVILEGE. Here a variable has four bytes, and
a message one for its type.
"""

BOUNDED = """\
The numbers are bounded, and each L requests of a node cost N - 1 REPLYs more. As printed the numbers are below L, which is
too few; mended, below 2L: see [errata.md](errata.md#suzuki-kasami-b-modulo).
"""

COMMITTEES = {
    "planes": "N = K(K - 1) + 1, and the committees are the lines of a finite projective plane.",
    "grids": "A committee is a row and a column.",
}

AVERAGE = """\
The best topology is what Neilsen calls the centralized one, here the star. He averages over who holds the token and
who asks, each node being as likely as any other, and compares with a coordinator that also wants in.
"""

INTERLEAVED = """\
Those are requests one at a time, and means. When requests meet, whose a message is cannot always be said; but their
number can be bounded: `baton check` goes through every interleaving of a few nodes, and no run may take more than the
bound times its entries.
"""

BEST = """\
The worst topology is a straight line, says the thesis, and the best is not the radiating star, which Raymond's paper
indicates, but "what we call a centralized topology", here the star. The same algorithm on four trees:
"""

STORAGE = """\
"This is significantly less overhead compared with other distributed mutual exclusion algorithms", those of chapter 2,
which keep arrays or queues. All of them, and the others: bytes of a node's state, at most; of the largest message that
carries the token; of the largest that does not. Numbers in messages take seven bits a byte, so that those that grow
for ever grow slowly. The last three keep neither an array nor a queue: nothing is claimed of them.
"""

DIFFERENT_DELAYS = """\
"Broadcasting a request to every process or moving the token from the current owner to the new one takes at most dΔ
units of time. Thus the total transmission time of a complete request operation takes at most 2dΔ", where Δ is the
longest delay. Small rings show best what delays between 0 and Δ do:
"""

SHAPES = """\
Those are four trees of many; here are all trees of {nodes} nodes, {count} of them. The least and the most of the others
stand beside the figure of the one. Under heavy load no tree is better than another: the claims are about requests that
do not meet.
"""

PREFERABLE = """\
"This algorithm is preferable, so far as the number of messages needed is concerned, to the others mentioned": those of
section 3.1.
"""

OTHER_FACTORS = """\
Of the other factors that the section names, 1.5 and 1.33, the chapter has no algorithm; and Burns' bound is "reached
when n is a power of 2". The least that any of these algorithms takes at worst, over n log n:
"""

BITS = """\
"Apparently Algorithm A performs better than Ricart and Agrawala's algorithm" (section 2). "Algorithm B is faster and uses fewer messages than Ricart and Agrawala's algorithm. The total number of information bits
to be exchanged, however, is larger in Algorithm B." Here are the delay from request to
entry under light load, and messages and bytes for an entry under heavy load. The verdict, beside Ricart and Agrawala's,
is about delay and messages (A: less, and no more) and about delay and bytes (B: less, and more; its messages are judged
above):
"""

NO_DOCUMENT = """\
## What follows from the rules: claims of no document

No document says this. It follows from the rules of the algorithms, and is here to be held to: where a document says
nothing, or something that is wrong, this is what the algorithms do.
"""
