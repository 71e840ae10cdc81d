#include "memory.h"

#include <sysexits.h>
#include <unistd.h>

static int exit_code = EX_OSERR;

void memory_exit_set(int code)
{
	exit_code = code;
}

void memory_failed(void)
{
	static const char words[] = "baton: out of memory\n";
	ssize_t written = write(STDERR_FILENO, words, sizeof(words) - 1);

	(void)written; /* if even this fails, nobody can be told */
	_exit(exit_code);
}
