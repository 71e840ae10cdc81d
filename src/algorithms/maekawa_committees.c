#include "maekawa_committees.h"

#include "must.h"

#include <string.h>

/* The order of the largest plane that is made. Making a plane of order q takes memory for a
 * field of q^3 elements. */
enum { PLANE_ORDER_MAX = 128 };

/* The lists of all nodes follow each other in one array. That of node i has the elements first[i
 * - 1] to first[i] - 1. */
struct committees {
	/* The sum of the sizes of all committees. Node j is a client of node i if i is in j's
	 * committee, so all lists of clients together have this length too. */
	size_t capacity;
	size_t first[]; /* [nodes + 1] for the members, [nodes + 1] for the clients; then uint32_t
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

/* Returns the prime of which q is a power, or 0 if there is none. */
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
 * Returns the order q of the plane to be made, or 0 if no plane is to be made. Planes are known
 * only for powers of primes. The triangle, q = 1, is not a plane by the axioms, but its three lines
 * work as well.
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

/* Returns the size of the largest committee: a row, and the rest of a column. */
static uint32_t grid_committee(uint32_t N)
{
	uint32_t width = grid_width(N);

	return width + (N + width - 1) / width - 1;
}

/*
 * A difference cover is a set of numbers such that each number from 1 to N - 1 is the difference of
 * two of them, modulo N. Any two translates of it have a number in common, so they can serve as
 * committees. A plane is the best possible cover. For every N, covers are about as small as
 * committees can be.
 */
enum { SEARCH_NODES_MAX = 100, SEARCH_STEPS_MAX = 20000, SEARCH_COVER_MAX = 32 };

struct cover {
	uint32_t N;
	uint32_t count, count_max;
	uint32_t
	        /* How many of the differences from 1 to N/2 are covered; greater ones are negatives
	         * of these. */
	        covered;
	uint32_t steps;
	uint32_t numbers[SEARCH_COVER_MAX];
	uint32_t times[SEARCH_NODES_MAX / 2 + 1]; /* [d]: how many pairs have the difference d */
};

static uint32_t difference(uint32_t N, uint32_t a, uint32_t b)
{
	uint32_t d = a > b ? a - b : b - a;
	return d <= N / 2 ? d : N - d;
}

/* Adds a number to the cover, or removes the last one. */
static void change_cover(struct cover *cover, uint32_t number, bool in)
{
	cover->count -= !in;
	for (uint32_t i = 0; i < cover->count; i++) {
		uint32_t *times = &cover->times[difference(cover->N, number, cover->numbers[i])];
		cover->covered += in && *times == 0;
		*times += in ? 1 : UINT32_MAX /* adds -1 */;
		cover->covered -= !in && *times == 0;
	}
	if (in)
		cover->numbers[cover->count++] = number;
}

static bool is_in_cover(const struct cover *cover, uint32_t number)
{
	for (uint32_t i = 0; i < cover->count; i++) {
		if (cover->numbers[i] == number)
			return true;
	}
	return false;
}

/* Backtracking search: adds a number that makes the greatest missing difference and continues;
 * if that leads nowhere, it removes the number and tries another. It gives up after
 * SEARCH_STEPS_MAX steps, so it may miss a cover, but it never makes a wrong one. The depth of
 * the recursion is the size of the cover. */
static bool complete_cover(struct cover *cover) /* NOLINT(misc-no-recursion) */
{
	uint32_t half = cover->N / 2, missing = half, more = 0;

	if (cover->covered == half)
		return true;
	for (uint32_t i = cover->count; i < cover->count_max; i++)
		more += i;
	if (cover->covered + more < half || ++cover->steps > SEARCH_STEPS_MAX)
		return false;
	while (cover->times[missing] != 0)
		missing--;
	for (uint32_t i = 0; i < 2 * cover->count; i++) {
		uint32_t number = cover->numbers[i / 2];
		number = (number + (i % 2 != 0 ? missing : cover->N - missing)) % cover->N;
		if (is_in_cover(cover, number))
			continue;
		change_cover(cover, number, true);
		if (complete_cover(cover))
			return true;
		change_cover(cover, number, false);
	}
	return false;
}

/*
 * B. Wichmann, "A note on restricted difference bases", Journal of the London Mathematical Society
 * 38, 1963, pages 465-466: marks 1 (r times), r + 1, 2r + 1 (r times), 4r + 3 (s times), 2r + 2 (r
 * + 1 times), 1 (r times) apart measure every length from 1 to that of the ruler. Modulo N, a ruler
 * of length N/2 is enough. There are 4r + s + 3 marks, about sqrt(1.5 N).
 */
struct ruler {
	uint32_t r, s;
};

static uint32_t ruler_marks(struct ruler ruler)
{
	return 4 * ruler.r + ruler.s + 3;
}

/* Returns the ruler with the fewest marks. */
static struct ruler find_ruler(uint32_t N)
{
	struct ruler best = {0, N};

	for (uint64_t r = 0; 4 * r < ruler_marks(best); r++) {
		/* The length of a ruler is 4r(r + s + 2) + 3(s + 1). */
		uint64_t least = N / 2, fixed = 4 * r * (r + 2) + 3, step = 4 * r + 3;
		uint64_t s = least > fixed ? (least - fixed + step - 1) / step : 0;
		struct ruler ruler = {(uint32_t)r, (uint32_t)s};
		if (ruler_marks(ruler) < ruler_marks(best))
			best = ruler;
	}
	return best;
}

/* Searches for a cover that is smaller than the ruler. */
static bool search_cover(uint32_t N, struct cover *ret_cover)
{
	uint32_t marks = ruler_marks(find_ruler(N)), least = 1;

	while (least * (least - 1) + 1 < N)
		least++;
	for (uint32_t size = least; N <= SEARCH_NODES_MAX && size < marks; size++) {
		*ret_cover = (struct cover){.N = N, .count_max = size};
		change_cover(ret_cover, 0, true);
		if (complete_cover(ret_cover))
			return true;
	}
	return false;
}

/* Returns the size of a committee. */
static uint32_t cover_size(uint32_t N)
{
	struct cover cover;

	return search_cover(N, &cover) ? cover.count : ruler_marks(find_ruler(N));
}

/* Replaces AUTO by the kind with the smallest committees. Among equals a plane comes first, then
 * a grid. */
static enum committees_kind choose_kind(uint32_t N, enum committees_kind kind)
{
	if (kind != COMMITTEES_AUTO)
		return kind;
	if (plane_order(N, kind) > 0)
		return COMMITTEES_PLANE;
	return cover_size(N) < grid_committee(N) ? COMMITTEES_CYCLIC : COMMITTEES_GRID;
}

/* Returns the most members that all committees can have together. */
static size_t capacity_needed(uint32_t N, enum committees_kind kind, const char *text)
{
	size_t count = 1;

	switch (kind) {
	case COMMITTEES_AUTO:
	case COMMITTEES_PLANE:
		return (size_t)N * (plane_order(N, kind) + 1);
	case COMMITTEES_CYCLIC:
		return (size_t)N * cover_size(N);
	case COMMITTEES_GRID:
		return (size_t)N * grid_committee(N);
	case COMMITTEES_GIVEN:
		break;
	}
	for (; *text != '\0'; text++)
		count += *text == '.' || *text == '/';
	return count;
}

size_t committees_size(uint32_t nodes, enum committees_kind kind, const char *text)
{
	kind = choose_kind(nodes, kind);
	size_t N = nodes, q = plane_order(nodes, kind);
	/* The scratch space must hold what find_powers needs, and q + 1 differences. */
	size_t plane = q * q * q + q + 1;
	size_t scratch = plane > N ? plane : N;
	size_t numbers = 2 * capacity_needed(nodes, kind, text) + scratch;
	size_t indexes = 2 * (N + 1);
	return sizeof(struct committees) + indexes * sizeof(size_t) + numbers * sizeof(uint32_t);
}

/* Adds a node to the committee of i. Committees are filled one after the other, and this must be
 * the last one so far. Returns false if the node is already in it. */
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

/* Returns v + c w in a field of p^n elements. An element is a number of n digits to the base p;
 * addition has no carry. */
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

/* Lists the powers of x, where x^n = polynomial. Returns false if they are not all elements of
 * the field except 0. */
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

/* All lines of a plane are translates of one line. The lines of i and j meet, because j - i is
 * one of the differences. */
static void make_plane(struct committees *committees, uint32_t N, uint32_t q, uint32_t *scratch)
{
	uint32_t *differences = scratch + (size_t)q * q * q;

	differences[0] = 0; /* a triangle needs no field: its differences are 0 and 1 */
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
 * A committee is the row and the column of i in a grid whose last row may be short. Any two
 * committees meet: let i be in row a and column c, and j in row b and column d. If a is not the
 * last row, it is full and has a node in column d; there the row of i meets the column of j. If b
 * is not the last row, the same holds for b. If both are the last row, i and j are in the same row.
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

/* Adds `times` marks of a ruler to the committee of i, each `step` after the one before, and
 * returns the last mark. */
static uint32_t make_marks(struct committees *committees, uint32_t N, uint32_t i, uint32_t mark,
                           uint32_t step, uint32_t times)
{
	for (; times > 0; times--) {
		mark += step;
		add_member(committees, N, i, (i - 1 + mark) % N + 1);
	}
	return mark;
}

static void make_cyclic(struct committees *committees, uint32_t N)
{
	struct ruler ruler = find_ruler(N);
	uint32_t r = ruler.r;
	struct cover cover;
	bool searched = search_cover(N, &cover);

	for (uint32_t i = 1; i <= N; i++) {
		committees->first[i] = committees->first[i - 1];
		for (uint32_t k = 0; searched && k < cover.count; k++)
			add_member(committees, N, i, (i - 1 + cover.numbers[k]) % N + 1);
		if (searched)
			continue;
		add_member(committees, N, i, i);
		uint32_t mark = make_marks(committees, N, i, 0, 1, r);
		mark = make_marks(committees, N, i, mark, r + 1, 1);
		mark = make_marks(committees, N, i, mark, 2 * r + 1, r);
		mark = make_marks(committees, N, i, mark, 4 * r + 3, ruler.s);
		mark = make_marks(committees, N, i, mark, 2 * r + 2, r + 1);
		make_marks(committees, N, i, mark, 1, r);
	}
}

static const char *make_given(struct committees *committees, uint32_t N, const char *text)
{
	uint32_t i = 1;

	for (;; text++) {
		uint64_t node = 0;
		if (*text < '0' || *text > '9')
			return "committees are auto, plane, cyclic, grid, or given as 1.2/2.3/3.1";
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

	/* first[m] is where the list of m begins. It moves on while the list is filled, up to
	 * its end. */
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

/* Checks what the algorithm needs: each node is in its own committee, and any two committees
 * meet. */
static const char *judge(const struct committees *committees, uint32_t N, uint32_t *meets)
{
	for (uint32_t i = 1; i <= N; i++) {
		if (!nodes_have(committees_members(committees, N, i), i))
			return "every node must be in its own committee";
	}
	/* The committee of j meets that of i if j is a client of a member of i's committee. */
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
	kind = choose_kind(nodes, kind);
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
	else if (kind == COMMITTEES_CYCLIC)
		make_cyclic(committees, nodes);
	else
		make_grid(committees, nodes);
	if (wrong != NULL)
		return wrong;
	make_clients(committees, nodes);
	return judge(committees, nodes, scratch);
}
