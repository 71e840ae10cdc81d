"""The texts of doc/results.md between its tables."""

HEAD = """\
# What the papers claim, and what was measured

Of {all} claims of four documents about what the algorithms cost, {held} held, {refuted} are refuted, and {other} is about an
algorithm that could not be run here. {rules} more claims are our own: no document has them, but they follow from the rules of
the algorithms. Of these, {rules_held} held. This page lists what failed; [results.csv](results.csv) has a row for every claim. No figure was typed by
hand: `make results` makes both files, to the last digit. The claims are data (`src/lab/compare/claims.c`; `baton compare
--claims` lists
them), except those that compare one algorithm or topology with another, or count the stages of an election.
"""

SHOWN = """\
Each of these commands shows a claim that fails, at every size at which it fails:
"""

OTHER = """\
One claim could not be tested, because the document does not give its algorithm. Burns' 0.15N log(N) is a lower bound for every algorithm on a ring.
The chapter says that some algorithm reaches it, but names none, and no algorithm here does. All other claims are tested as
the document means them. Maekawa's claims are tested with committees of about √N
(planes and cyclic difference covers, at every size), and Raynal's count of Lamport's algorithm with every request acknowledged
(`acknowledge=always`). Neilsen's count of Singhal's algorithm is tested without the rule that mends it (`text=printed:outdated`; see
[errata.md](errata.md#singhal-outdated)), and Raymond's radiating star with arms that branch.
"""

COMPARED = """\
The {count} claims of documents that are not counted here compare one algorithm or topology with another, or count the stages of
an election.

[results.csv](results.csv) has a row for every claim. It shows what was measured at the listed sizes, on one of the topologies
that the claim is about. If a cell has several values, there is one for each size, in the same order. A number in the column *states* means that the bound also holds in every
interleaving of three or four nodes, which have so many states. *The rules* means that the claim is in no document
but follows from the rules of the algorithm. The figures
are those of the mended texts: the printed text of Hélary's algorithm floods some copies twice and can take more than 2n
messages on a ring ([errata.md](errata.md#helary-seen)).
"""

HOW = """\
## How it was measured

- Neilsen: M. L. Neilsen, *A DAG-Based Algorithm for Distributed Mutual Exclusion*, Master's thesis, Kansas State
  University, 1989
- Hélary: J.-M. Hélary, N. Plouzeau and M. Raynal, *A distributed algorithm for mutual exclusion in an arbitrary
  network*, INRIA, Rapport de recherche 496, March 1986
- Suzuki-Kasami: I. Suzuki and T. Kasami, *A Distributed Mutual Exclusion Algorithm*, ACM Transactions on Computer
  Systems 3(4), November 1985
- Raynal: M. Raynal, *Election and Mutual Exclusion Algorithms*, chapter 2 of a textbook of the late 1980s

**Loads.** Under *light* load there is one request at a time, from a random node: {amount}, after a warm-up. *Fewest* and
*most* are the fewest and the most messages of a single entry, in these runs and in as many runs with exponential delays. Under *heavy* load every node
wants in again as soon as it has left. A message takes one unit of time, and so does a critical section. Where *delays vary*,
a message takes an exponential time with mean one. The *synchronization delay* is the time from an exit to the next entry, if
another node waits at that exit. Claims about times in units of the longest delay are judged with delays of one, and with
delays drawn from
0 to 1. For *losses*, each run loses a token at another hop: at its first hop, at its second, and so on. In *elections* where all processes begin at once,
the identifiers increase, or decrease, or are arranged so that as many processes as possible survive each round, or are in one of
{arrangements} random arrangements (means are taken over these). In elections where one process begins, it is the greatest, its successor, or one
at random. Messages that announce the leader are counted separately.

**Verdicts.** A claim about a count must hold exactly. *Mean* allows five standard errors, or one per cent. *About* allows a
quarter. *Of the order* means that the ratio of measured to claimed value grows at most threefold from one size to another
that is at least sixteen times as large. *At best* means that no value was less, and that this value occurred. `make results` stops if a claim fails that is not listed as refuted.

**Formulas.** N is the number of nodes, E the number of edges and D the diameter. K and k are the sizes of the largest and the
smallest committee. L requests are a round in Suzuki and Kasami's algorithm B. log is to the base 2; H(n) is 1 + 1/2 + … +
1/n; S(n) is n + 2⌊n/2⌋ +
4⌊n/3⌋ + … + 2^i ⌊n/(2^(i-1) + 1)⌋ + …; F(n) is the greatest i such that the (i+2)-nd Fibonacci number is at most n;
B(n) is the bytes of the number n in a message.
"""
