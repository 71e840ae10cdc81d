/*
 * Summarizes many runs: for each figure the mean over the runs, and the 95 % confidence interval of
 * the mean, by Student's distribution.
 */
#ifndef LAB_SUMMARY_H
#define LAB_SUMMARY_H

#include <jansson.h>
#include <stdint.h>

/* Returns the 97.5 % quantile of Student's distribution for this many degrees of freedom, at
 * least 1. */
double student_quantile(uint64_t freedom);

/*
 * Summarizes an array of reports (sim_report, election_report) as {"messages.per_entry": {"mean":
 * 2.6, "ci95": [2.5, 2.7]}, …}. It has a member for every number that can differ from run to run,
 * except times that depend on the machine. A run whose number is null does not count for that
 * member. "ci95" is null if fewer than two runs count.
 */
json_t *summary_make(const json_t *runs);

/* Returns how many of the runs have a number at a path such as "messages.total". */
size_t summary_count(const json_t *runs, const char *path);

#endif
