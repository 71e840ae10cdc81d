#include "table.h"

#include "tame.h"

#include <stdio.h>

void table_age(char *room, size_t size, json_int_t ms)
{
	if (ms < 1000)
		snprintf(room, size, "%lldms", (long long)ms);
	else if (ms < 120000)
		snprintf(room, size, "%llds", (long long)ms / 1000);
	else if (ms < 7200000)
		snprintf(room, size, "%lldm", (long long)ms / 60000);
	else if (ms < 172800000)
		snprintf(room, size, "%lldh", (long long)ms / 3600000);
	else
		snprintf(room, size, "%lldd", (long long)ms / 86400000);
}

void table_cell(const char *text, int width, bool last)
{
	int columns = 0, total = 0;

	for (const char *c = text; *c != '\0'; c++)
		total += (*c & 0xc0) != 0x80;
	for (const char *c = text; *c != '\0'; c++) {
		if ((*c & 0xc0) != 0x80) {
			if (total > width && columns == width - 1) {
				fputs("…", stdout);
				columns++;
				break;
			}
			columns++;
		}
		putchar(tame_is_control(*c) ? '?' : *c);
	}
	if (!last)
		printf("%*s", width - columns + 2, "");
}
