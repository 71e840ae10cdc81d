/*
 * must(): an assertion that stays in release builds. A condition that is false is a bug of ours,
 * never bad input and never a lack of memory (base/memory.h). The process prints file, line and
 * condition and aborts, before it can do harm.
 */
#ifndef CORE_MUST_H
#define CORE_MUST_H

#define must(condition) ((condition) ? (void)0 : must_failed(__FILE__, __LINE__, #condition))

/* Core cannot print, so the program that links it must define this function. Base has one that
 * aborts. */
__attribute__((cold, noreturn)) void must_failed(const char *file, int line, const char *condition);

#endif
