/*
 * What happened in a run, drawn as a space-time diagram (SVG): a row for each host with its
 * processes, leases, views and holds, and above them the faults. Time goes from left to right.
 */
#ifndef TORTURE_DRAWING_H
#define TORTURE_DRAWING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { DRAWING_ROWS_MAX = 17 };

struct run_drawing;

struct run_drawing *drawing_create(void);
void drawing_destroy(struct run_drawing *drawing);

enum drawn_kind {
	DRAWN_START,   /* of a process */
	DRAWN_END,     /* … */
	DRAWN_VIEW,    /* number: the epoch */
	DRAWN_LEASE,   /* number: until when it lasts, in true time */
	DRAWN_GRANT,   /* number: the client, other: the lock */
	DRAWN_RELEASE, /* … holds no more */
	DRAWN_FAULT,   /* number: of the fault, other: when it ends; text */
	DRAWN_WRONG,   /* text */
};

/* `text` is copied, and may be NULL. */
void drawing_add(struct run_drawing *drawing, enum drawn_kind kind, uint64_t time, uint32_t place,
                 uint64_t number, uint64_t other, const char *text);
/* False: it could not be written. */
bool drawing_write(const struct run_drawing *drawing, FILE *file, const char *const *names,
                   uint32_t names_count, const char *title);

#endif
