"""Tests Ricart and Agrawala's algorithm without a bound on the entries, where only the differences between numbers count.

The model here is written independently and keeps the numbers unchanged. With bounded entries it must have as many states as the
checker finds. If all numbers of each state are lowered together, the states that remain must be those that the checker finds
without a bound.
"""
import unittest

from baton import baton, check


class Model:
    """A state is (nodes, messages). A node is (ours, highest, replies to come, deferred, entries left). A message is (to, number,
    from), or (to, 0, 0) for a REPLY. Messages overtake each other."""

    def __init__(self, nodes):
        self.nodes = nodes

    def steps(self, state):
        places, flight = state
        for i, (ours, highest, missing, deferred, left) in enumerate(places):
            if ours == 0 and left != 0:
                sent = [(j, highest + 1, i) for j in range(self.nodes) if j != i]
                yield self.after(state, i, (highest + 1, highest, self.nodes - 1, deferred, left - 1), None, sent)
            elif ours != 0 and missing == 0:
                yield self.after(state, i, (0, highest, 0, frozenset(), left), None, [(j, 0, 0) for j in deferred])
        for message in set(flight):
            i, number, sender = message
            ours, highest, missing, deferred, left = places[i]
            if number == 0:
                yield self.after(state, i, (ours, highest, missing - 1, deferred, left), message, [])
            elif ours != 0 and (ours, i) < (number, sender):
                yield self.after(state, i, (ours, max(highest, number), missing, deferred | {sender}, left), message, [])
            else:
                yield self.after(state, i, (ours, max(highest, number), missing, deferred, left), message, [(sender, 0, 0)])

    @staticmethod
    def after(state, i, place, taken, sent):
        places, flight = list(state[0]), list(state[1])
        places[i] = place
        if taken is not None:
            flight.remove(taken)
        return tuple(places), tuple(sorted(flight + sent))

    def reachable(self, entries, seen_as=lambda state: state):
        """Returns all states, each as it is seen, and the number of steps from them. With -1, entries are never used up."""
        start = (tuple((0, 0, 0, frozenset(), entries) for _ in range(self.nodes)), ())
        seen, todo, transitions = {start}, [start], 0
        while todo:
            for after in self.steps(todo.pop()):
                transitions += 1
                after = seen_as(after)
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return seen, transitions


def lower(state):
    """Returns the state with all numbers lowered as far as possible. The number of entries that are left is ignored."""
    places, flight = state
    by = min([highest for _, highest, *_ in places] + [ours - 1 for ours, *_ in places if ours] +
             [number - 1 for _, number, _ in flight if number])
    return (tuple((ours and ours - by, highest - by, missing, deferred, -1)
                  for ours, highest, missing, deferred, _ in places),
            tuple(sorted((to, number and number - by, sender) for to, number, sender in flight)))


class Differences(unittest.TestCase):
    def test_the_model_is_the_algorithm(self):
        """With bounded entries and unchanged numbers, the model has as many states and steps as the checker finds."""
        for nodes, entries in ((2, 1), (2, 3), (3, 1), (3, 2)):
            states, transitions = Model(nodes).reachable(entries)
            result = check(f"ricart-agrawala --nodes {nodes} --entries {entries} --reorder")
            self.assertEqual((result["states"], result["transitions"]), (len(states), transitions))
            self.assertNotIn("reduction", result)

    def test_without_a_bound_there_are_as_many_as_in_the_model(self):
        for nodes in (1, 2, 3):
            endless, transitions = Model(nodes).reachable(-1, lower)
            result = check(f"ricart-agrawala --nodes {nodes} --entries unlimited --reorder")
            self.assertEqual((result["states"], result["transitions"]), (len(endless), transitions), nodes)
            self.assertEqual(result["reduction"], "differences of numbers")
            self.assertEqual((result["complete"], result["mutual_exclusion"], result["deadlock"], result["starvation"]),
                             (True, "holds", "none", "none"))

    def test_bounded_runs_with_all_numbers_lowered_come_to_the_same_states(self):
        """Every state of the quotient occurs in some run, and every state of a run is in the quotient."""
        for nodes, entries in ((2, 6), (3, 3)):
            states, _ = Model(nodes).reachable(entries)
            seen = {lower(state) for state in states}
            result = check(f"ricart-agrawala --nodes {nodes} --entries unlimited --reorder")
            self.assertEqual(len(seen), result["states"], nodes)

    def test_bypass_is_that_of_bounded_runs(self):
        for nodes in (2, 3):
            bounded = check(f"ricart-agrawala --nodes {nodes} --entries 3")["max_bypass"]
            self.assertEqual(check(f"ricart-agrawala --nodes {nodes} --entries unlimited")["max_bypass"], bounded)

    def test_threads_make_no_difference(self):
        one, two = (check(f"ricart-agrawala --nodes 3 --entries unlimited --threads {n}") for n in (1, 2))
        self.assertEqual(one["states"], two["states"])

    def test_people_are_told(self):
        self.assertIn("no starvation\n", baton("check ricart-agrawala --nodes 3 --entries unlimited").out)
        self.assertIn("numbers compared by their differences", baton("check ricart-agrawala --nodes 3 --entries unlimited").out)
        self.assertIn("--entries unlimited decides it", baton("check ricart-agrawala --nodes 2").out)


if __name__ == "__main__":
    unittest.main()
