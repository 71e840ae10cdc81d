#include "strangers.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

uint64_t strangers_network(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	uint64_t network = 0;

	if (address->sa_family == AF_INET)
		return ((const struct sockaddr_in *)address)->sin_addr.s_addr;
	if (address->sa_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		memcpy(&network, six->sin6_addr.s6_addr + 12, 4);
	else
		memcpy(&network, six->sin6_addr.s6_addr, sizeof(network));
	return network;
}

uint32_t strangers_choose(const uint64_t *networks, uint32_t count)
{
	uint32_t chosen = 0, most = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t alike = 0;
		/* This network was counted already. In a flood from one network, that is so for
		 * nearly all. */
		if (most > 0 && networks[i] == networks[chosen]) {
			chosen = i;
			continue;
		}
		for (uint32_t k = 0; k < count; k++)
			alike += networks[k] == networks[i];
		if (alike >= most) {
			most = alike;
			chosen = i;
		}
	}
	return chosen;
}
