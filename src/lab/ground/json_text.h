/*
 * Just enough JSON for what a scenario expects of variables, which are described as compact JSON
 * (core/writer.h): a value brought into that same form can be compared as text.
 */
#ifndef LAB_JSON_TEXT_H
#define LAB_JSON_TEXT_H

#include "text.h"

/*
 * Appends the value in compact form, its strings escaped as the writer escapes them. False if the
 * string is not exactly one JSON value: then what was appended means nothing. An object with a
 * member that occurs twice and a whole number beyond 64 bits are refused.
 */
bool json_compact(const char *value, struct text *text);

/* A member of an object: both texts as they are written, the name without its quotes. */
struct json_member {
	const char *name, *value;
	size_t name_length, value_length;
};

/* Goes through the members of an object in compact form. `at` is the object at first, then what the
 * last call returned; NULL when there is no member left. */
const char *json_next_member(const char *at, struct json_member *ret_member);

/* False if the object, in compact form, has no member of that name. */
bool json_find_member(const char *object, const char *name, struct json_member *ret_member);

#endif
