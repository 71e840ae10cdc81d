/*
 * Shared by page.c and the other files that write a comparison's page: how subjects look, the
 * figures, and the text about them.
 */
#ifndef LAB_COMPARISON_PAGE_H
#define LAB_COMPARISON_PAGE_H

#include "compare.h"
#include "plot.h"

/* A group of algorithms that work alike. They have the same colour. */
struct family {
	const char *title;
	enum kind kind;
	unsigned colour;
};

/* All families, in the order of the legend. The last element has a NULL `title`. */
extern const struct family families[];
const struct family *family_of(const struct algorithm *algorithm);

struct page_subject {
	char name[64]; /* the subject's name, such as "suzuki-kasami-b L=10" */
	const char *label;
	const struct family *family;
	unsigned mark;
};

enum figure_kind { FIGURE_MESSAGES, FIGURE_WAITING, FIGURE_BYTES, FIGURE_ELECTIONS, FIGURES };
enum { PANELS_MAX = 2 };

struct figure {
	enum figure_kind kind;
	const char *id, *title;
	struct plot plots[PANELS_MAX];
	size_t plots_count;  /* how many plots there are; 0: there is nothing to show */
	const char *missing; /* why there is nothing to show, if plots_count is 0 */
};

struct comparison_page {
	const struct comparison *comparison;
	const char *command, *version;
	/* The subjects of the comparison, in the same order. */
	struct page_subject *subjects;
	double *ticks[2]; /* for each kind, the sizes that have a tick */
	size_t ticks_count[2];
	const char *titles[LOAD_POISSON + 1]; /* the titles of the loads */
	char poisson_title[80];
	struct figure figures[FIGURES];
};

/* Makes subjects and figures. The caller frees them with page_free. */
void page_make(struct comparison_page *page);
void page_free(struct comparison_page *page);

/* Writes a paragraph about what a panel of a figure shows. */
void write_seen(const struct comparison_page *page, const struct figure *figure, size_t panel,
                FILE *file);

/* Write the tables of the measurements, and the claims. A table shows the rows of one size at a
 * time; write_size_rules writes the style rules that hide the others. */
void write_size_rules(const struct comparison_page *page, FILE *file);
void write_tables(const struct comparison_page *page, FILE *file);
void write_claims(const struct comparison_page *page, FILE *file);

#endif
