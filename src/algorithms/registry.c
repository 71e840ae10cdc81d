#include "registry.h"

#include <string.h>

extern const struct algorithm central;
extern const struct algorithm suzuki_kasami;
extern const struct algorithm neilsen;

const struct algorithm *const algorithms[] = {
        &central,
        &suzuki_kasami,
        &neilsen,
        NULL,
};

const struct algorithm *algorithm_find(const char *name)
{
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		if (strcmp(algorithms[i]->name, name) == 0)
			return algorithms[i];
	}
	return NULL;
}
