/*
 * The fixture of the lock node's tests: cmocka, and some nodes that are new in each test.
 */
#ifndef TEST_NODE_FIXTURE_H
#define TEST_NODE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nodes.h"

static struct nodes nodes;

static inline int setup_nodes(void **state)
{
	(void)state;
	memset(&nodes, 0, sizeof(nodes));
	return 0;
}

static inline int teardown_nodes(void **state)
{
	(void)state;
	nodes_end(&nodes);
	return 0;
}

/* Restarts the fixture inside a test. */
static inline void again(void)
{
	nodes_end(&nodes);
	memset(&nodes, 0, sizeof(nodes));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_nodes, teardown_nodes)

#endif
