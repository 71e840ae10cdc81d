#include "why.h"

#include <stdarg.h>
#include <stdio.h>

int why_set(struct why *why, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return code;
}
