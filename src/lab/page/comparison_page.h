/*
 * What the files that write the page of a comparison (page.c) share: how its subjects look,
 * its figures, and what is seen in them.
 */
#ifndef LAB_COMPARISON_PAGE_H
#define LAB_COMPARISON_PAGE_H

#include "compare.h"
#include "plot.h"

/* Those that work alike have one colour. */
struct family {
	const char *title;
	enum kind kind;
	unsigned colour;
};

/* In the order of a legend; `title` is NULL at the end. */
extern const struct family families[];
const struct family *family_of(const struct algorithm *algorithm);

struct page_subject {
	char name[64]; /* "suzuki-kasami-b L=10" */
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
	size_t plots_count;  /* 0: there is nothing to show */
	const char *missing; /* then why */
};

struct comparison_page {
	const struct comparison *comparison;
	const char *command, *version;
	struct page_subject *subjects; /* as those of the comparison */
	double *ticks[2];              /* sizes of either kind */
	size_t ticks_count[2];
	const char *titles[LOAD_POISSON + 1]; /* of the loads */
	char poisson_title[80];
	struct figure figures[FIGURES];
};

/* Subjects and figures; to be freed. */
void page_make(struct comparison_page *page);
void page_free(struct comparison_page *page);

/* A paragraph about a panel of a figure, all from its points. */
void write_seen(const struct comparison_page *page, const struct figure *figure, size_t panel,
                FILE *file);

/* The tables of what was measured, and of what was claimed. The tables show the rows of one size
 * at a time; the rules for that belong to the page's style. */
void write_size_rules(const struct comparison_page *page, FILE *file);
void write_tables(const struct comparison_page *page, FILE *file);
void write_claims(const struct comparison_page *page, FILE *file);

#endif
