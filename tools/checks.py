"""Shared by the tools that make documents: runs baton, reads the list of errata, and makes tables."""
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import tomllib

from wrapping import COLUMNS, wrapped # pylint: disable=unused-import

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATON = os.environ.get("BATON", str(ROOT / "build/baton"))
CHECKED = ROOT / "doc/checked.md"

STEP = re.compile(r"^(?:request|release|deliver|drop|initiate|expire|link|unlink|cut)\b", re.MULTILINE)
NUMBER = re.compile(r"(?:> )?[\d,.]+|\d+ to \d+|–|∞")


def run(words):
    """Runs baton at the root of the tree, so that the paths in its messages are short."""
    return subprocess.run([BATON, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False)


def report(words):
    """Returns what baton reports. It may find a violation or reach a limit, but must not refuse the command."""
    process = run(f"{words} --json")
    if process.returncode not in (0, 1, 3):
        sys.exit(f"baton {words}: exit {process.returncode}: {process.stderr.strip()}")
    return json.loads(process.stdout)


def violated(checked):
    """Returns the name of the property that is violated, or None."""
    for name in ("mutual_exclusion", "deadlock", "starvation", "unique_leader", "agreement", "termination"):
        if checked.get(name) in ("violated", "found"):
            return name
    return next((name for name, verdict in checked["invariants"].items() if verdict == "violated"), None)


def steps_of(scenario):
    return len(STEP.findall(scenario))


def read_errata():
    with open(ROOT / "doc/errata/errata.toml", "rb") as file:
        return tomllib.load(file)


def with_text(words, erratum):
    """Adds the printed text to the words of a check, if the erratum is about a text."""
    return f"{words} --param text={erratum['text']}" if "text" in erratum else words


def table(columns, rows):
    """Makes a table of markdown. Each column is as wide as its widest cell, and columns of numbers are aligned on the right."""
    right = [all(NUMBER.fullmatch(row[i]) for row in rows) for i in range(len(columns))]
    width = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]

    def line(row):
        cells = [row[i].rjust(width[i]) if right[i] else row[i].ljust(width[i]) for i in range(len(columns))]
        return "| " + " | ".join(cells) + " |"

    ruler = ["-" * (width[i] + 1) + (":" if right[i] else "-") for i in range(len(columns))]
    return "\n".join([line(columns), "|" + "|".join(ruler) + "|", *map(line, rows)])


def filled(text, width=COLUMNS, **options):
    """Wraps a paragraph. No line begins with a sign, which markdown would take for a list."""
    text = re.sub(r" ([-+*]) ", "\u00a0\\1\u00a0", text)
    lines = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False, **options)
    return lines.replace("\u00a0", " ")


def tables_in(page):
    """Yields each row of all tables: its heading, the last line above the table, and the cells by column."""
    heading, above, columns = "", "", None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            heading = line.strip("# ") if line.startswith("#") else heading
            above = line or above
            columns = None
        elif columns is None:
            columns = cells
        elif not set(line) <= set("|-:"):
            yield heading, above, dict(zip(columns, cells))


def read_tables(path=CHECKED):
    """Returns the cells of each row of a page; none if there is no page."""
    return [cells for _, _, cells in tables_in(path.read_text(encoding="utf-8"))] if path.exists() else []
