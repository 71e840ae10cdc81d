#include "addresses.h"

#include "member_state.h"

#include <stdio.h>
#include <string.h>

/* Has the driver store the address of a name, or forget it if the address is NULL. */
static void store(struct member *member, const char *name, const char *address)
{
	size_t name_size = strlen(name) + 1,
	       address_size = address != NULL ? strlen(address) + 1 : 0;
	struct outcome *outcome = outcome_add(member, MEMBER_ADDRESS, name_size + address_size);

	memcpy(outcome->text, name, name_size);
	outcome->effect.address.name = outcome->text;
	if (address == NULL)
		return;
	memcpy(outcome->text + name_size, address, address_size);
	outcome->effect.address.address = outcome->text + name_size;
}

/* Is this the name of a member or voter, or an address that was given without a name? */
static bool is_used(const struct member *member, const char *name)
{
	const struct tenant *tenant = member_tenant(member);

	if (name[0] == '\0' || tenant == NULL)
		return true;
	struct tenant_view view = tenant_view(tenant);
	for (uint32_t i = 0; i < view.seats_count; i++) {
		if (strcmp(view.seats[i].name, name) == 0)
			return true;
	}
	return electors_find(tenant_electors(tenant), name) != NULL;
}

/* Forgets an address that is not used. Returns false if there is none. */
static bool forget_one(struct member *member)
{
	struct electors *addresses = &member->addresses;

	for (uint32_t i = 0; i < addresses->count; i++) {
		if (is_used(member, addresses->list[i].name))
			continue;
		store(member, addresses->list[i].name, NULL);
		addresses->count--;
		memmove(&addresses->list[i], &addresses->list[i + 1],
		        (addresses->count - i) * sizeof(*addresses->list));
		return true;
	}
	return false;
}

void addresses_remember(struct member *member, const char *name, const char *address)
{
	const struct elector *known = electors_find(&member->addresses, name);

	if (strcmp(name, member->identity.name) == 0 || name[0] == '\0' || address[0] == '\0' ||
	    (known != NULL && strcmp(known->address, address) == 0))
		return;
	if (known == NULL && member->addresses.count >= ADDRESSES_MAX && !forget_one(member))
		return;
	if (known != NULL)
		snprintf(((struct elector *)known)->address, sizeof(known->address), "%s", address);
	else
		electors_add(&member->addresses, 0, entry_text_of(name), entry_text_of(address));
	store(member, name, address);
}
