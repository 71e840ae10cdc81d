#include "validity.h"

#include "clock.h"
#include "sublease.h"
#include "word.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LAPSE_BITS = 16 };
static const uint64_t lapse_mask = (UINT64_C(1) << LAPSE_BITS) - 1;

uint64_t validity_now(void)
{
	return clock_lease_ns();
}

/* --- memory --- */

bool validity_map(struct validity *validity, int fd)
{
	/* If others could shrink the memory, reading it would crash this process. */
	const int needed = F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat stat;

	if (seals < 0 || (seals & needed) != needed || fstat(fd, &stat) != 0 ||
	    stat.st_size < (off_t)sizeof(uint64_t))
		return false;
	void *memory = mmap(NULL, sizeof(uint64_t), PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	validity->word = memory;
	return true;
}

bool validity_expect(struct validity *validity)
{
	void *memory = mmap(NULL, sizeof(struct validity_answers), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	validity->answers = memory;
	return true;
}

void validity_free(struct validity *validity)
{
	if (validity->word != NULL)
		munmap(validity->word, sizeof(uint64_t));
	if (validity->answers != NULL)
		munmap(validity->answers, sizeof(struct validity_answers));
	*validity = (struct validity){.source = VALIDITY_NONE};
}

/* --- the time left --- */

/* Reads the clock after the word: if the process is suspended in between, it compares an old
 * deadline with a later time, and so can only stop too early. */
static uint64_t left_by_word(const struct validity *validity, bool *ret_lapsed)
{
	uint64_t word = atomic_load_explicit(validity->word, memory_order_acquire);
	uint64_t deadline_ms = word >> LAPSE_BITS, now_ns = validity_now() + validity->ahead_ns;

	*ret_lapsed = ((word ^ validity->lapses) & lapse_mask) != 0;
	if (*ret_lapsed)
		return 0;
	if (deadline_ms == UINT64_MAX >> LAPSE_BITS)
		return VALIDITY_FOREVER;
	return deadline_ms * VALIDITY_MS > now_ns ? deadline_ms * VALIDITY_MS - now_ns : 0;
}

uint64_t validity_left_ns(const struct validity *validity, bool *ret_lapsed)
{
	const struct validity_answers *answers = validity->answers;

	if (validity->source == VALIDITY_WORD)
		return left_by_word(validity, ret_lapsed);
	*ret_lapsed = answers != NULL && answers->lapses != validity->lapses;
	if (*ret_lapsed)
		return 0;
	uint64_t until_ns = answers != NULL ? answers->until_ns : VALIDITY_FOREVER;
	if (until_ns == VALIDITY_FOREVER)
		return until_ns;
	uint64_t now_ns = validity_now();
	return until_ns > now_ns ? until_ns - now_ns : 0;
}

/* --- answers --- */

void validity_note(struct validity *validity, uint64_t asked_ns, uint64_t lapses, int64_t left_ms)
{
	struct validity_answers *answers = validity->answers;
	uint64_t left_ns = (uint64_t)left_ms * VALIDITY_MS;
	uint64_t until_ns = left_ms < 0 ? VALIDITY_FOREVER : sublease_end(asked_ns, left_ns);

	/* An earlier answer may promise a later end. It still counts, unless the node has lapsed
	 * since. */
	if (until_ns > answers->until_ns || lapses != answers->lapses)
		answers->until_ns = until_ns;
	answers->lapses = lapses;
	answers->ask_ns = left_ms < 0
	                          ? VALIDITY_FOREVER
	                          : validity_now() + sublease_interval(validity->lease_ns, left_ns);
}

bool validity_is_pending(const struct validity *validity)
{
	return validity->answers != NULL && validity->answers->pending;
}

/* Reads the lapses and what is left of the lease. Returns false if the two values are something
 * else. */
static bool parse_left(const redisReply *lapses, const redisReply *left, uint64_t *ret_lapses,
                       int64_t *ret_left_ms)
{
	bool ends = left->type == REDIS_REPLY_INTEGER && left->integer >= 0;

	if (lapses->type != REDIS_REPLY_INTEGER || lapses->integer < 0 ||
	    (!ends && left->type != REDIS_REPLY_NIL))
		return false;
	*ret_lapses = (uint64_t)lapses->integer;
	*ret_left_ms = ends ? left->integer : -1;
	return true;
}

bool validity_take(struct validity *validity, const redisReply *reply)
{
	uint64_t lapses;
	int64_t left_ms;

	if (!validity_is_pending(validity) || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements != 2 ||
	    !parse_left(reply->element[0], reply->element[1], &lapses, &left_ms))
		return false;
	validity_note(validity, validity->answers->asked_ns, lapses, left_ms);
	validity->answers->pending = false;
	return true;
}

bool grant_parse(const redisReply *reply, struct lock_grant *ret_grant)
{
	struct lock_grant grant = {.left_ms = -1};
	const redisReply *fence = reply;

	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3) {
		fence = reply->element[0];
		if (!parse_left(reply->element[1], reply->element[2], &grant.lapses,
		                &grant.left_ms))
			return false;
	}
	if (fence->type != REDIS_REPLY_INTEGER || fence->integer <= 0 ||
	    fence_verify((uint64_t)fence->integer) != 0)
		return false;
	grant.fence = (uint64_t)fence->integer;
	*ret_grant = grant;
	return true;
}
