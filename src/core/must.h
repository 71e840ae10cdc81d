/*
 * must(): an assertion that stays in release builds. If the condition is false, our code has a bug;
 * bad input and lack of memory (base/memory.h) are never handled this way. The process prints file,
 * line and condition and aborts, before it can do harm.
 */
#ifndef CORE_MUST_H
#define CORE_MUST_H

#define must(condition) ((condition) ? (void)0 : must_failed(__FILE__, __LINE__, #condition))

/* Core cannot print, so the program that links it must define this function. Base has one that
 * aborts. */
__attribute__((cold, noreturn)) void must_failed(const char *file, int line, const char *condition);

#endif
