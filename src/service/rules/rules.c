#include "rules.h"

#include "glob.h"
#include "grow.h"
#include "memory.h"
#include "must.h"
#include "numbers.h"
#include "tame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum who_kind { WHO_UID, WHO_USER, WHO_GID, WHO_GROUP, WHO_CERT, WHO_ANYONE };

/* The subject of a rule. A user or group that was given by name is stored as its number. */
struct who {
	enum who_kind kind; /* WHO_UID, WHO_GID, WHO_CERT or WHO_ANYONE */
	uint32_t id;
	char *certificate; /* WHO_CERT: a pattern for the name in a certificate */
};

struct rule {
	char *pattern;
	size_t literal; /* how many bytes at the beginning of the pattern stand for themselves */
	unsigned verbs;
	struct who *who;
	size_t who_count, who_size;
};

struct rules {
	struct rule *list;
	size_t count, size;
};

const struct rules rules_nothing = {.list = NULL};

static const char *const verb_names[] = {"lock",  "elect", "observe", "status",
                                         "break", "admin", NULL};
/* The words by which a rule names its subjects, in the order of enum who_kind. */
static const char *const who_names[] = {"uid", "user", "gid", "group", "cert", "anyone", NULL};

const char *verb_name(enum verb verb)
{
	unsigned i = 0;

	while (i < VERBS_COUNT && verb != 1U << i)
		i++;
	must(i < VERBS_COUNT);
	return verb_names[i];
}

/* --- memory --- */

struct rules *rules_create(void)
{
	struct rules *rules = calloc(1, sizeof(*rules));

	memory_must(rules != NULL);
	return rules;
}

static void free_rule(struct rule *rule)
{
	for (size_t i = 0; i < rule->who_count; i++)
		free(rule->who[i].certificate);
	free(rule->who);
	free(rule->pattern);
}

void rules_destroy(struct rules *rules)
{
	if (rules == NULL)
		return;
	for (size_t i = 0; i < rules->count; i++)
		free_rule(&rules->list[i]);
	free(rules->list);
	free(rules);
}

static char *copy(const char *text)
{
	char *copied = strdup(text);

	memory_must(copied != NULL);
	return copied;
}

/* --- reading a rule --- */

/* Writes "'lok' is not a verb: did you mean 'lock'?", or all names if none is similar. */
static int unknown(const char *word, const char *what, const char *const *names,
                   const char *examples, struct problem *problem)
{
	const char *nearest = nearest_name(word, names);

	return nearest != NULL
	               ? problem_set(problem, "'%.60s' is not a %s: did you mean '%s'?", word, what,
	                             nearest)
	               : problem_set(problem, "'%.60s' is not a %s: %s", word, what, examples);
}

static int index_of(const char *word, const char *const *names)
{
	for (int i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], word) == 0)
			return i;
	}
	return -1;
}

static int read_verbs(struct rule *rule, char *words, struct problem *problem)
{
	char *word;

	while ((word = strsep(&words, ",")) != NULL) {
		int verb = index_of(word, verb_names);
		if (verb < 0)
			return unknown(word, "verb", verb_names,
			               "lock, elect, observe, status, break or admin", problem);
		rule->verbs |= 1U << verb;
	}
	if ((rule->verbs & VERB_ADMIN) != 0 && strcmp(rule->pattern, "*") != 0)
		return problem_set(problem,
		                   "admin is about the whole cluster: its pattern is *, not "
		                   "'%.60s'",
		                   rule->pattern);
	return 0;
}

static int read_number(const char *text, enum who_kind kind, struct who *who,
                       struct problem *problem)
{
	const char *by_name = kind == WHO_UID ? "user" : "group";
	uint64_t number;
	struct problem wrong;

	/* The system uses the greatest number for "none". */
	if (parse_number(text, 0, UINT32_MAX - 1, "", &number, &wrong) != 0)
		return problem_set(problem,
		                   "'%s:%.60s': a number from 0 to 4294967294 is needed; write a "
		                   "name as %s:NAME",
		                   who_names[kind], text, by_name);
	*who = (struct who){.kind = kind, .id = (uint32_t)number};
	return 0;
}

static int read_name(const char *text, enum who_kind kind, rules_lookup *lookup, struct who *who,
                     struct problem *problem)
{
	bool group = kind == WHO_GROUP;
	uint32_t id;

	if (lookup(group, text, &id) != 0 || id == SUBJECT_NOBODY)
		return problem_set(
		        problem,
		        "'%s:%.60s': this host has no such %s; write a number as %s:NUMBER",
		        who_names[kind], text, who_names[kind], group ? "gid" : "uid");
	*who = (struct who){.kind = group ? WHO_GID : WHO_UID, .id = id};
	return 0;
}

static int read_who(struct who *who, char *word, rules_lookup *lookup, struct problem *problem)
{
	static const char examples[] =
	        "uid:1000, user:NAME, gid:100, group:NAME, cert:PATTERN or anyone";
	char *value = strchr(word, ':');

	if (value != NULL)
		*value++ = '\0';
	int kind = index_of(word, who_names);
	if (kind < 0)
		return unknown(word, "user, group or certificate", who_names, examples, problem);
	if (kind == WHO_ANYONE && value != NULL)
		return problem_set(problem, "'anyone' takes no value");
	if (kind != WHO_ANYONE && (value == NULL || *value == '\0'))
		return problem_set(problem, "'%s' needs a value: %s", word, examples);
	switch ((enum who_kind)kind) {
	case WHO_UID:
	case WHO_GID:
		return read_number(value, (enum who_kind)kind, who, problem);
	case WHO_USER:
	case WHO_GROUP:
		return read_name(value, (enum who_kind)kind, lookup, who, problem);
	case WHO_CERT:
		*who = (struct who){.kind = WHO_CERT, .certificate = copy(value)};
		return 0;
	case WHO_ANYONE:
		*who = (struct who){.kind = WHO_ANYONE};
		return 0;
	}
	return -1;
}

/* Takes the next word; NULL: there is none. A blank after a backslash does not end the word. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t"), *end = word;

	while (*end != '\0' && *end != ' ' && *end != '\t')
		end += *end == '\\' && end[1] != '\0' ? 2 : 1;
	*rest = end + (*end != '\0');
	*end = '\0';
	return *word != '\0' ? word : NULL;
}

static int read_rule(struct rule *rule, char *text, rules_lookup *lookup, struct problem *problem)
{
	static const char needed[] =
	        "PATTERN VERB[,VERB...] WHO..., such as 'backup/* lock uid:1000'";
	char *pattern = next_word(&text), *word;

	if (pattern != NULL && strcmp(pattern, "allow") == 0)
		pattern = next_word(&text);
	char *verbs = next_word(&text);
	if (pattern == NULL || verbs == NULL)
		return problem_set(problem, "a rule needs %s", needed);
	if (strlen(pattern) > RULE_PATTERN_MAX)
		return problem_set(problem, "a pattern has at most %d bytes", RULE_PATTERN_MAX);
	rule->pattern = copy(pattern);
	rule->literal = strcspn(pattern, "*?[\\");
	if (read_verbs(rule, verbs, problem) != 0)
		return -1;
	while ((word = next_word(&text)) != NULL) {
		if (rule->who_count == RULE_WHO_MAX)
			return problem_set(problem,
			                   "at most %d users, groups and certificates in a rule",
			                   RULE_WHO_MAX);
		rule->who =
		        grow(rule->who, &rule->who_size, rule->who_count + 1, sizeof(*rule->who));
		rule->who[rule->who_count] = (struct who){0};
		if (read_who(&rule->who[rule->who_count], word, lookup, problem) != 0)
			return -1;
		rule->who_count++;
	}
	return rule->who_count > 0
	               ? 0
	               : problem_set(problem, "nobody is named: a rule needs %s", needed);
}

int rules_add(struct rules *rules, const char *text, rules_lookup *lookup, struct problem *problem)
{
	struct rule rule = {0};

	if (rules->count == RULES_MAX)
		return problem_set(problem, "at most %d rules", RULES_MAX);
	char *words = copy(text);
	int result = read_rule(&rule, words, lookup, problem);
	free(words);
	if (result != 0) {
		free_rule(&rule);
		return -1;
	}
	rules->list = grow(rules->list, &rules->size, rules->count + 1, sizeof(*rules->list));
	rules->list[rules->count++] = rule;
	return 0;
}

/* --- deciding --- */

static bool matches(const char *pattern, const char *text, size_t size)
{
	struct slice wanted = {(const uint8_t *)pattern, (uint32_t)strlen(pattern)};
	struct slice given = {(const uint8_t *)text, (uint32_t)size};

	return glob_matches(wanted, given);
}

/* Is the rule about this lock? For most rules the first bytes already differ, and the pattern need
 * not be matched. */
static bool names(const struct rule *rule, const char *name, size_t size)
{
	return size >= rule->literal && memcmp(rule->pattern, name, rule->literal) == 0 &&
	       matches(rule->pattern, name, size);
}

static bool is_meant(const struct who *who, const struct subject *subject)
{
	switch (who->kind) {
	case WHO_UID:
		return who->id == subject->uid;
	case WHO_GID:
		for (uint32_t i = 0; i < subject->gids_count; i++) {
			if (subject->gids[i] == who->id)
				return true;
		}
		return false;
	case WHO_CERT:
		return subject->certificate != NULL &&
		       matches(who->certificate, subject->certificate,
		               strlen(subject->certificate));
	case WHO_ANYONE:
		return true;
	case WHO_USER:
	case WHO_GROUP:
		break;
	}
	must(false); /* names were replaced by numbers */
}

static bool is_about(const struct rule *rule, const struct subject *subject)
{
	for (size_t i = 0; i < rule->who_count; i++) {
		if (is_meant(&rule->who[i], subject))
			return true;
	}
	return false;
}

unsigned rules_verbs(const struct rules *rules, const struct subject *subject, const char *name,
                     size_t size)
{
	unsigned verbs = 0;

	if (rules == NULL)
		return VERBS_ALL;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->list[i];
		if ((rule->verbs & ~verbs) != 0 && names(rule, name, size) &&
		    is_about(rule, subject))
			verbs |= rule->verbs;
	}
	return verbs;
}

unsigned rules_verbs_somewhere(const struct rules *rules, const struct subject *subject)
{
	unsigned verbs = 0;

	if (rules == NULL)
		return VERBS_ALL;
	for (size_t i = 0; i < rules->count; i++) {
		if (is_about(&rules->list[i], subject))
			verbs |= rules->list[i].verbs;
	}
	return verbs;
}

bool rules_allow(const struct rules *rules, const struct subject *subject, unsigned verbs,
                 const char *name, size_t size)
{
	if (rules == NULL)
		return true;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->list[i];
		if ((rule->verbs & verbs) != 0 && names(rule, name, size) &&
		    is_about(rule, subject))
			return true;
	}
	return false;
}

const char *rules_pattern(const struct rules *rules, const struct subject *subject, enum verb verb,
                          size_t *next)
{
	while (*next < rules->count) {
		const struct rule *rule = &rules->list[(*next)++];
		if ((rule->verbs & verb) != 0 && is_about(rule, subject))
			return rule->pattern;
	}
	return NULL;
}

/* --- the rule that is missing --- */

/* May this be shown on a line as it is? */
static bool is_tame(const char *text, size_t size)
{
	char tame[RULE_PATTERN_MAX];

	if (size > sizeof(tame))
		return false;
	memcpy(tame, text, size);
	tame_text(tame, size);
	return memcmp(tame, text, size) == 0;
}

/*
 * Writes the object as a word of a rule: a name as a pattern that only this name matches, a pattern
 * as it is. Backslashes are added where a rule needs them. Returns false if the word would have
 * more than `most` bytes, or cannot be written.
 */
static bool write_pattern(const struct object *object, size_t most, char *room)
{
	const char *text = object->text;
	size_t used = 0, size = object->size;

	/* In a set, a backslash before a blank may have another meaning. */
	if (size == 0 || !is_tame(text, size) ||
	    (object->pattern && memchr(text, ' ', size) != NULL && memchr(text, '[', size) != NULL))
		return false;
	for (size_t i = 0; i < size; i++) {
		bool escapes = object->pattern && text[i] == '\\' && i + 1 < size;
		/* In a file, "allow =" begins a line of another kind. */
		bool special = text[i] == ' ' || (i == 0 && text[i] == '=') ||
		               (!object->pattern && strchr("*?[]^", text[i]) != NULL) ||
		               (text[i] == '\\' && !escapes);
		if (used + 1 + (special || escapes) > most)
			return false;
		if (special)
			room[used++] = '\\';
		room[used++] = text[i];
		if (escapes)
			room[used++] = text[++i];
	}
	room[used] = '\0';
	return true;
}

bool rules_missing(const struct subject *subject, enum verb verb, const struct object *object,
                   char ret_text[RULES_MISSING_MAX])
{
	char pattern[RULE_PATTERN_MAX + 1] = "*";
	char certificate[2 * RULE_PATTERN_MAX + 1] = "", who[32] = "anyone";

	if (object->text != NULL && !write_pattern(object, RULE_PATTERN_MAX, pattern))
		return false;
	if (subject->certificate != NULL) {
		struct object name = {.text = subject->certificate,
		                      .size = strlen(subject->certificate)};
		/* A blank at the end of a line is lost. */
		if (!write_pattern(&name, sizeof(certificate) - 1, certificate) ||
		    name.text[name.size - 1] == ' ')
			return false;
		snprintf(who, sizeof(who), "cert:");
	} else if (subject->uid != SUBJECT_NOBODY) {
		snprintf(who, sizeof(who), "uid:%u", subject->uid);
	}
	snprintf(ret_text, RULES_MISSING_MAX, "allow %s %s %s%s", pattern, verb_name(verb), who,
	         certificate);
	return true;
}
