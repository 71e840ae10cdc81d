"""Counts what no single comparison shows: all trees of a size, and the stages of an election, from its trace."""
import itertools
import json
import re
import tempfile
from collections import Counter, defaultdict

from checks import run


def tree_of(sequence):
    """Returns the edges of the tree that a Prüfer sequence stands for."""
    nodes = len(sequence) + 2
    degree = Counter(sequence)
    edges = []
    left = set(range(1, nodes + 1))
    for node in sequence:
        leaf = min(i for i in left if degree[i] == 0)
        edges.append((leaf, node))
        left.remove(leaf)
        degree[node] -= 1
    return [*edges, tuple(left)]


def shape_of(edges):
    """Returns a text that is the same for trees that differ only in the names of their nodes."""
    neighbours = defaultdict(list)
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)

    def below(node, parent):
        return "(" + "".join(sorted(below(next_, node) for next_ in neighbours[node] if next_ != parent)) + ")"
    return min(below(root, None) for root in neighbours)


def trees(nodes):
    """Returns a tree of each shape, as a topology."""
    shapes = {}
    for sequence in itertools.product(range(1, nodes + 1), repeat=nodes - 2):
        edges = tree_of(sequence)
        shapes.setdefault(shape_of(edges), edges)
    return ["edges:" + ",".join(f"{a}-{b}" for a, b in edges) for edges in shapes.values()]


def nested(nodes):
    """Returns an arrangement in which every second process is greater than both neighbours; among those processes every second one
    is greater than the two next to it, and so on."""
    identifiers, following, first, step = [0] * nodes, 1, 0, 1
    while first < nodes:
        for i in range(first, nodes, 2 * step):
            identifiers[i] = following
            following += 1
        first += step
        step *= 2
    return ",".join(map(str, identifiers))


def elections(algorithm, nodes, seeds):
    """Runs several elections in which all processes initiate. Yields a list of messages for each: sender, type and content."""
    arrangements = [("increasing", 1), ("decreasing", 1), (nested(nodes), 1), *(("random", seed) for seed in range(1, seeds + 1))]
    for arrangement, seed in arrangements:
        with tempfile.NamedTemporaryFile("r", suffix=".trace") as file:
            result = run(f"sim {algorithm} --nodes {nodes} --arrangement {arrangement} --seed {seed} --trace {file.name}")
            assert result.returncode == 0, result.stderr
            events = map(json.loads, file)
            yield [(event["from"], event["type"], re.findall(r"\w+", event["text"])[1:])
                   for event in events if event["ev"] == "send"]


def stages_by_sends(algorithm, nodes, seeds, first, each):
    """Counts the stages of an algorithm in which every process sends `each` messages of the type
    `first` in each stage. Returns the largest number of stages, the numbers of messages of a full
    stage, and those of the last stage. The announcement is not counted."""
    most, full, last = 0, set(), set()
    for sends in elections(algorithm, nodes, seeds):
        counts = Counter(sender for sender, kind, _ in sends if kind == first)
        stages = max(counts.values()) // each
        assert set(counts.values()) == {stages * each} and len(counts) == nodes, (algorithm, nodes, counts)
        others = sum(kind not in (first, "ELECTED") for _, kind, _ in sends)
        most = max(most, stages)
        if stages > 1:
            full.add(nodes * each + others / (stages - 1))
        last.add(nodes * each)
    return most, full, last


def candidatures(nodes, seeds):
    """Returns, for hirschberg-sinclair, the largest number of candidates for each length of path,
    and the largest number of messages that a candidate needed for each step of its paths."""
    most, dearest = Counter(), 0
    for sends in elections("hirschberg-sinclair", nodes, seeds):
        paths, messages = defaultdict(set), Counter()
        for _, kind, carried in sends:
            if kind == "CANDIDATURE":
                paths[int(carried[2])].add(carried[0])
                messages[carried[0]] += 1
            elif kind == "RESPONSE":
                messages[carried[1]] += 1
        for length, candidates in paths.items():
            most[length] = max(most[length], len(candidates))
        for candidate, count in messages.items():
            dearest = max(dearest, count / sum(length for length, candidates in paths.items() if candidate in candidates))
    return dict(sorted(most.items())), dearest
