/*
 * A small part of JSON, for the values that a scenario expects variables to have. Algorithms
 * describe their variables as compact JSON (core/writer.h). An expected value is brought into the
 * same form, so that the two can be compared as text.
 */
#ifndef LAB_JSON_TEXT_H
#define LAB_JSON_TEXT_H

#include "text.h"

/*
 * Appends the value in compact form, with its strings escaped as the writer escapes them. Returns
 * false if the string is not exactly one JSON value; then the appended bytes mean nothing. An
 * object in which a member occurs twice is refused, and so is a whole number beyond 64 bits.
 */
bool json_compact(const char *value, struct text *text);

/* A member of an object: the name without its quotes, and the value as it is written. */
struct json_member {
	const char *name, *value;
	size_t name_length, value_length;
};

/* Visits the members of an object in compact form, one in each call. `at` is the object in the
 * first call, and then what the last call returned. Returns NULL when there are no more members. */
const char *json_next_member(const char *at, struct json_member *ret_member);

/* Finds a member of an object in compact form. Returns false if there is none of that name. */
bool json_find_member(const char *object, const char *name, struct json_member *ret_member);

#endif
