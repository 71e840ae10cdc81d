/*
 * The texts of `baton help COMMAND`.
 */
#ifndef CLI_HELP_TEXTS_H
#define CLI_HELP_TEXTS_H

/* The text of a command, or a part of it: C limits the length of one. Parts follow each other. */
struct help_text {
	const char *name;
	const char *text;
};

/* For the commands of the lock service; the last has no name. */
extern const struct help_text service_helps[];

#endif
