#include "claims.h"

#include <string.h>

/* Texts for paper_claim.other: why the run is not what the document means. */
static const char not_sqrt[] =
        "sqrt(N) stands for the size K of a committee, including the node that asks. For this N we "
        "know no committees as small as that: K(K-1) + 1 is at least N";

/* Texts for paper_claim.refuted: why the claim does not hold. */
static const char few_nodes[] =
        "with two nodes an entry takes 2 + 1/L messages, for every L; with Ricart and Agrawala's "
        "algorithm it takes 2";
static const char longest_path[] =
        "the token retraces the path of the copy that came first, which need not be a shortest "
        "one: on a ring it may have N - 2 hops";
static const char longest_time[] =
        "if delays differ, the copy that arrives first may have taken a longer path; the token "
        "goes back along it, and each hop may then take the longest delay";
static const char token_twice[] =
        "the request reaches every node of the ring, and the token goes back along the path of "
        "the request; on Dijkstra's ring the request stops at the token, and both together take "
        "N - 1 messages on average";
static const char one_hop_more[] =
        "if PONG is lost just after a meeting, no process has the new number yet, so the loss can "
        "take N + 1 hops to be noticed";
static const char ring_twice[] =
        "the initiator's number needs N - 1 messages to reach the greatest process, and the "
        "number of that process needs N messages to come back: 2N - 1";

/* Neilsen claims "significantly less overhead" than the algorithms of his second chapter have. We
 * take this to mean at most half of theirs. */
#define LESS "Neilsen 6.4, twice the 12 bytes of neilsen"

const struct paper_claim claims[] = {
        {"central", NULL, ON_ANY, 2, LIGHT_MAX, AT_MOST, "3", "Neilsen 6.1", NULL, NULL},
        {"central", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", "Neilsen 6.2, footnote", NULL, NULL},
        {"central", NULL, ON_ANY, 2, LIGHT_ASKED_MIN, EXACTLY, "3", "Neilsen 6.2, footnote", NULL,
         NULL},
        {"central", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "3 - 3/N", "Neilsen 6.2", NULL, NULL},
        {"central", NULL, ON_ANY, 16, LIGHT_MEAN, ABOUT, "3", "Neilsen 6.2, 7, as N grows", NULL,
         NULL},
        {"central", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "3", "Neilsen 6.2", NULL, NULL},
        {"central", NULL, ON_ANY, 1, HEAVY_MEAN, ON_AVERAGE, "3 - 3/N", NULL, NULL, NULL},
        {"central", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, AT_MOST, "2", "Neilsen 6.3", NULL, NULL},

        {"lamport", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "3(N - 1)", "Neilsen 2.1, 6.1", NULL,
         NULL},
        {"lamport", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "3(N - 1)", "Neilsen 2.1, 6.1", NULL,
         NULL},
        {"lamport", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "3(N - 1)", "Neilsen 2.1, 6.1",
         NULL, NULL},
        {"lamport", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"lamport", NULL, ON_ANY, 1, HEAVY_MEAN, ON_AVERAGE, "2(N - 1)", NULL, NULL, NULL},
        {"lamport", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},
        {"lamport", "acknowledge=always", ON_ANY, 1, LIGHT_MEAN, EXACTLY, "3(N - 1)", "Raynal 3.1",
         NULL, NULL},
        {"lamport", "acknowledge=always", ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "3(N - 1)",
         "Raynal 3.1", NULL, NULL},
        {"lamport", "acknowledge=always", ON_ANY, 2, HEAVY_VARIED_MEAN, ON_AVERAGE, "3(N - 1)",
         "Raynal 3.1", NULL, NULL},

        {"ricart-agrawala", NULL, ON_ANY, 1, LIGHT_MIN, EXACTLY, "2(N - 1)",
         "Neilsen 2.2, 6.1; Raynal 3.1; Hélary 1; Suzuki-Kasami 1", NULL, NULL},
        {"ricart-agrawala", NULL, ON_ANY, 1, LIGHT_MAX, EXACTLY, "2(N - 1)",
         "Neilsen 2.2, 6.1; Raynal 3.1; Hélary 1; Suzuki-Kasami 1", NULL, NULL},
        {"ricart-agrawala", NULL, ON_ANY, 1, HEAVY_MEAN, ON_AVERAGE, "2(N - 1)",
         "Neilsen 2.2, 6.1; Raynal 3.1; Hélary 1; Suzuki-Kasami 1", NULL, NULL},
        {"ricart-agrawala", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, ON_AVERAGE, "2(N - 1)",
         "Neilsen 2.2, 6.1; Raynal 3.1; Hélary 1; Suzuki-Kasami 1", NULL, NULL},
        {"ricart-agrawala", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"ricart-agrawala", NULL, ON_ANY, 2, LIGHT_RESPONSE_MAX, EXACTLY, "2", "Suzuki-Kasami 2",
         NULL, NULL},
        {"ricart-agrawala", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},

        {"carvalho-roucairol", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "2(N - 1)",
         "Neilsen 2.3, 6.1; Raynal 3.1; Hélary 1", NULL, NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0",
         "Neilsen 2.3; Raynal 3.1; Hélary 1", NULL, NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "2(N - 1)",
         "Neilsen 2.3, 6.1; Raynal 3.1; Hélary 1", NULL, NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "2(N - 1)",
         "Neilsen 2.3, 6.1; Raynal 3.1; Hélary 1", NULL, NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "N - 1", NULL, NULL, NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 1, HEAVY_MEAN, ON_AVERAGE, "2(N - 1)", NULL, NULL,
         NULL},
        {"carvalho-roucairol", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},

        {"maekawa", NULL, ON_ANY, 16, COMMITTEE_MAX, ABOUT, "sqrt(N)", "Neilsen 2.6", NULL,
         not_sqrt},
        {"maekawa", NULL, ON_ANY, 4, LIGHT_MIN, ABOUT, "3 sqrt(N)", "Neilsen 2.6", NULL, not_sqrt},
        {"maekawa", NULL, ON_ANY, 2, LIGHT_MAX, AT_MOST, "5 sqrt(N)",
         "Maekawa, by Neilsen 2.6, footnote", NULL, not_sqrt},
        {"maekawa", NULL, ON_ANY, 2, HEAVY_MEAN, AT_MOST, "5 sqrt(N)",
         "Maekawa, by Neilsen 2.6, footnote", NULL, not_sqrt},
        {"maekawa", NULL, ON_ANY, 2, HEAVY_VARIED_MEAN, AT_MOST, "5 sqrt(N)",
         "Maekawa, by Neilsen 2.6, footnote", NULL, not_sqrt},
        {"maekawa", NULL, ON_ANY, 2, LIGHT_MAX, AT_MOST, "7 sqrt(N)", "Neilsen 2.6, 6.1", NULL,
         NULL},
        {"maekawa", NULL, ON_ANY, 2, HEAVY_MEAN, AT_MOST, "7 sqrt(N)", "Neilsen 2.6, 6.1", NULL,
         not_sqrt},
        {"maekawa", NULL, ON_ANY, 2, HEAVY_VARIED_MEAN, AT_MOST, "7 sqrt(N)", "Neilsen 2.6, 6.1",
         NULL, not_sqrt},
        {"maekawa", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"maekawa", NULL, ON_ANY, 1, LIGHT_MIN, AT_LEAST, "3(k - 1)", NULL, NULL, NULL},
        {"maekawa", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "3(K - 1)", NULL, NULL, NULL},
        {"maekawa", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "4(K - 1)", NULL, NULL, NULL},
        {"maekawa", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "7(K - 1)", NULL, NULL, NULL},
        {"maekawa", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, AT_MOST, "2", NULL, NULL, NULL},

        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_MAX, EXACTLY, "N",
         "Suzuki-Kasami 2; Neilsen 2.4, 6.1; Raynal 2", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_ASKED_MIN, EXACTLY, "N",
         "Suzuki-Kasami 2; Neilsen 2.4; Raynal 2", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, EXACTLY, "N - 1", "Suzuki-Kasami 2",
         NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_TOKEN_MAX, EXACTLY, "1", "Suzuki-Kasami 2", NULL,
         NULL},
        {"suzuki-kasami", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0",
         "Suzuki-Kasami 2; Neilsen 2.4; Raynal 2", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "N - 1", NULL, NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "N",
         "Suzuki-Kasami 2; Neilsen 2.4, 6.1; Raynal 2", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "N",
         "Suzuki-Kasami 2; Neilsen 2.4, 6.1; Raynal 2", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "N", NULL, NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_ASKED_TIME, EXACTLY, "1", "Suzuki-Kasami 2", NULL,
         NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_TOKEN_TIME, EXACTLY, "1", "Suzuki-Kasami 2", NULL,
         NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, TOKEN_BYTES, AT_LEAST, "N + 1",
         "Suzuki-Kasami 2, an array of N numbers", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "4N",
         "Suzuki-Kasami 2, an array of N numbers of 4 bytes", NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, LIGHT_RESPONSE_MAX, EXACTLY, "2", "Suzuki-Kasami 2",
         NULL, NULL},
        {"suzuki-kasami", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1",
         "Suzuki-Kasami 2; Neilsen 6.3", NULL, NULL},

        {"suzuki-kasami-b", NULL, ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "N + (N - 1)/L",
         "Suzuki-Kasami 3", NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 1, LIGHT_MEAN, AT_MOST, "N + (N - 1)/L",
         "Suzuki-Kasami 3", NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 2, HEAVY_MEAN, AT_MOST, "2(N - 1)", "Suzuki-Kasami 3",
         few_nodes, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 2, REQUEST_BYTES, AT_MOST, "1 + B(N) + B(2L - 1)",
         "Suzuki-Kasami 3, its type, who asks and a bounded number", NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", NULL, NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 2, LIGHT_ASKED_MIN, EXACTLY, "N", NULL, NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "2N - 1", NULL, NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "(1 - 1/N)(N + (N - 1)/L)",
         NULL, NULL, NULL},
        {"suzuki-kasami-b", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},
        {"suzuki-kasami-b", "L=10", ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "N + (N - 1)/L",
         "Suzuki-Kasami 3", NULL, NULL},
        {"suzuki-kasami-b", "L=10", ON_ANY, 1, LIGHT_MEAN, AT_MOST, "N + (N - 1)/L",
         "Suzuki-Kasami 3", NULL, NULL},
        {"suzuki-kasami-b", "L=10", ON_ANY, 1, LIGHT_MAX, AT_MOST, "2N - 1", NULL, NULL, NULL},

        {"ricart-agrawala-token", NULL, ON_ANY, 2, LIGHT_MAX, EXACTLY, "N",
         "Raynal 3.6; Neilsen 2.4; Hélary 1", NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, LIGHT_ASKED_MIN, EXACTLY, "N",
         "Raynal 3.6; Neilsen 2.4; Hélary 1", NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, EXACTLY, "N - 1", "Raynal 3.6",
         NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, LIGHT_TOKEN_MAX, EXACTLY, "1", "Raynal 3.6",
         NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0",
         "Raynal 3.6; Neilsen 2.4; Hélary 1", NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "N - 1", NULL, NULL,
         NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "N",
         "Raynal 3.6; Neilsen 2.4, 6.1; Hélary 1", NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "N",
         "Raynal 3.6; Neilsen 2.4, 6.1; Hélary 1", NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "N", NULL, NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, TOKEN_BYTES, AT_LEAST, "N + 1",
         "Raynal 3.6, elements of a byte or more", NULL, NULL},
        {"ricart-agrawala-token", NULL, ON_ANY, 2, REQUEST_BYTES, AT_LEAST, "3",
         "Raynal 3.6, elements of a byte or more", NULL, NULL},

        {"singhal", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "N", NULL, NULL, NULL},
        {"singhal", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"singhal", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", NULL, NULL, NULL},
        {"singhal", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "(N + 1)/2 - 1/N", NULL, NULL, NULL},
        {"singhal", NULL, ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "N", "Neilsen 2.5", NULL, NULL},
        {"singhal", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", "Neilsen 6.3", NULL, NULL},
        /* The claim is about the text without our rule for outdated requests, which costs a few
         * messages more. */
        {"singhal", "text=printed:outdated", ON_ANY, 1, LIGHT_MAX, AT_MOST, "N", "Neilsen 2.5, 6.1",
         NULL, NULL},
        {"singhal", "text=printed:outdated", ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "N",
         "Neilsen 2.5, 6.1", NULL, NULL},
        {"singhal", "text=printed:outdated", ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "N", "Neilsen 2.5",
         NULL, NULL},

        {"raymond", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "2D", "Neilsen 2.7, 6.1", NULL, NULL},
        {"raymond", NULL, ON_STAR, 1, LIGHT_MAX, AT_MOST, "4", "Neilsen 6.1", NULL, NULL},
        {"raymond", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, AT_MOST, "D", "Neilsen 2.7", NULL, NULL},
        {"raymond", NULL, ON_ANY, 2, LIGHT_TOKEN_MAX, AT_MOST, "D", "Neilsen 2.7", NULL, NULL},
        {"raymond", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", "Neilsen 2.7", NULL, NULL},
        /* The mean is of the order log N only if the arms of the radiating star branch. */
        {"raymond", NULL, ON_BRANCHING, 10, LIGHT_MEAN, OF_ORDER, "log(N)", "Neilsen 2.7", NULL,
         NULL},
        {"raymond", NULL, ON_BRANCHING, 10, HEAVY_MEAN, ABOUT, "4", "Neilsen 2.7", NULL, NULL},
        {"raymond", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "2D", "Neilsen 2.7, 6.1", NULL, NULL},
        {"raymond", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "2D", "Neilsen 2.7, 6.1", NULL,
         NULL},
        {"raymond", NULL, ON_ANY, 2, STATE_BYTES, AT_LEAST, "24", LESS, NULL, NULL},
        {"raymond", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, AT_MOST, "D", "Neilsen 2.7, 6.3", NULL, NULL},
        {"raymond", NULL, ON_STAR, 1, LIGHT_MEAN, ON_AVERAGE, "4(N - 1)^2/N^2", NULL, NULL, NULL},
        {"raymond", NULL, ON_LINE, 1, LIGHT_MEAN, ON_AVERAGE, "2(N^2 - 1)/(3N)", NULL, NULL, NULL},
        {"raymond", NULL, ON_ANY, 1, HEAVY_MEAN, ON_AVERAGE, "4(N - 1)/N", NULL, NULL, NULL},
        {"raymond", NULL, ON_ANY, 2, HEAVY_SYNC_MEAN, ON_AVERAGE, "2(N - 1)/N", NULL, NULL, NULL},

        {"neilsen", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "D + 1", "Neilsen 6.1", NULL, NULL},
        {"neilsen", NULL, ON_STAR, 1, LIGHT_MAX, AT_MOST, "3", "Neilsen 1, 6.1", NULL, NULL},
        {"neilsen", NULL, ON_LINE, 1, LIGHT_MAX, AT_MOST, "N", "Neilsen 6.1", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, AT_MOST, "D", "Neilsen 6.1", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, AT_MOST, "N - 1", "Neilsen 5.2, lemma 2",
         NULL, NULL},
        {"neilsen", NULL, ON_ANY, 2, LIGHT_TOKEN_MAX, EXACTLY, "1", "Neilsen 6.1", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", "Neilsen 6.2", NULL, NULL},
        {"neilsen", NULL, ON_STAR, 1, LIGHT_MEAN, ON_AVERAGE, "3 - 5/N + 2/N^2", "Neilsen 6.2",
         NULL, NULL},
        {"neilsen", NULL, ON_STAR, 2, FIRST_LEAF_MEAN, ON_AVERAGE, "3 - 4/N", "Neilsen 6.2", NULL,
         NULL},
        {"neilsen", NULL, ON_STAR, 2, FIRST_CENTRE_MEAN, ON_AVERAGE, "2 - 2/N", "Neilsen 6.2", NULL,
         NULL},
        {"neilsen", NULL, ON_STAR, 16, LIGHT_MEAN, ABOUT, "3", "Neilsen 6.2, 7, as N grows", NULL,
         NULL},
        {"neilsen", NULL, ON_STAR, 1, HEAVY_MEAN, AT_MOST, "3", "Neilsen 6.2", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 1, HEAVY_MEAN, AT_MOST, "D + 1", "Neilsen 6.1", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 1, HEAVY_VARIED_MEAN, AT_MOST, "D + 1", "Neilsen 6.1", NULL,
         NULL},
        {"neilsen", NULL, ON_LINE, 1, LIGHT_MEAN, ON_AVERAGE, "(N^2 - 1)/(3N) + 1 - 1/N", NULL,
         NULL, NULL},
        {"neilsen", NULL, ON_STAR, 2, HEAVY_MEAN, ON_AVERAGE, "3 - 2/N", NULL, NULL, NULL},
        {"neilsen", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", "Neilsen 6.3", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 1, STATE_BYTES, EXACTLY, "12",
         "Neilsen 6.4, three variables of 4 bytes", NULL, NULL},
        {"neilsen", NULL, ON_ANY, 2, TOKEN_BYTES, EXACTLY, "1", "Neilsen 6.4, its type and nothing",
         NULL, NULL},
        {"neilsen", NULL, ON_ANY, 3, REQUEST_BYTES, AT_MOST, "1 + 2B(N)",
         "Neilsen 6.4, its type and two integers", NULL, NULL},

        {"helary", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", "Hélary 6", NULL, NULL},
        {"helary", NULL, ON_TREE, 2, LIGHT_OTHERS_MIN, EXACTLY, "N - 1", "Hélary 6, tree", NULL,
         NULL},
        {"helary", NULL, ON_TREE, 2, LIGHT_OTHERS_MAX, EXACTLY, "N - 1", "Hélary 6, tree", NULL,
         NULL},
        {"helary", NULL, ON_TREE, 2, LIGHT_TOKEN_MIN, AT_LEAST, "1", "Hélary 6, tree", NULL, NULL},
        {"helary", NULL, ON_TREE, 2, LIGHT_TOKEN_MAX, AT_MOST, "D", "Hélary 6, tree", NULL, NULL},
        {"helary", NULL, ON_TREE, 2, LIGHT_ASKED_MIN, AT_LEAST, "N", "Hélary 6, tree", NULL, NULL},
        {"helary", NULL, ON_TREE, 2, LIGHT_MAX, AT_MOST, "N - 1 + D", "Hélary 6, tree", NULL, NULL},
        {"helary", NULL, ON_LINE, 2, LIGHT_MAX, AT_MOST, "2(N - 1)", "Hélary 6, line", NULL, NULL},
        {"helary", NULL, ON_RING, 2, LIGHT_OTHERS_MIN, AT_LEAST, "N - 1", "Hélary 6, ring", NULL,
         NULL},
        {"helary", NULL, ON_RING, 2, LIGHT_OTHERS_MAX, AT_MOST, "N + 1", "Hélary 6, ring", NULL,
         NULL},
        {"helary", NULL, ON_RING, 2, LIGHT_ASKED_MIN, AT_LEAST, "N", "Hélary 6, ring", NULL, NULL},
        {"helary", NULL, ON_RING, 2, LIGHT_MAX, AT_MOST, "2N", "Hélary 6, ring", NULL, NULL},
        {"helary", NULL, ON_COMPLETE, 2, LIGHT_OTHERS_MIN, EXACTLY, "N - 1", "Hélary 6, complete",
         NULL, NULL},
        {"helary", NULL, ON_COMPLETE, 2, LIGHT_OTHERS_MAX, EXACTLY, "N - 1", "Hélary 6, complete",
         NULL, NULL},
        {"helary", NULL, ON_COMPLETE, 2, LIGHT_TOKEN_MAX, EXACTLY, "1", "Hélary 6, complete", NULL,
         NULL},
        {"helary", NULL, ON_COMPLETE, 2, LIGHT_ASKED_MIN, EXACTLY, "N", "Hélary 6, complete", NULL,
         NULL},
        {"helary", NULL, ON_COMPLETE, 2, LIGHT_MAX, EXACTLY, "N", "Hélary 6, complete", NULL, NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_OTHERS_MIN, AT_LEAST, "N - 1", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, AT_MOST, "2E", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_TOKEN_MIN, AT_LEAST, "1", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_TOKEN_MAX, AT_MOST, "N - 1", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_ASKED_MIN, AT_LEAST, "N", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_MAX, AT_MOST, "2E + N - 1", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, HEAVY_MEAN, AT_MOST, "2E + N - 1", "Hélary 6, general", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_TOKEN_MAX, AT_MOST, "D", "Hélary 6", longest_path, NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_ASKED_TIME, AT_MOST, "D", "Hélary 6", NULL, NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_TOKEN_TIME, AT_MOST, "D", "Hélary 6", longest_time, NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_RESPONSE_MAX, AT_MOST, "2D", "Hélary 6", longest_time,
         NULL},
        {"helary", NULL, ON_ANY, 2, TOKEN_BYTES, AT_LEAST, "N + 1",
         "Hélary 4.1, an array of N numbers", NULL, NULL},
        {"helary", NULL, ON_RING, 3, LIGHT_MEAN, AT_MOST, "N - 1", "Hélary 7, as efficient",
         token_twice, NULL},
        {"helary", NULL, ON_COMPLETE, 2, HEAVY_MEAN, AT_MOST, "N", "Hélary 7, as efficient", NULL,
         NULL},
        {"helary", NULL, ON_ANY, 2, LIGHT_OTHERS_MAX, AT_MOST, "2E - N + 1",
         "Hélary 3, as many as by flooding", NULL, NULL},
        {"helary", "broadcast=flood", ON_ANY, 2, LIGHT_OTHERS_MAX, AT_MOST, "2E",
         "Hélary 6, general", NULL, NULL},
        {"helary", "broadcast=flood", ON_ANY, 2, LIGHT_OTHERS_MIN, EXACTLY, "2E - N + 1", NULL,
         NULL, NULL},
        {"helary", "broadcast=flood", ON_ANY, 2, LIGHT_OTHERS_MAX, EXACTLY, "2E - N + 1", NULL,
         NULL, NULL},
        {"helary", NULL, ON_RING, 4, LIGHT_OTHERS_MIN, AT_LEAST, "N", NULL, NULL, NULL},
        {"helary", NULL, ON_RING, 4, LIGHT_MAX, AT_MOST, "2(N - 1)", NULL, NULL, NULL},
        {"helary", NULL, ON_COMPLETE, 1, LIGHT_MEAN, ON_AVERAGE, "N - 1", NULL, NULL, NULL},
        {"helary", NULL, ON_STAR, 1, LIGHT_MEAN, ON_AVERAGE, "(N - 1)(1 - 1/N) + 2(N - 1)^2/N^2",
         NULL, NULL, NULL},
        {"helary", NULL, ON_LINE, 1, LIGHT_MEAN, ON_AVERAGE, "(N - 1)(1 - 1/N) + (N^2 - 1)/(3N)",
         NULL, NULL, NULL},
        {"helary", NULL, ON_COMPLETE, 2, HEAVY_MEAN, ON_AVERAGE, "N", NULL, NULL, NULL},
        {"helary", NULL, ON_STAR, 2, HEAVY_MEAN, ON_AVERAGE, "(N - 1)(1 + 2/N)", NULL, NULL, NULL},
        {"helary", NULL, ON_RING, 5, HEAVY_MEAN, ON_AVERAGE, "N + 2", NULL, NULL, NULL},

        {"dijkstra-ring", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "0", NULL, NULL, NULL},
        {"dijkstra-ring", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "2(N - 1)", NULL, NULL, NULL},
        {"dijkstra-ring", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "N - 1", NULL, NULL, NULL},
        {"dijkstra-ring", NULL, ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "2", NULL, NULL, NULL},
        {"dijkstra-ring", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},

        {"le-lann", NULL, ON_ANY, 1, LIGHT_MIN, AT_BEST, "1", NULL, NULL, NULL},
        {"le-lann", NULL, ON_ANY, 1, LIGHT_MAX, AT_MOST, "N", NULL, NULL, NULL},
        {"le-lann", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "(N + 1)/2", NULL, NULL, NULL},
        {"le-lann", NULL, ON_ANY, 1, HEAVY_MEAN, ON_AVERAGE, "1", NULL, NULL, NULL},
        {"le-lann", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},
        {"le-lann", NULL, ON_ANY, 1, HEAVY_BYPASS, AT_MOST, "N - 1", NULL, NULL, NULL},

        {"misra", NULL, ON_ANY, 1, LIGHT_MEAN, ON_AVERAGE, "N + 1", NULL, NULL, NULL},
        {"misra", NULL, ON_ANY, 2, HEAVY_MEAN, ON_AVERAGE, "3", NULL, NULL, NULL},
        {"misra", NULL, ON_ANY, 2, HEAVY_SYNC_MAX, EXACTLY, "1", NULL, NULL, NULL},
        {"misra", NULL, ON_ANY, 1, HEAVY_BYPASS, AT_MOST, "N - 1", NULL, NULL, NULL},
        {"misra", NULL, ON_ANY, 1, REGENERATED_MAX, AT_MOST, "N", "Raynal 4.2", one_hop_more, NULL},
        {"misra", NULL, ON_ANY, 1, REGENERATED_MAX, AT_MOST, "N + 1", NULL, NULL, NULL},
        {"misra", NULL, ON_ANY, 1, TOKEN_BYTES, AT_MOST, "1 + B(N + 1)",
         "Raynal 4.2, its type and a number of n + 1", NULL, NULL},

        {"chang-roberts", NULL, ON_ANY, 1, ALL_MAX, EXACTLY, "N(N + 1)/2", "Raynal 5.2", NULL,
         NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ONE_MIN, EXACTLY, "N", "Raynal 5.2", NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 4, ALL_MEAN, OF_ORDER, "N log(N)", "Raynal 5.2", NULL,
         NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ALL_MEAN, ON_AVERAGE, "N H(N)",
         "Raynal 5.2, the value of his sum", NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ALL_MAX, AT_LEAST, "0.15N log(N)", "Raynal 5.5.2, Burns",
         NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ALL_TIME_MAX, EXACTLY, "N", "Raynal 5.2", NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ONE_TIME_MAX, AT_MOST, "2(N - 1)", "Raynal 5.2",
         ring_twice, NULL},
        {"chang-roberts", NULL, ON_ANY, 4, ALL_TIME_MAX, OF_ORDER, "N", "Raynal 5.2", NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 4, ONE_TIME_MAX, OF_ORDER, "N", "Raynal 5.2", NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ONE_TIME_MAX, EXACTLY, "2N - 1", NULL, NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ALL_MIN, EXACTLY, "2N - 1", NULL, NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ONE_MAX, EXACTLY, "2N - 1", NULL, NULL, NULL},
        {"chang-roberts", NULL, ON_ANY, 1, ANNOUNCEMENT_MAX, EXACTLY, "N", NULL, NULL, NULL},

        {"le-lann-election", NULL, ON_ANY, 1, ALL_MIN, EXACTLY, "N^2", "Raynal 5.1", NULL, NULL},
        {"le-lann-election", NULL, ON_ANY, 1, ALL_MAX, EXACTLY, "N^2", "Raynal 5.1", NULL, NULL},
        {"le-lann-election", NULL, ON_ANY, 1, ALL_MAX, AT_LEAST, "0.15N log(N)",
         "Raynal 5.5.2, Burns", NULL, NULL},
        {"le-lann-election", NULL, ON_ANY, 1, ONE_MAX, EXACTLY, "N", NULL, NULL, NULL},

        {"bully", NULL, ON_ANY, 2, ALL_MAX, ABOUT, "N^2", "Raynal 5.1", NULL, NULL},
        {"bully", NULL, ON_ANY, 1, ALL_MAX, EXACTLY, "N^2 - 1", NULL, NULL, NULL},

        {"hirschberg-sinclair", NULL, ON_ANY, 1, ALL_MAX, AT_MOST, "4 S(N)", "Raynal 5.3", NULL,
         NULL},
        {"hirschberg-sinclair", NULL, ON_ANY, 1, ALL_MAX, AT_MOST, "8N(1 + log(N))", "Raynal 5.3",
         NULL, NULL},
        {"hirschberg-sinclair", NULL, ON_ANY, 4, ALL_MAX, OF_ORDER, "N log(N)", "Raynal 5.1, 5.3",
         NULL, NULL},
        {"hirschberg-sinclair", NULL, ON_ANY, 1, ALL_MAX, AT_LEAST, "0.15N log(N)",
         "Raynal 5.5.2, Burns", NULL, NULL},

        {"dolev-klawe-rodeh", NULL, ON_ANY, 1, ALL_MAX, AT_MOST, "2N log(N) + N", "Raynal 5.4",
         NULL, NULL},
        {"dolev-klawe-rodeh", NULL, ON_ANY, 4, ALL_MAX, OF_ORDER, "N log(N)", "Raynal 5.1, 5.4",
         NULL, NULL},
        {"dolev-klawe-rodeh", NULL, ON_ANY, 1, ALL_MAX, AT_LEAST, "0.15N log(N)",
         "Raynal 5.5.2, Burns", NULL, NULL},
        {"dolev-klawe-rodeh", NULL, ON_ANY, 1, ALL_MAX, EXACTLY, "2N floor(log(N)) + N", NULL, NULL,
         NULL},
        {"dolev-klawe-rodeh", NULL, ON_ANY, 2, ALL_MIN, EXACTLY, "3N", NULL, NULL, NULL},
        {"dolev-klawe-rodeh", NULL, ON_ANY, 1, ANNOUNCEMENT_MAX, EXACTLY, "N", NULL, NULL, NULL},
        {"dolev-klawe-rodeh", "variant=peterson2", ON_ANY, 4, ALL_MAX, OF_ORDER, "1.44N log(N)",
         "Raynal 5.5.2", NULL, NULL},
        {"dolev-klawe-rodeh", "variant=peterson2", ON_ANY, 1, ALL_MAX, AT_LEAST, "0.15N log(N)",
         "Raynal 5.5.2, Burns", NULL, NULL},
        {"dolev-klawe-rodeh", "variant=peterson2", ON_ANY, 1, ALL_MAX, AT_MOST, "N(F(N) + 1)", NULL,
         NULL, NULL},
        {"dolev-klawe-rodeh", "variant=peterson2", ON_ANY, 2, ALL_MIN, EXACTLY, "2N", NULL, NULL,
         NULL},

        {"franklin", NULL, ON_ANY, 1, ALL_MAX, AT_MOST, "2N(1 + log(N))", "Raynal 5.5.1", NULL,
         NULL},
        {"franklin", NULL, ON_ANY, 4, ALL_MAX, OF_ORDER, "N log(N)", "Raynal 5.5.1", NULL, NULL},
        {"franklin", NULL, ON_ANY, 1, ALL_MAX, AT_LEAST, "0.15N log(N)", "Raynal 5.5.2, Burns",
         NULL, NULL},
        {"franklin", NULL, ON_ANY, 1, ALL_MAX, EXACTLY, "2N(1 + floor(log(N)))", NULL, NULL, NULL},
        {"franklin", NULL, ON_ANY, 2, ALL_MIN, EXACTLY, "4N", NULL, NULL, NULL},

        {"korach-moran-zaks", NULL, ON_ANY, 4, ALL_MEAN, OF_ORDER, "N log(N)", "Raynal 5.5.3", NULL,
         NULL},
        {"korach-moran-zaks", NULL, ON_ANY, 4, ALL_MAX, OF_ORDER, "N log(N)", "Raynal 5.5.3", NULL,
         NULL},
        {"korach-moran-zaks", NULL, ON_ANY, 1, ALL_MAX, AT_MOST, "4N H(N) - 2N - 2", NULL, NULL,
         NULL},
        {"korach-moran-zaks", NULL, ON_ANY, 1, ONE_MAX, EXACTLY, "2(N - 1)", NULL, NULL, NULL},
        {"korach-moran-zaks", NULL, ON_ANY, 1, ANNOUNCEMENT_MAX, EXACTLY, "N - 1", NULL, NULL,
         NULL},

        {.algorithm = NULL},
};

static const struct headline headlines[] = {
        {"central", NULL, "0 or 3", "Neilsen 6.1, 6.2", false},
        {"lamport", NULL, "at most 3(N-1)", "Neilsen 2.1, 6.1; Raynal 3.1", false},
        {"lamport", "acknowledge=always", "3(N-1)", "Raynal 3.1", true},
        {"ricart-agrawala", NULL, "2(N-1)", "Neilsen 2.2, 6.1; Raynal 3.1; Suzuki-Kasami 1", false},
        {"carvalho-roucairol", NULL, "0 to 2(N-1)", "Neilsen 2.3, 6.1; Raynal 3.1", false},
        {"maekawa", NULL, "3 sqrt(N) to 7 sqrt(N)", "Neilsen 2.6, 6.1", false},
        {"suzuki-kasami", NULL, "0 or N", "Suzuki-Kasami 2; Neilsen 2.4, 6.1", false},
        {"suzuki-kasami-b", NULL, "N+(N-1)/L", "Suzuki-Kasami 3", false},
        {"suzuki-kasami-b", "L=10", "N+(N-1)/L", "Suzuki-Kasami 3", false},
        {"ricart-agrawala-token", NULL, "0 or N", "Raynal 3.6; Neilsen 2.4", false},
        {"singhal", NULL, "at most N", "Neilsen 2.5, 6.1", false},
        {"singhal", "text=printed:outdated", "at most N", "Neilsen 2.5, 6.1", true},
        {"raymond", NULL, "0 to 2D", "Neilsen 2.7, 6.1", false},
        {"neilsen", NULL, "0 to D+1", "Neilsen 6.1, 6.2", false},
        {"helary", NULL, "0, N to 2E+N-1", "Hélary 6", false},
        {"helary", "broadcast=flood", "0, at most 2E+N-1", "Hélary 3", true},
        {"chang-roberts", NULL, "N to N(N+1)/2", "Raynal 5.2", false},
        {"le-lann-election", NULL, "N^2", "Raynal 5.1", false},
        {"bully", NULL, "N^2", "Raynal 5.1", false},
        {"hirschberg-sinclair", NULL, "at most 8N(1+log N)", "Raynal 5.3", false},
        {"dolev-klawe-rodeh", NULL, "at most 2N log N+N", "Raynal 5.4", false},
        {"dolev-klawe-rodeh", "variant=peterson2", "1.44N log N+O(N)", "Raynal 5.5.2", false},
        {"franklin", NULL, "at most 2N(1+log N)", "Raynal 5.5.1", false},
        {"korach-moran-zaks", NULL, "O(N log N)", "Raynal 5.5.3", false},
};

static bool is_parameter(const char *parameter, const char *other)
{
	return parameter == NULL || other == NULL ? parameter == other
	                                          : strcmp(parameter, other) == 0;
}

bool claim_concerns(const struct paper_claim *claim, const struct algorithm *algorithm,
                    const char *parameter)
{
	return strcmp(claim->algorithm, algorithm->name) == 0 &&
	       is_parameter(claim->parameter, parameter);
}

bool claim_of_document(const struct algorithm *algorithm, enum quantity quantity)
{
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		if (claim_concerns(claim, algorithm, NULL) && claim->where != NULL &&
		    claim->quantity == quantity)
			return true;
	}
	return false;
}

const struct headline *headline_of(const struct algorithm *algorithm, const char *parameter)
{
	for (size_t i = 0; i < sizeof(headlines) / sizeof(*headlines); i++) {
		if (strcmp(headlines[i].algorithm, algorithm->name) == 0 &&
		    is_parameter(headlines[i].parameter, parameter))
			return &headlines[i];
	}
	return NULL;
}
