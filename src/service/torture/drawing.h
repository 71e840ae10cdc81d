/*
 * Draws a run as a space-time diagram (SVG): a row for each host with its processes, leases, views
 * and holds, and the faults above them. Time goes from left to right.
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
	DRAWN_START,   /* a process starts */
	DRAWN_END,     /* a process ends */
	DRAWN_VIEW,    /* number: the epoch of the view */
	DRAWN_LEASE,   /* number: until when the lease lasts, in true time */
	DRAWN_GRANT,   /* number: the client, other: the lock */
	DRAWN_RELEASE, /* number: the client, other: the lock that it no longer holds */
	DRAWN_FAULT,   /* number: the fault, other: when it ends, text: what it is */
	DRAWN_WRONG,   /* text: what is wrong */
};

/* Adds something to the drawing. `text` is copied, and may be NULL. */
void drawing_add(struct run_drawing *drawing, enum drawn_kind kind, uint64_t time, uint32_t place,
                 uint64_t number, uint64_t other, const char *text);
/* Has a process started at this place? */
bool drawing_has_process(const struct run_drawing *drawing, uint32_t place);
/* Writes the drawing as SVG. Returns false if the file could not be written. */
bool drawing_write(const struct run_drawing *drawing, FILE *file, const char *const *names,
                   uint32_t names_count, const char *title);

#endif
