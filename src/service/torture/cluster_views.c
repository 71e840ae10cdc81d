/*
 * Questions about the views of a cluster.
 */
#include "cluster.h"

const struct cluster_view *cluster_latest(const struct cluster *cluster)
{
	return cluster->views_count == 0 ? NULL : &cluster->views[cluster->views_count - 1];
}

uint32_t cluster_member(const struct cluster *cluster, const struct cluster_view *view,
                        uint32_t place)
{
	for (uint32_t i = 0; i < view->members_count; i++) {
		if (view->places[i] == place &&
		    view->incarnations[i] == cluster->places[place].incarnation)
			return i + 1;
	}
	return 0;
}

const struct cluster_view *cluster_view_of(const struct cluster *cluster, uint32_t place,
                                           uint64_t epoch)
{
	for (size_t i = cluster->views_count; i > 0; i--) {
		const struct cluster_view *view = &cluster->views[i - 1];
		if (view->epoch == epoch && (view->told >> place & 1) != 0 &&
		    cluster_member(cluster, view, place) != 0)
			return view;
	}
	return NULL;
}
