#include "tame.h"

void tame_text(char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool high = i + 1 < size && (unsigned char)bytes[i] == 0xc2 &&
		            ((unsigned char)bytes[i + 1] & 0xe0) == 0x80;
		if (tame_is_control(bytes[i]) || high)
			bytes[i] = '?';
		if (high)
			bytes[++i] = '?';
	}
}
