/*
 * The error codes of baton. 0 and positive numbers are success, these are the rest; one list gives
 * the enumeration, the texts and the documentation.
 */
#ifndef BATON_ERROR_H
#define BATON_ERROR_H

#define BATON_ERRORS(X)                                                                            \
	X(BATON_EMESSAGE, -1, "malformed message: bad length, bad type, or a value out of range")

enum baton_error {
#define BATON_ERROR_ENUM(name, code, text) name = (code),
	BATON_ERRORS(BATON_ERROR_ENUM)
#undef BATON_ERROR_ENUM
};

#endif
