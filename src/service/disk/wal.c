/*
 * The format is SQLite's (https://www.sqlite.org/fileformat2.html#walformat): a header of 32 bytes,
 * then frames of 24 bytes and a page each. A frame's checksum continues that of the frame before
 * it.
 */
#include "wal.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 32, FRAME_HEADER = 24, MAGIC = 0x377f0682, VERSION = 3007000 };

struct checksum {
	uint32_t a, b;
};

static uint32_t read_big(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static uint32_t read_word(const uint8_t *bytes, bool big)
{
	uint32_t word = read_big(bytes);

	return big ? word : __builtin_bswap32(word);
}

/* `size` must be a multiple of 8. */
static struct checksum continue_checksum(struct checksum sum, const uint8_t *bytes, size_t size,
                                         bool big)
{
	for (const uint8_t *end = bytes + size; bytes < end; bytes += 8) {
		sum.a += read_word(bytes, big) + sum.b;
		sum.b += read_word(bytes + 4, big) + sum.a;
	}
	return sum;
}

static struct checksum stored_checksum(const uint8_t *bytes)
{
	return (struct checksum){read_big(bytes), read_big(bytes + 4)};
}

static bool same_checksum(struct checksum left, struct checksum right)
{
	return left.a == right.a && left.b == right.b;
}

struct frames {
	const uint8_t *header;
	const uint8_t *bytes;
	size_t page, count;
	bool big;
};

static const uint8_t *frame_at(const struct frames *frames, size_t place)
{
	return frames->bytes + place * (FRAME_HEADER + frames->page);
}

/* Computes the checksum that the frame should have, if `before` is that of the frame before it. */
static struct checksum expected_checksum(const struct frames *frames, size_t place,
                                         struct checksum before)
{
	const uint8_t *frame = frame_at(frames, place);
	struct checksum sum = continue_checksum(before, frame, 8, frames->big);

	return continue_checksum(sum, frame + FRAME_HEADER, frames->page, frames->big);
}

/* Checks the salts too, because frames that an earlier log left in the file have other salts. */
static bool is_frame(const struct frames *frames, size_t place, struct checksum before)
{
	const uint8_t *frame = frame_at(frames, place);

	return memcmp(frame + 8, frames->header + 16, 8) == 0 && read_big(frame) != 0 &&
	       same_checksum(expected_checksum(frames, place, before), stored_checksum(frame + 16));
}

static enum wal_verdict judge_frames(const struct frames *frames)
{
	struct checksum before = stored_checksum(frames->header + 24);
	size_t good = 0;

	while (good < frames->count && is_frame(frames, good, before))
		before = stored_checksum(frame_at(frames, good++) + 16);
	for (size_t place = good + 1; place < frames->count; place++) {
		const uint8_t *last = frame_at(frames, place - 1);
		/* The frame after the bad one continues either the checksum that the bad frame
		 * stores or the one that its content gives: only one of the two may be damaged. */
		if (is_frame(frames, place, stored_checksum(last + 16)))
			return WAL_DAMAGED;
		if (place == good + 1 &&
		    is_frame(frames, place, expected_checksum(frames, good, before)))
			return WAL_DAMAGED;
	}
	return WAL_SOUND;
}

static enum wal_verdict judge(const uint8_t *bytes, size_t size)
{
	/* There are no frames. At worst a crash has torn the header, so nothing is lost. */
	if (size <= HEADER)
		return WAL_SOUND;
	uint32_t magic = read_big(bytes);
	bool big = (magic & 1) != 0;
	uint32_t page = read_big(bytes + 8);
	struct checksum sum = continue_checksum((struct checksum){0, 0}, bytes, 24, big);
	if ((magic & ~UINT32_C(1)) != MAGIC || read_big(bytes + 4) != VERSION || page < 512 ||
	    page > 65536 || (page & (page - 1)) != 0 ||
	    !same_checksum(sum, stored_checksum(bytes + 24)))
		return WAL_DAMAGED;
	return judge_frames(&(struct frames){
	        .header = bytes,
	        .bytes = bytes + HEADER,
	        .page = page,
	        .count = (size - HEADER) / (FRAME_HEADER + page),
	        .big = big,
	});
}

/* Returns false and sets errno on failure. */
static bool read_whole(int fd, uint8_t *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t now = read(fd, bytes + done, size - done);
		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0) {
			errno = now == 0 ? EIO : errno;
			return false;
		}
		done += (size_t)now;
	}
	return true;
}

enum wal_verdict wal_examine(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? WAL_SOUND : WAL_UNREADABLE;
	enum wal_verdict verdict = WAL_UNREADABLE;
	if (fstat(fd, &status) == 0) {
		size_t size = (size_t)status.st_size;
		uint8_t *bytes = malloc(size + 1);
		memory_must(bytes != NULL);
		if (read_whole(fd, bytes, size))
			verdict = judge(bytes, size);
		free(bytes);
	}
	int problem = errno;
	close(fd);
	errno = problem;
	return verdict;
}
