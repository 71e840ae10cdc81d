#include "registry.h"

#include <string.h>

extern const struct algorithm central;
extern const struct algorithm lamport;
extern const struct algorithm ricart_agrawala;
extern const struct algorithm carvalho_roucairol;
extern const struct algorithm maekawa;
extern const struct algorithm suzuki_kasami;
extern const struct algorithm suzuki_kasami_b;
extern const struct algorithm ricart_agrawala_token;
extern const struct algorithm singhal;
extern const struct algorithm raymond;
extern const struct algorithm neilsen;
extern const struct algorithm helary;
extern const struct algorithm dijkstra_ring;
extern const struct algorithm le_lann;
extern const struct algorithm misra;
extern const struct algorithm chang_roberts;
extern const struct algorithm le_lann_election;
extern const struct algorithm bully;
extern const struct algorithm hirschberg_sinclair;
extern const struct algorithm dolev_klawe_rodeh;
extern const struct algorithm franklin;
extern const struct algorithm korach_moran_zaks;

const struct algorithm *const algorithms[] = {
        &central,
        &lamport,
        &ricart_agrawala,
        &carvalho_roucairol,
        &maekawa,
        &suzuki_kasami,
        &suzuki_kasami_b,
        &ricart_agrawala_token,
        &singhal,
        &raymond,
        &neilsen,
        &helary,
        &dijkstra_ring,
        &le_lann,
        &misra,
        &chang_roberts,
        &le_lann_election,
        &bully,
        &hirschberg_sinclair,
        &dolev_klawe_rodeh,
        &franklin,
        &korach_moran_zaks,
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
