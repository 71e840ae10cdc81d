"""Reads the geometry of our SVGs: where labels and strokes are. Widths are a little less than those of DejaVu Sans."""
import collections
import re
import xml.etree.ElementTree

SIZES = {"title": 15, "soft": 11, "state": 11, "name": 14, "flight": 10.5, "label": 10.5, "node": 13, "bad": 12}
NARROW = " ,.:;()[]'|/!iIjlftr"

Label = collections.namedtuple("Label", "kind text x y width height")


def width(text, size):
    return sum(size * (0.32 if letter in NARROW else 0.6 if letter.isupper() else 0.52) for letter in text)


def read(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def walk(element, down=0.0):
    """Yields all elements, each with the distance by which its groups move it down."""
    moved = re.match(r"translate\(0 ([\d.]+)\)", element.get("transform", ""))
    down += float(moved[1]) if moved else 0.0
    yield element, down
    for child in element:
        if child.tag != "marker":
            yield from walk(child, down)


def labels(root):
    """Returns the texts of a picture that is not cut into strips, or of all its strips side by
    side."""
    found = []
    for element, down in walk(root):
        if element.tag != "text":
            continue
        text = "".join(element.itertext())
        kinds = element.get("class", "").split() or [element[0].get("class") if len(element) else ""]
        size = float(element.get("font-size", SIZES.get(kinds[0], 12)))
        wide = width(text, size)
        x, anchor = float(element.get("x")), element.get("text-anchor") or ("middle" if kinds[0] == "name" else "start")
        x -= {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        found.append(Label(kinds[0], text, x, float(element.get("y")) + down - 0.7 * size, wide, 0.75 * size))
    return found


def overlap(a, b):
    return (min(a.x + a.width, b.x + b.width) - max(a.x, b.x) > 1 and
            min(a.y + a.height, b.y + b.height) - max(a.y, b.y) > 1)


def covered(found):
    """Returns the pairs of labels that cover each other."""
    return [(a.text, b.text) for i, a in enumerate(found) for b in found[:i] if overlap(a, b)]
