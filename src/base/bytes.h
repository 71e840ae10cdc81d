/*
 * Numbers of fixed size in bytes, little-endian. Numbers with seven bits in each byte are in
 * core/wire.h.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Writes a number. Returns where the next byte goes. */
static inline uint8_t *bytes_put_u32(uint8_t *bytes, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
	return bytes + sizeof(value);
}

static inline uint8_t *bytes_put_u64(uint8_t *bytes, uint64_t value)
{
	value = htole64(value);
	memcpy(bytes, &value, sizeof(value));
	return bytes + sizeof(value);
}

static inline uint32_t bytes_get_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static inline uint64_t bytes_get_u64(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

#endif
