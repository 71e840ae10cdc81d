/*
 * The report of a run: one JSON object, as the command line prints it.
 */
#ifndef LAB_SIM_REPORT_H
#define LAB_SIM_REPORT_H

#include "sim.h"

#include <jansson.h>

/* Returns the report of a run as JSON. `load` is the load as it was given. */
json_t *sim_report(const struct sim_options *options, const char *load,
                   const struct sim_result *result, double seconds);

/* Returns the report of an election as JSON. */
json_t *election_report(const struct sim_options *options, const struct sim_result *result,
                        double seconds);

#endif
