/*
 * must(): an assertion that stays in release builds and needs no library. A false one is a bug of
 * ours, never bad input; the process stops on the spot, before it can do harm.
 */
#ifndef CORE_MUST_H
#define CORE_MUST_H

#define must(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
