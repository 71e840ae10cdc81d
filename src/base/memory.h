/*
 * Running out of memory. This is neither a bug (must.h) nor bad input: the process says so in one
 * line and ends, with an exit code that the command chooses.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

/* For the results of malloc and the like: memory_must(pointer != NULL). */
#define memory_must(condition) ((condition) ? (void)0 : memory_failed())

/* Prints "baton: out of memory" and ends the process without writing buffered output. */
__attribute__((cold, noreturn)) void memory_failed(void);

/* Sets the exit code of memory_failed; it is 71 (EX_OSERR of <sysexits.h>) unless set. */
void memory_exit_set(int code);

#endif
