/*
 * A comparison as a page with plots.
 */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include "compare.h"

/*
 * The page with plots needs more than the table: for the plots against load, rates from idle to
 * saturated at one of the sizes. `ret_rates` must stay as long as the options.
 */
enum { PAGE_RATES = 11 };
void page_plan_rates(struct compare_options *options, uint64_t ret_rates[PAGE_RATES]);
/* A page that needs no other file. `command` is what made it. */
void page_write(const struct comparison *comparison, const char *command, const char *version,
                FILE *file);

#endif
