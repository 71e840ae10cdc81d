#include "maekawa_committees.h"

#include "must.h"

#include <string.h>

/* The largest plane that is made: its field of q^3 elements is written down while it is. */
enum { PLANE_ORDER_MAX = 128 };

/* The lists stand behind each other: of node i the elements first[i - 1] to first[i] - 1. */
struct committees {
	size_t capacity; /* of the members of all, and of the clients of all */
	size_t first[];  /* [nodes + 1] for the members, [nodes + 1] for the clients; then uint32_t
	                    members[capacity], clients[capacity], scratch[] */
};

static uint32_t *all_members(struct committees *committees, uint32_t nodes)
{
	return (uint32_t *)(void *)(committees->first + 2 * ((size_t)nodes + 1));
}

static const uint32_t *all_members_seen(const struct committees *committees, uint32_t nodes)
{
	return (const uint32_t *)(const void *)(committees->first + 2 * ((size_t)nodes + 1));
}

struct nodes committees_members(const struct committees *committees, uint32_t nodes, uint32_t i)
{
	const size_t *first = committees->first;
	const uint32_t *list = all_members_seen(committees, nodes);
	return (struct nodes){list + first[i - 1], (uint32_t)(first[i] - first[i - 1])};
}

struct nodes committees_clients(const struct committees *committees, uint32_t nodes, uint32_t i)
{
	const size_t *first = committees->first + nodes + 1;
	const uint32_t *list = all_members_seen(committees, nodes) + committees->capacity;
	return (struct nodes){list + first[i - 1], (uint32_t)(first[i] - first[i - 1])};
}

uint32_t nodes_place(struct nodes nodes, uint32_t node)
{
	uint32_t low = 0, high = nodes.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (nodes.list[middle] < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nodes.count && nodes.list[low] == node ? low : nodes.count;
}

/* The prime of which q is a power; 0 if there is none. */
static uint32_t prime_of(uint32_t q)
{
	uint32_t p = 2;

	if (q < 2)
		return 0;
	while (q % p != 0)
		p++;
	while (q % p == 0)
		q /= p;
	return q == 1 ? p : 0;
}

/*
 * The order q of the plane that is to be made, 0 if it is none. Planes are known for powers of
 * primes only. The triangle, q = 1, is none by the axioms, but its three lines do as well.
 */
static uint32_t plane_order(uint32_t N, enum committees_kind kind)
{
	uint32_t q = 1;

	if (kind != COMMITTEES_AUTO && kind != COMMITTEES_PLANE)
		return 0;
	while (q < PLANE_ORDER_MAX && q * q + q + 1 < N)
		q++;
	return q * q + q + 1 == N && (q == 1 || prime_of(q) != 0) ? q : 0;
}

static uint32_t grid_width(uint32_t N)
{
	uint32_t width = 1;

	while ((uint64_t)width * width < N)
		width++;
	return width;
}

/* Members of all committees, at most. */
static size_t capacity_needed(uint32_t N, enum committees_kind kind, const char *text)
{
	uint32_t q = plane_order(N, kind);
	size_t count = 1;

	if (kind != COMMITTEES_GIVEN)
		return (size_t)N * (q > 0 ? q + 1 : 2 * grid_width(N) - 1);
	for (; *text != '\0'; text++)
		count += *text == '.' || *text == '/';
	return count;
}

size_t committees_size(uint32_t nodes, enum committees_kind kind, const char *text)
{
	size_t N = nodes, q = plane_order(nodes, kind);
	size_t plane = q * q * q + q + 1; /* the powers of find_powers, and q + 1 differences */
	size_t scratch = plane > N ? plane : N;
	size_t numbers = 2 * capacity_needed(nodes, kind, text) + scratch;
	size_t indexes = 2 * (N + 1);
	return sizeof(struct committees) + indexes * sizeof(size_t) + numbers * sizeof(uint32_t);
}

/* Puts a node into the committee of i, the last so far; false: it is there already. */
static bool add_member(struct committees *committees, uint32_t N, uint32_t i, uint32_t node)
{
	uint32_t *list = all_members(committees, N);
	size_t end = committees->first[i], place = end;

	must(end < committees->capacity);
	while (place > committees->first[i - 1] && list[place - 1] > node)
		place--;
	if (place > committees->first[i - 1] && list[place - 1] == node)
		return false;
	memmove(list + place + 1, list + place, (end - place) * sizeof(*list));
	list[place] = node;
	committees->first[i]++;
	return true;
}

/* v + c w in a field of p^n elements: numbers of n digits to the base p, added without carry. */
static uint32_t add_multiple(uint32_t p, uint32_t v, uint32_t c, uint32_t w)
{
	uint32_t sum = 0;

	for (uint32_t place = 1; v > 0 || w > 0; place *= p) {
		sum += (v % p + c * (w % p)) % p * place;
		v /= p;
		w /= p;
	}
	return sum;
}

/* The powers of x, where x^n = polynomial; false: they are not all that is in the field but 0. */
static bool find_powers(uint32_t p, uint32_t field, uint32_t polynomial, uint32_t *powers)
{
	uint32_t top = field / p, v = 1;

	for (uint32_t t = 0; t < field - 1; t++) {
		if (t > 0 && v == 1)
			return false;
		powers[t] = v;
		v = add_multiple(p, v % top * p, v / top, polynomial);
	}
	return v == 1;
}

/*
 * J. Singer, "A Theorem in Finite Projective Geometry and Some Applications to Number Theory",
 * Transactions of the American Mathematical Society 43, 1938, pages 377-385. Let x be a primitive
 * element of the field of q^3 elements, and N = q^2 + q + 1. There are q + 1 numbers t < N such
 * that the trace of x^t, which is x^t + x^qt + x^qqt, is 0; and every number but 0 is the
 * difference, modulo N, of one pair of them.
 */
static void find_differences(uint32_t q, uint32_t *powers, uint32_t *differences)
{
	uint32_t p = prime_of(q), field = q * q * q, N = q * q + q + 1, count = 0;
	uint32_t polynomial = 1;

	must(p != 0 && field > 1);
	while (!find_powers(p, field, polynomial, powers)) {
		polynomial++;
		if (polynomial % p == 0) /* x would have no inverse */
			polynomial++;
	}
	for (uint32_t t = 0; t < N; t++) {
		uint32_t trace = add_multiple(p, powers[t], 1, powers[q * t % (field - 1)]);
		trace = add_multiple(p, trace, 1, powers[q * q * t % (field - 1)]);
		if (trace == 0)
			differences[count++] = t;
	}
	must(count == q + 1);
}

/* The lines of a plane are translates of one. Two of them meet: j - i is one of the differences. */
static void make_plane(struct committees *committees, uint32_t N, uint32_t q, uint32_t *scratch)
{
	uint32_t *differences = scratch + (size_t)q * q * q;

	differences[0] = 0; /* the triangle has no field, but these two */
	differences[1] = 1;
	if (q > 1)
		find_differences(q, scratch, differences);
	for (uint32_t i = 1; i <= N; i++) {
		committees->first[i] = committees->first[i - 1];
		for (uint32_t k = 0; k <= q; k++) {
			uint32_t step = differences[k] - differences[0];
			add_member(committees, N, i, (i - 1 + step) % N + 1);
		}
	}
}

/*
 * The row and the column of i in a grid whose last row may be short. Let i be in row a and column
 * c, and j in row b and column d. If a is not the last row it is full: it has a node in column d,
 * and there the row of i meets the column of j. If b is not the last row, likewise. If both are
 * the last row, it is the row of both.
 */
static void make_grid(struct committees *committees, uint32_t N)
{
	uint32_t width = grid_width(N);

	for (uint32_t i = 1; i <= N; i++) {
		uint32_t row = (i - 1) / width, column = (i - 1) % width;
		committees->first[i] = committees->first[i - 1];
		for (uint32_t k = 0; k < row; k++)
			add_member(committees, N, i, k * width + column + 1);
		for (uint32_t j = row * width + 1; j <= (row + 1) * width && j <= N; j++)
			add_member(committees, N, i, j);
		for (uint32_t j = i + width; j <= N; j += width)
			add_member(committees, N, i, j);
	}
}

static const char *make_given(struct committees *committees, uint32_t N, const char *text)
{
	uint32_t i = 1;

	for (;; text++) {
		uint64_t node = 0;
		if (*text < '0' || *text > '9')
			return "committees are auto, plane, grid, or given as 1.2/2.3/3.1";
		for (; *text >= '0' && *text <= '9' && node <= N; text++)
			node = node * 10 + (uint64_t)(*text - '0');
		if (node < 1 || node > N)
			return "a member of a committee is a node, from 1 to the number of nodes";
		if (!add_member(committees, N, i, (uint32_t)node))
			return "a committee has the same member twice";
		if (*text == '\0')
			break;
		if (*text == '/') {
			if (i == N)
				return "there are more committees than nodes";
			i++;
			committees->first[i] = committees->first[i - 1];
		} else if (*text != '.') {
			return "members of a committee are separated by '.', committees by '/'";
		}
	}
	return i < N ? "there are fewer committees than nodes" : NULL;
}

static void make_clients(struct committees *committees, uint32_t N)
{
	size_t *first = committees->first + N + 1;
	const uint32_t *members = all_members(committees, N);
	uint32_t *list = all_members(committees, N) + committees->capacity;

	/* first[m] is where m's list begins, and moves on to where it ends. */
	for (size_t k = 0; k < committees->first[N]; k++) {
		if (members[k] < N)
			first[members[k] + 1]++;
	}
	for (uint32_t m = 1; m <= N; m++)
		first[m] += first[m - 1];
	for (uint32_t i = 1; i <= N; i++) {
		struct nodes those = committees_members(committees, N, i);
		for (uint32_t k = 0; k < those.count; k++)
			list[first[those.list[k]]++] = i;
	}
}

/* What the algorithm needs of committees, whoever made them. */
static const char *judge(const struct committees *committees, uint32_t N, uint32_t *meets)
{
	for (uint32_t i = 1; i <= N; i++) {
		if (!nodes_have(committees_members(committees, N, i), i))
			return "every node must be in its own committee";
	}
	/* Whoever asks one of those that i asks has a committee that meets that of i. */
	memset(meets, 0, N * sizeof(*meets));
	for (uint32_t i = 1; i <= N; i++) {
		struct nodes members = committees_members(committees, N, i);
		uint32_t count = 0;
		for (uint32_t k = 0; k < members.count; k++) {
			struct nodes others = committees_clients(committees, N, members.list[k]);
			while (others.count > 0 && others.list[others.count - 1] > i) {
				uint32_t j = others.list[--others.count];
				count += meets[j - 1] != i;
				meets[j - 1] = i;
			}
		}
		if (count < N - i)
			return "every two committees must have a node in common";
	}
	return NULL;
}

const char *committees_make(uint32_t nodes, enum committees_kind kind, const char *text,
                            struct committees *committees)
{
	uint32_t q = plane_order(nodes, kind);
	const char *wrong = NULL;

	committees->capacity = capacity_needed(nodes, kind, text);
	uint32_t *scratch = all_members(committees, nodes) + 2 * committees->capacity;
	if (kind == COMMITTEES_PLANE && q == 0)
		return "a plane has q*q + q + 1 nodes, q a power of a prime, 128 at most";
	if (kind == COMMITTEES_GIVEN)
		wrong = make_given(committees, nodes, text);
	else if (q > 0)
		make_plane(committees, nodes, q, scratch);
	else
		make_grid(committees, nodes);
	if (wrong != NULL)
		return wrong;
	make_clients(committees, nodes);
	return judge(committees, nodes, scratch);
}
