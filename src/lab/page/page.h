/*
 * Shows a comparison as an HTML page with plots.
 */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include "compare.h"

/*
 * The page needs more measurements than the table: for the plots against load, rates from idle to
 * saturated at one of the sizes. This adds them to the options. `ret_rates` must live as long as
 * the options.
 */
enum { PAGE_RATES = 11 };
void page_plan_rates(struct compare_options *options, uint64_t ret_rates[PAGE_RATES]);
/* Writes the page, which needs no other file. `command` is the command line that made it. */
void page_write(const struct comparison *comparison, const char *command, const char *version,
                FILE *file);

#endif
