/*
 * Many runs in one: of each figure the mean over the runs, and where the true mean is with 95 %
 * confidence, by Student's distribution.
 */
#ifndef LAB_SUMMARY_H
#define LAB_SUMMARY_H

#include <jansson.h>
#include <stdint.h>

/* The quantile that 97.5 % do not exceed, for so many degrees of freedom; at least 1. */
double student_quantile(uint64_t freedom);

/*
 * Of an array of reports (sim_report, election_report): {"messages.per_entry": {"mean": 2.6,
 * "ci95": [2.5, 2.7]}, …}, for every number in them that can differ from run to run, but not for
 * times of the machine. Null where a run has none are left out; "ci95" is null if fewer than two
 * runs have one.
 */
json_t *summary_make(const json_t *runs);

/* How many of the runs have a number at that path, such as "messages.total". */
size_t summary_count(const json_t *runs, const char *path);

#endif
