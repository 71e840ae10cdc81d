/*
 * The settings of a cluster, which are fixed when it is born: algorithm, topology or links,
 * parameters and lease. This file turns options into a text, which is the same at all nodes that
 * were given the same options. It also turns the text of the cluster that a node joins into the
 * form that the daemon needs.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "daemon.h"
#include "setup.h"

/* The settings as they were given. The caller owns the texts, which must outlive the settings. */
struct settings_words {
	const char *algorithm, *topology, *links; /* texts of options; NULL: not given */
	const char *parameters[SETUP_PARAMETERS_MAX];
	size_t parameters_count;
	const char *lease; /* the text of --lease; NULL: not given */
};

struct settings;

/* Returns NULL and a problem if the words are wrong, or do not suit a cluster whose members
 * change. */
struct settings *settings_create(const struct settings_words *words, struct problem *problem);
void settings_destroy(struct settings *settings);

/*
 * Returns a line "name = value" for each setting, in a fixed order: what was given, and the
 * defaults for the rest. Valid as long as the settings.
 */
const char *settings_text(const struct settings *settings);

/*
 * The function `resolve` of struct daemon_options; `context` is a struct settings. The result is
 * valid as long as the context. A setting that was not given never counts as different.
 */
int settings_resolve(void *context, const char *text, struct daemon_settings *ret_settings,
                     struct problem *problem);

#endif
