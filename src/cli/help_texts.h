/*
 * The texts of `baton help COMMAND`.
 */
#ifndef CLI_HELP_TEXTS_H
#define CLI_HELP_TEXTS_H

/* The text of a command, or a part of it. Long texts have several parts in a row, because C limits
 * the length of a string literal. */
struct help_text {
	const char *name;
	const char *text;
};

/* The texts for the commands of the lock service. The last element has no name. */
extern const struct help_text service_helps[];

#endif
