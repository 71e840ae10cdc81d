/*
 * Turns numbers into JSON for reports.
 */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include <jansson.h>
#include <math.h>

/* Returns a JSON integer for a whole number, and null for NAN. */
static inline json_t *report_number(double value)
{
	if (isnan(value))
		return json_null();
	return fabs(value) < 1e18 && value == (double)(json_int_t)value
	               ? json_integer((json_int_t)value)
	               : json_real(value);
}

#endif
