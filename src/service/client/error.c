#include <baton/baton.h>

const char *baton_error_text(int error)
{
	switch (error) {
#define ERROR_TEXT(name, code, text)                                                               \
	case code:                                                                                 \
		return text;
		BATON_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
	default:
		return error < 0 ? "an error that this version does not know" : "no error";
	}
}

const char *baton_error_name(int error)
{
	switch (error) {
#define ERROR_NAME(name, code, text)                                                               \
	case code:                                                                                 \
		return #name;
		BATON_ERRORS(ERROR_NAME)
#undef ERROR_NAME
	default:
		return error < 0 ? "unknown" : "0";
	}
}
