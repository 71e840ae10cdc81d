"""Reads the object files of a build directory: the source of each, the symbols it defines and the symbols it needs."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Object:
    def __init__(self, source, defined, needed):
        self.source = source  # relative to the root of the tree
        self.defined = defined  # global symbols
        self.needed = needed


def read_symbols(path, *options):
    """Returns the symbols of an object, each with the letter that nm prints for it."""
    text = subprocess.run(
        ["nm", "--format=posix", *options, str(path)], check=True, capture_output=True, text=True
    ).stdout
    return [line.split()[:2] for line in text.splitlines() if line.strip()]


def read_objects(build, under="src"):
    """Returns an Object for each source below the folder `under` that this build directory has compiled."""
    build = pathlib.Path(build).resolve()
    objects = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        source = (pathlib.Path(command["directory"]) / command["file"]).resolve()
        path = build / command["output"]
        if ROOT / under not in source.parents or not path.exists():
            continue
        source = str(source.relative_to(ROOT))
        if source in objects:  # the same source, compiled for another library
            continue
        defined = {name for name, kind in read_symbols(path, "--defined-only", "--extern-only")}
        needed = {name for name, kind in read_symbols(path, "--undefined-only")}
        objects[source] = Object(source, defined, needed)
    return objects
