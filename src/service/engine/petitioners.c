#include "petitioners.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

static void free_lists(struct petitioner *petitioner)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): drop overwrites the freed entry. */
	free(petitioner->lacks);
	free(petitioner->unreported);
}

void petitioners_free(struct petitioners *petitioners)
{
	for (uint32_t i = 0; i < petitioners->count; i++)
		free_lists(&petitioners->list[i]);
	free(petitioners->list);
	*petitioners = (struct petitioners){0};
}

struct petitioner *petitioners_find(const struct petitioners *petitioners, uint64_t process)
{
	for (uint32_t i = 0; i < petitioners->count; i++) {
		if (petitioners->list[i].process == process)
			return &petitioners->list[i];
	}
	return NULL;
}

static void copy_list(struct process_list list, uint64_t **array, size_t *size, uint32_t *ret_count)
{
	*array = grow(*array, size, list.left, sizeof(**array));
	*ret_count = 0;
	while (list.left != 0 && process_next(&list, &(*array)[*ret_count]))
		++*ret_count;
}

static void copy_text(char *to, struct entry_text text)
{
	memcpy(to, text.bytes, text.size);
	to[text.size] = '\0';
}

bool petitioners_know(const struct petitioners *petitioners, struct entry_text name)
{
	for (uint32_t i = 0; i < petitioners->count; i++) {
		if (entry_text_is(name, petitioners->list[i].name))
			return true;
	}
	return false;
}

/* --- versions --- */

static const struct petitioner *find_server(const struct petitioners *petitioners, uint64_t server)
{
	for (uint32_t i = 0; i < petitioners->count; i++) {
		if (petitioners->list[i].server == server)
			return &petitioners->list[i];
	}
	return NULL;
}

static void limit_version(const struct petitioner *petitioner, uint64_t *version)
{
	if (petitioner == NULL)
		*version = 0;
	else if (petitioner->version < *version)
		*version = petitioner->version;
}

uint64_t petitioners_version(const struct petitioners *petitioners,
                             const struct agreed_state *state, const struct electors *electors)
{
	uint64_t version = UINT64_MAX;

	for (uint32_t i = 0; i < state->seats_count; i++)
		limit_version(petitioners_find(petitioners, state->seats[i].process), &version);
	for (uint32_t i = 0; i < electors->count; i++) {
		uint64_t server = electors->list[i].server;
		if (server != 0)
			limit_version(find_server(petitioners, server), &version);
	}
	return version == UINT64_MAX ? 0 : version;
}

/* --- petitions --- */

static void drop(struct petitioners *petitioners, struct petitioner *petitioner)
{
	free_lists(petitioner);
	*petitioner = petitioners->list[--petitioners->count];
}

/* If many processes of this name are known, forgets the one that was silent for longest. */
static void drop_namesake(struct petitioners *petitioners, struct entry_text name)
{
	struct petitioner *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < petitioners->count; i++) {
		struct petitioner *petitioner = &petitioners->list[i];
		if (!entry_text_is(name, petitioner->name))
			continue;
		count++;
		if (oldest == NULL || petitioner->heard < oldest->heard)
			oldest = petitioner;
	}
	if (count >= PETITIONERS_NAMESAKES_MAX)
		drop(petitioners, oldest);
}

static struct petitioner *add(struct petitioners *petitioners, const struct petition *petition,
                              uint64_t now)
{
	drop_namesake(petitioners, petition->name);
	if (petitioners->count == PETITIONERS_MAX)
		return NULL;
	petitioners->list = grow(petitioners->list, &petitioners->size, petitioners->count + 1UL,
	                         sizeof(*petitioners->list));
	struct petitioner *petitioner = &petitioners->list[petitioners->count++];
	memset(petitioner, 0, sizeof(*petitioner));
	petitioner->process = petition->process;
	petitioner->since = now;
	return petitioner;
}

/* Ignores a petition with a smaller number than the last: petitions may overtake each other. */
struct petitioner *petitioners_take(struct petitioners *petitioners,
                                    const struct petition *petition, uint64_t now)
{
	struct petitioner *petitioner = petitioners_find(petitioners, petition->process);

	if (petitioner == NULL)
		petitioner = add(petitioners, petition, now);
	if (petitioner == NULL || petition->number <= petitioner->number)
		return NULL;
	copy_text(petitioner->name, petition->name);
	copy_text(petitioner->address, petition->address);
	petitioner->incarnation = petition->incarnation;
	petitioner->number = petition->number;
	petitioner->acknowledged = petition->acknowledged;
	petitioner->lease_ns = petition->lease_ns;
	petitioner->epoch = petition->epoch;
	petitioner->limit = petition->limit;
	petitioner->prospect = petition->prospect;
	petitioner->electors = petition->electors;
	petitioner->server = petition->server;
	petitioner->witness = petition->witness;
	petitioner->version_least = petition->version_least;
	petitioner->version = petition->version;
	petitioner->active = petition->active;
	if (petition->leaving && !petitioner->leaving)
		petitioner->leaving_since = now;
	petitioner->leaving = petition->leaving;
	petitioner->removed = petition->removed;
	copy_list(petition->lacks, &petitioner->lacks, &petitioner->lacks_size,
	          &petitioner->lacks_count);
	copy_list(petition->unreported, &petitioner->unreported, &petitioner->unreported_size,
	          &petitioner->unreported_count);
	petitioner->heard = now;
	if (petitioner->told != 0 && petitioner->acknowledged >= petitioner->told)
		petitioner->told = 0;
	return petitioner;
}

void petitioners_forget(struct petitioners *petitioners, uint64_t before)
{
	for (uint32_t i = 0; i < petitioners->count;) {
		if (petitioners->list[i].heard >= before)
			i++;
		else
			drop(petitioners, &petitioners->list[i]);
	}
}
