#include "electorate.h"

#include "grow.h"
#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

/* A server of the log, and when it was last heard. */
struct server_note {
	uint64_t id, heard;
	bool seen;
};

struct electorate_memory {
	struct electorate_options options;
	uint64_t began;
	struct server_note *notes;
	uint32_t notes_count;
	size_t notes_size;
};

struct electorate_memory *electorate_create(const struct electorate_options *options)
{
	struct electorate_memory *electorate = calloc(1, sizeof(*electorate));

	memory_must(electorate != NULL);
	electorate->options = *options;
	return electorate;
}

void electorate_destroy(struct electorate_memory *electorate)
{
	free(electorate->notes);
	free(electorate);
}

void electorate_begin(struct electorate_memory *electorate, uint64_t now)
{
	electorate->began = now;
	electorate->notes_count = 0;
}

uint32_t electorate_size(uint32_t able, uint32_t voters, uint32_t lost)
{
	/* If one of four voters is lost, they must not become five: they count as three, and the
	 * lost one gets a successor. */
	if (able >= 7 || (able >= 5 && (voters >= 5 || voters - lost >= 4)))
		return 5;
	/* Two voters are a step between one and three, or what is left while one of three is
	 * replaced. */
	return able >= 3 || voters >= 2 ? 3 : 1;
}

/* The input of one decision about the electorate. */
struct looking {
	struct electorate_memory *electorate;
	const struct electorate_server *servers;
	uint32_t servers_count;
	const struct standing *standing;
	uint32_t standing_count;
	uint64_t now;
	uint32_t voters, lost; /* how many voters there are, and how many of them are lost */
	/* The voter that makes room for a server which an operator wants; NULL: none. It counts as
	 * lost. */
	const struct electorate_server *displaced;
};

/* --- lost voters --- */

static struct server_note *get_note(struct electorate_memory *electorate, uint64_t id)
{
	for (uint32_t i = 0; i < electorate->notes_count; i++) {
		if (electorate->notes[i].id == id)
			return &electorate->notes[i];
	}
	electorate->notes = grow(electorate->notes, &electorate->notes_size,
	                         electorate->notes_count + 1UL, sizeof(*electorate->notes));
	struct server_note *note = &electorate->notes[electorate->notes_count++];
	*note = (struct server_note){.id = id, .heard = electorate->began};
	return note;
}

static const struct standing *find_standing(const struct looking *looking, uint64_t server)
{
	for (uint32_t i = 0; i < looking->standing_count; i++) {
		if (looking->standing[i].server == server)
			return &looking->standing[i];
	}
	return NULL;
}

static const struct electorate_server *find_server(const struct looking *looking, uint64_t id)
{
	for (uint32_t i = 0; i < looking->servers_count; i++) {
		if (looking->servers[i].id == id)
			return &looking->servers[i];
	}
	return NULL;
}

static void take_notes(struct looking *looking)
{
	struct electorate_memory *electorate = looking->electorate;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < electorate->notes_count; i++)
		electorate->notes[i].seen = false;
	for (uint32_t i = 0; i < looking->servers_count; i++) {
		struct server_note *note = get_note(electorate, looking->servers[i].id);
		note->seen = true;
		if (find_standing(looking, note->id) != NULL)
			note->heard = looking->now;
	}
	for (uint32_t i = 0; i < electorate->notes_count; i++) {
		if (electorate->notes[i].seen)
			electorate->notes[kept++] = electorate->notes[i];
	}
	electorate->notes_count = kept;
}

/* Does a member or witness with the server's name have another data directory? Then the server's
 * own directory is gone. */
static bool has_successor(const struct looking *looking, const struct electorate_server *server)
{
	for (uint32_t i = 0; i < looking->standing_count; i++) {
		const struct standing *standing = &looking->standing[i];
		if (standing->eligible && standing->server != server->id &&
		    strcmp(standing->name, server->name) == 0)
			return true;
	}
	return false;
}

static bool is_lost(const struct looking *looking, const struct electorate_server *server)
{
	const struct server_note *note = get_note(looking->electorate, server->id);

	return server->unwanted || server == looking->displaced || has_successor(looking, server) ||
	       note->heard + looking->electorate->options.replace_ns <= looking->now;
}

static void count_voters(struct looking *looking)
{
	for (uint32_t i = 0; i < looking->servers_count; i++) {
		if (!looking->servers[i].votes)
			continue;
		looking->voters++;
		looking->lost += is_lost(looking, &looking->servers[i]);
	}
}

/* --- candidates --- */

static bool votes(const struct looking *looking, const struct standing *standing)
{
	const struct electorate_server *server = find_server(looking, standing->server);

	return server != NULL && server->votes;
}

static bool is_able(const struct looking *looking, const struct standing *standing)
{
	return standing->eligible &&
	       standing->since + looking->electorate->options.grow_ns <= looking->now;
}

static uint32_t count_able(const struct looking *looking)
{
	uint32_t count = looking->voters - looking->lost;

	for (uint32_t i = 0; i < looking->standing_count; i++)
		count += is_able(looking, &looking->standing[i]) &&
		         !votes(looking, &looking->standing[i]);
	return count;
}

/* Nodes that an operator wants come first, then standbys, because they have begun to catch up, then
 * witnesses, which have nothing else to do. Among equals, the one that has been there longest comes
 * first. */
static bool comes_before(const struct looking *looking, const struct standing *a,
                         const struct standing *b)
{
	bool a_began = find_server(looking, a->server) != NULL;
	bool b_began = find_server(looking, b->server) != NULL;

	if (a->wanted != b->wanted)
		return a->wanted;
	if (a_began != b_began)
		return a_began;
	if (a->witness != b->witness)
		return a->witness;
	if (a->since != b->since)
		return a->since < b->since;
	return strcmp(a->name, b->name) < 0;
}

/* Returns the best node that is not chosen yet, or NULL if none is left. */
static const struct standing *choose(const struct looking *looking, const struct standing **chosen,
                                     uint32_t chosen_count)
{
	const struct standing *best = NULL;

	for (uint32_t i = 0; i < looking->standing_count; i++) {
		const struct standing *standing = &looking->standing[i];
		bool taken = !is_able(looking, standing) || votes(looking, standing);
		for (uint32_t k = 0; k < chosen_count; k++)
			taken |= chosen[k] == standing;
		if (!taken && (best == NULL || comes_before(looking, standing, best)))
			best = standing;
	}
	return best;
}

/* --- decisions --- */

static struct electorate_wish wish_to_remove(const struct electorate_server *server)
{
	return (struct electorate_wish){.kind = ELECTORATE_REMOVE, .server = server->id};
}

static bool is_gone(const struct looking *looking, const struct electorate_server *server)
{
	return !server->heard || has_successor(looking, server);
}

/* If this server is removed, could the other voters lose one more and still agree? They must be
 * able to: one of them may be lost already, without anybody having noticed. */
static bool can_spare(const struct looking *looking, const struct electorate_server *server)
{
	uint32_t others = 0, there = 0;

	for (uint32_t i = 0; i < looking->servers_count; i++) {
		const struct electorate_server *other = &looking->servers[i];
		if (other == server || !other->votes)
			continue;
		others++;
		there += !is_gone(looking, other);
	}
	return there != 0 && 2 * (there - 1) > others;
}

static struct electorate_wish remove_whose_disk_is_lost(const struct looking *looking)
{
	for (uint32_t i = 0; i < looking->servers_count; i++) {
		const struct electorate_server *server = &looking->servers[i];
		if (server->votes && has_successor(looking, server))
			return wish_to_remove(server);
	}
	return (struct electorate_wish){.kind = ELECTORATE_NOTHING};
}

/* Removes a lost voter. A voter that is really gone is removed first, because that costs no vote. A
 * forbidden voter that is still there is removed when it can be spared. */
static struct electorate_wish remove_lost(const struct looking *looking)
{
	const struct electorate_server *present = NULL;

	for (uint32_t i = 0; i < looking->servers_count; i++) {
		const struct electorate_server *server = &looking->servers[i];
		if (!server->votes || !is_lost(looking, server))
			continue;
		if (is_gone(looking, server))
			return wish_to_remove(server);
		present = server;
	}
	if (present != NULL && can_spare(looking, present))
		return wish_to_remove(present);
	return (struct electorate_wish){.kind = ELECTORATE_NOTHING};
}

/* Returns how valuable this voter is. If there is one voter too many, the least valuable one is
 * removed. A leader first hands over the lead. */
static uint32_t worth(const struct looking *looking, const struct electorate_server *server)
{
	uint32_t leads = server->leads, wanted = server->wanted,
	         present = !is_gone(looking, server);

	return leads + 2 * wanted + 4 * present;
}

/* Removes one of four voters, because four are no better than three. */
static struct electorate_wish remove_one(const struct looking *looking)
{
	const struct electorate_server *least = NULL;

	for (uint32_t i = looking->servers_count; i > 0; i--) {
		const struct electorate_server *server = &looking->servers[i - 1];
		if (server->votes &&
		    (least == NULL || worth(looking, server) < worth(looking, least)))
			least = server;
	}
	must(least != NULL);
	return wish_to_remove(least);
}

/* Removes a standby that is not needed or is gone. */
static struct electorate_wish remove_idle(const struct looking *looking,
                                          const struct standing **chosen, uint32_t chosen_count)
{
	for (uint32_t i = 0; i < looking->servers_count; i++) {
		const struct electorate_server *server = &looking->servers[i];
		bool wanted = server->votes;
		for (uint32_t k = 0; k < chosen_count; k++)
			wanted |= chosen[k]->server == server->id;
		if (!wanted)
			return wish_to_remove(server);
	}
	return (struct electorate_wish){.kind = ELECTORATE_NOTHING};
}

static struct electorate_wish bring_in(const struct looking *looking,
                                       const struct standing **chosen, uint32_t chosen_count,
                                       uint32_t size)
{
	for (uint32_t i = 0; i < chosen_count; i++) {
		if (find_server(looking, chosen[i]->server) == NULL)
			return (struct electorate_wish){ELECTORATE_STANDBY, chosen[i]->server,
			                                chosen[i]->name, chosen[i]->address};
	}
	for (uint32_t i = 0; i < chosen_count; i++) {
		if (!find_server(looking, chosen[i]->server)->caught_up)
			return (struct electorate_wish){.kind = ELECTORATE_NOTHING};
	}
	struct electorate_wish wish = remove_whose_disk_is_lost(looking);
	if (looking->voters >= size && wish.kind != ELECTORATE_NOTHING)
		return wish;
	return (struct electorate_wish){.kind = ELECTORATE_PROMOTE, .server = chosen[0]->server};
}

/* Chooses the voter that must make room for a node that an operator wants. One is chosen while the
 * wanted node does not vote yet, and also afterwards while the number of voters is even. None is
 * chosen if a voter is lost: then the wanted node takes the place of the lost one. */
static void displace(struct looking *looking)
{
	const struct electorate_server *least = NULL;
	uint32_t voters = 0, wanted_voters = 0, wanted_others = 0;

	for (uint32_t i = 0; i < looking->servers_count; i++) {
		const struct electorate_server *server = &looking->servers[i];
		if (server->votes && is_lost(looking, server))
			return;
		voters += server->votes;
		wanted_voters += server->votes && server->wanted;
		if (server->votes && !server->wanted &&
		    (least == NULL || worth(looking, server) <= worth(looking, least)))
			least = server;
	}
	for (uint32_t i = 0; i < looking->standing_count; i++)
		wanted_others += looking->standing[i].wanted &&
		                 is_able(looking, &looking->standing[i]) &&
		                 !votes(looking, &looking->standing[i]);
	if (voters > 1 && (wanted_others != 0 || (voters % 2 == 0 && wanted_voters != 0)))
		looking->displaced = least;
}

struct electorate_wish electorate_look(struct electorate_memory *electorate,
                                       const struct electorate_server *servers,
                                       uint32_t servers_count, const struct standing *standing,
                                       uint32_t standing_count, uint64_t now)
{
	enum { CHOSEN_MAX = 5 };
	struct looking looking = {electorate, servers, servers_count, standing, standing_count, now,
	                          0,          0,       NULL};
	const struct standing *chosen[CHOSEN_MAX];
	uint32_t chosen_count = 0;

	take_notes(&looking);
	displace(&looking);
	count_voters(&looking);
	uint32_t size = electorate_size(count_able(&looking), looking.voters, looking.lost);
	uint32_t living = looking.voters - looking.lost;
	while (size > 1 && living + chosen_count < size &&
	       (chosen[chosen_count] = choose(&looking, chosen, chosen_count)) != NULL)
		chosen_count++;
	struct electorate_wish idle = remove_idle(&looking, chosen, chosen_count);
	if (idle.kind != ELECTORATE_NOTHING)
		return idle;
	/* Go from one voter to three in one step, or not at all: two voters are weaker than one,
	 * because both are needed. */
	if (chosen_count != 0 && (looking.voters != 1 || living + chosen_count == size))
		return bring_in(&looking, chosen, chosen_count, size);
	if (looking.voters > size)
		return looking.lost != 0 ? remove_lost(&looking) : remove_one(&looking);
	return (struct electorate_wish){.kind = ELECTORATE_NOTHING};
}
