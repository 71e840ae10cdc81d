/*
 * What `--help` and `baton help` print, within 80 columns.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const char general[] =
        "baton: only one of many machines may act, and why that works\n"
        "\n"
        "usage: baton COMMAND [OPTIONS]\n"
        "\n"
        "The laboratory\n"
        "  algorithms   list the algorithms, or print the page of one\n"
        "  sim          run an algorithm in virtual time and measure it\n"
        "  check        try every interleaving of a small system\n"
        "  replay       follow a scenario step by step and test what it expects\n"
        "  compare      all algorithms on the same work, beside what is claimed\n"
        "  choose       which algorithm for a network and a load\n"
        "\n"
        "  help COMMAND, COMMAND --help   tell more, with examples\n"
        "  --version                      tell which baton this is\n"
        "\n"
        "Exit: 0 it held, 1 a property is violated, 2 bad usage or input,\n"
        "3 a limit was reached before an answer.\n"
        "\n"
        "example: baton sim neilsen --nodes 10 --load light\n";

#define NETWORK_HELP                                                                               \
	"The network\n"                                                                            \
	"  --nodes N          how many nodes, numbered 1..N (default 5)\n"                         \
	"  --topology T       complete, ring, line, star, tree:K, radiating:K, grid:RxC,\n"        \
	"                     random:D, edges:1-2,2-3,..., file:PATH (an edge a line);\n"          \
	"                     of neilsen the logical tree. Default: the algorithm's best\n"        \
	"  --holder I         who has the token at the start (default 1)\n"                        \
	"  --fifo, --reorder  do channels keep order? Default: the weakest that the\n"             \
	"                     algorithm tolerates\n"                                               \
	"  --param NAME=VALUE a parameter of the algorithm, see 'baton algorithms NAME'\n"         \
	"Elections\n"                                                                              \
	"  --arrangement A    identifiers round the ring: increasing (sim's default),\n"           \
	"                     decreasing, random, or a list such as 3,1,4,2\n"                     \
	"  --initiators I     places that begin: all (sim's default), one, random:K, 2,5\n"        \
	"  --crash 4,5        places that are dead (bully)\n"

static const struct {
	const char *name;
	const char *text;
} helps[] = {
        {"algorithms", "usage: baton algorithms [--json] [NAME]\n"
                       "\n"
                       "A row for each algorithm, or the page of one: idea, variables, messages,\n"
                       "assumptions, bounds, corrections to the published text, parameters.\n"
                       "\n"
                       "  --json   one JSON object\n"
                       "\n"
                       "examples:\n"
                       "  baton algorithms\n"
                       "  baton algorithms neilsen\n"},
        {"sim", "usage: baton sim ALGORITHM [OPTIONS]\n"
                "\n"
                "Run an algorithm in virtual time. The same arguments and seed give the same\n"
                "result on every machine.\n"
                "\n" NETWORK_HELP "The work\n"
                "  --entries E        critical sections in all (default 1000)\n"
                "  --load L           light: somebody asks when all is quiet; heavy: everybody\n"
                "                     asks again at once; poisson:RATE (default heavy)\n"
                "  --delay DIST       of a message: constant:D, uniform:A,B, exp:M\n"
                "                     (default constant:1)\n"
                "  --cs DIST          time inside the critical section (default constant:1)\n"
                "  --seed S           (default 1)\n"
                "  --seeds A..B       a run for each seed\n"
                "  --bound D          what timers take for the longest delay of a message\n"
                "                     (bully; default: the longest of --delay)\n"
                "  --lose P           lose each message with probability P\n"
                "  --lose-token N,... lose the token at its N-th hop\n"
                "What comes out\n"
                "  --json             one JSON object\n"
                "  --trace FILE       what happened, as JSON lines\n"
                "  --diagram FILE.svg what happened, as a space-time diagram\n"
                "\n"
                "Exit 1 if mutual exclusion was violated, or somebody waits and nothing can\n"
                "happen; of an election, if not all agree on one leader.\n"
                "\n"
                "examples:\n"
                "  baton sim neilsen --nodes 10 --load light --entries 200000\n"
                "  baton sim suzuki-kasami --delay exp:1 --seeds 1..1000 --json\n"
                "  baton sim chang-roberts --nodes 8 --arrangement decreasing\n"},
        {"check",
         "usage: baton check ALGORITHM [OPTIONS]\n"
         "\n"
         "Try every interleaving of requests, exits and deliveries of a small system; of\n"
         "an election, with every set of initiators and, up to 5 nodes, every arrangement\n"
         "of the identifiers, unless --initiators and --arrangement say which.\n"
         "\n" NETWORK_HELP "The search\n"
         "  --entries K        of each node (default 1); K,K,...: node by node;\n"
         "                     unlimited, where the number of states is finite\n"
         "  --lose-token       also the loss of any one token message at a time\n"
         "  --max-states N     give up beyond N states, exit 3 (threads: a few more)\n"
         "  --max-memory SIZE  such as 500M or 4G (default 8G, or three quarters of what\n"
         "                     the machine allows if that is less; at most 16G)\n"
         "  --timeout TIME     such as 250ms, 30s, 2m; a bare number is seconds\n"
         "  --threads N        (default 1); the counts are the same\n"
         "  --reduce           of an election with --fifo: leave out steps that commute\n"
         "                     with those that remain. The verdicts and the numbers of\n"
         "                     messages are the same, there are fewer states\n"
         "What comes out\n"
         "  --json             one JSON object\n"
         "  --trace FILE.scn   the shortest counterexample, for 'baton replay'\n"
         "\n"
         "Exit 1 with the counterexample if anything is violated.\n"
         "\n"
         "examples:\n"
         "  baton check suzuki-kasami --nodes 3 --entries 2\n"
         "  baton check neilsen --topology line --nodes 4 --entries unlimited\n"},
        {"replay",
         "usage: baton replay FILE.scn [OPTIONS]\n"
         "\n"
         "Follow a scenario, a schedule and what must be true along it; '-' is standard\n"
         "input. The first expectation that fails is printed as FILE:LINE, exit 1.\n"
         "\n"
         "  --json               one JSON object\n"
         "  --trace FILE         what happened, as JSON lines\n"
         "  --diagram FILE.svg   what happened, as a space-time diagram\n"
         "\n"
         "A scenario:\n"
         "  algorithm neilsen\n"
         "  topology line\n"
         "  nodes 3\n"
         "  request 3\n"
         "  deliver 3 2 REQUEST\n"
         "  expect 2 NEXT=3\n"
         "  run\n"
         "  expect 3 in\n"
         "\n"
         "An election has 'arrangement 3,1,2', 'crash 3', 'initiate 1', 'expect 2 leader',\n"
         "'expect leader 3' (whoever knows a leader knows 3). 'expire I' lets a timer run\n"
         "out; 'expect invariant NAME' is about the whole system.\n"
         "\n"
         "example: baton replay test/scenarios/neilsen/figure-6.scn\n"},
        {"compare",
         "usage: baton compare [OPTIONS]\n"
         "\n"
         "Every algorithm on the same work, beside the bounds that the documents claim.\n"
         "\n"
         "  --nodes 4,16,64    the sizes, from 1 to 1024 (this is the default; with --html\n"
         "                     2,4,8,16,32,64 and, for elections, 128,256)\n"
         "  --algorithms a,b,c (default all)\n"
         "  --topology T       of all, as in 'baton help sim'; whom it does not suit is\n"
         "                     left out. Default: the best for each\n"
         "  --load L           only this one: light, heavy or poisson:RATE (default light\n"
         "                     and heavy); elections have none\n"
         "  --entries E        of each run (default 1000)\n"
         "  --seeds A..B       a run for each seed, where chance has a say; of elections,\n"
         "                     an arrangement (default 1..20)\n"
         "  --threads T        (default one for each processor); the result is the same\n"
         "What comes out\n"
         "  --json             one JSON object: \"rows\", each with what was measured and\n"
         "                     its \"claims\"; \"left_out\"; how many \"claims\" held, and\n"
         "                     of these how many that follow from the \"rules\"\n"
         "  --csv              a line of names, then a line for each row; the names are\n"
         "                     the paths in the JSON rows, as heavy_sync_delay_max\n"
         "  --claims           what the documents claim of these algorithms, and where;\n"
         "                     nothing is run. With --json: {\"claims\":[...]}\n"
         "  --html FILE        also a page that needs no other file: plots against the\n"
         "                     size and against the load, what is seen in them, tables,\n"
         "                     claims. Unless --load says which, loads from idle to\n"
         "                     saturated are tried, at the greatest size up to 16\n"
         "                     (in JSON: \"poisson\")\n"
         "\n"
         "Light load: one request at a time; the messages for an entry, mean, fewest and\n"
         "most (with delays that vary, too). Heavy load: all want in all the time;\n"
         "messages and bytes for an entry, sync: mean message delays from an exit to the\n"
         "next entry, pass: the most entries of others between a request and its entry.\n"
         "Claimed: messages as a document has them (which one is said below), '-' if none\n"
         "does; held: how many claims of documents held, of how many if not all, and\n"
         "behind a '+' the same of what no document claims, but follows from the rules.\n"
         "Bytes in a node (mean) and in the largest token. Elections: messages when\n"
         "all begin, over random arrangements; tell: messages to announce the leader.\n"
         "\n"
         "A claim that is known to be wrong is marked '*', and told below why. Exit 1 if a\n"
         "claim that ought to hold does not ('!').\n"
         "\n"
         "examples:\n"
         "  baton compare\n"
         "  baton compare --nodes 2,4,8,16,32,64 --algorithms neilsen,raymond,central\n"
         "  baton compare --topology ring --load heavy --csv\n"
         "  baton compare --claims --algorithms maekawa\n"
         "  baton compare --html compare.html\n"},
        {"choose",
         "usage: baton choose [OPTIONS]\n"
         "\n"
         "Which algorithm of mutual exclusion? Each that the network allows is tried on\n"
         "it; the least product of messages for an entry and message delays wins. The\n"
         "delay is from request to entry, or, when all want in all the time, from an exit\n"
         "to the next entry. Hops of a token that nobody wants count as messages, and\n"
         "where load may be light a token that never rests is left out.\n"
         "\n"
         "  --nodes N          from 1 to 1024 (default 5, or what the topology has)\n"
         "  --topology T       the links that there are, as in 'baton help sim' (default\n"
         "                     complete). Where all are linked each algorithm has its\n"
         "                     best shape; raymond may use a spanning tree\n"
         "  --load L           light, heavy or poisson:RATE (default: light and heavy, the\n"
         "                     geometric mean of both products)\n"
         "  --seed S           (default 1)\n"
         "  --json             one JSON object: \"recommended\", \"runner_up\", \"reason\",\n"
         "                     \"assumptions\", all \"candidates\" by cost, \"left_out\"\n"
         "\n"
         "examples:\n"
         "  baton choose --nodes 16\n"
         "  baton choose --topology grid:4x4 --load heavy\n"},
        {"help", "usage: baton help [COMMAND]\n"
                 "\n"
                 "example: baton help sim\n"},
};

void print_help(const char *command)
{
	for (size_t i = 0; command != NULL && i < sizeof(helps) / sizeof(*helps); i++) {
		if (strcmp(helps[i].name, command) == 0) {
			fputs(helps[i].text, stdout);
			return;
		}
	}
	fputs(general, stdout);
}
