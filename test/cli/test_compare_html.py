"""Tests baton compare --html: the page needs no other file, and its plots, texts and tables agree with --json."""
import json
import math
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

from baton import BATON, report
from browser import Browser

SMALL = "--entries 20 --seeds 1..2"


class Made:
    """A page, and the output of the same command with --json."""

    def __init__(self, *words, name="page.html", output="--json"):
        arguments = [part for word in words for part in word.split()]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([BATON, "compare", *arguments, *output.split(), "--html", name], cwd=folder, check=False,
                                  capture_output=True, text=True)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.text = file.read()
        self.page = xml.fromstring(self.text)

    def json(self):
        return json.loads(self.out)

    def by_id(self, name):
        return next((element for element in self.page.iter() if element.get("id") == name), None)

    def plots(self):
        """Returns {plot: {series: [(x, y), …]}}, read from the marks."""
        return {plot.get("id"): {series.get("data-name"): [(float(mark.get("data-x")), float(mark.get("data-y")))
                                                          for mark in series.iter("use") if mark.get("data-x")]
                                 for series in plot.iter("g") if series.get("data-name")}
                for plot in self.page.iter("svg") if plot.get("class") == "plot"}

    def below(self, plot):
        panel = next(panel for panel in self.page.iter("figure") if any(svg.get("id") == plot for svg in panel.iter("svg")))
        return next(part for part in panel.iter("div") if part.get("class") == "seen")

    def seen(self, plot):
        """Returns the text below a plot."""
        return " ".join("".join(self.below(plot).itertext()).split())

    def growth(self, plot):
        """Returns {law: {series: factor or exponent}}."""
        laws = self.below(plot).find("dl")
        return {law.text: dict("".join(member.itertext()).split("\xa0") for member in members)
                for law, members in zip(laws.iter("dt"), laws.iter("dd"))}


def name_of(row):
    return " ".join(filter(None, (row["algorithm"], row["parameter"])))


def expected(rows, kind, figure):
    """Returns the points that a plot against the size must show. A value of 0 has no place on a logarithmic scale."""
    points = {}
    for row in rows:
        if row["kind"] == kind:
            points.setdefault(name_of(row), []).append((row["nodes"], figure(row)))
    return {name: [(x, y) for x, y in line if y > 0] for name, line in points.items() if any(y > 0 for _, y in line)}


class Faults(unittest.TestCase):
    """Tests --faults --html: the fault table as a figure, and the command for each of its cells."""

    @classmethod
    def setUpClass(cls):
        cls.made = Made("--faults --algorithms central,neilsen,suzuki-kasami --nodes 2")
        cls.rows = cls.made.json()["rows"]
        cls.svg = "{http://www.w3.org/2000/svg}"
        cls.figure = next(cls.made.page.iter(cls.svg + "svg"))

    def cells(self):
        return [cell for row in self.rows for cell in row["faults"].values() if cell]

    def test_each_cell_has_its_words_its_shape_and_its_command(self):
        drawn = [cell for cell in self.figure.iter(self.svg + "g") if cell.get("class") == "cell"]
        self.assertEqual(len(drawn), len(self.cells()))
        for group, cell in zip(drawn, self.cells()):
            self.assertEqual(group.find(self.svg + "title").text, cell["command"])
            self.assertEqual(group.find(self.svg + "text").text.removesuffix(" *"), cell["outcome"])
            self.assertTrue([part for part in group if part.tag in (self.svg + "circle", self.svg + "path")], cell)

    def test_outcomes_are_told_apart_without_colour_and_without_words(self):
        looks = {}
        for group, cell in zip((g for g in self.figure.iter(self.svg + "g") if g.get("class") == "cell"), self.cells()):
            colour = group.find(self.svg + "rect").get("fill")
            shapes = tuple((part.tag, part.get("fill") == "none") for part in group if part.tag in (self.svg + "circle", self.svg + "path"))
            looks.setdefault(cell["outcome"], set()).add((colour, shapes))
        self.assertGreaterEqual(set(looks), {"unnoticed", "one waits", "all wait", "all slower"})
        self.assertEqual({len(look) for look in looks.values()}, {1})
        for part in (0, 1):
            self.assertEqual(len({next(iter(look))[part] for look in looks.values()}), len(looks))
        light = [self.lightness(next(iter(looks[name]))[0]) for name in ("unnoticed", "all slower", "one waits", "all wait")]
        self.assertEqual(light, sorted(light, reverse=True))  # in print, a worse result is darker

    @staticmethod
    def lightness(colour):
        red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    def test_the_commands_are_listed_for_print(self):
        listed = [code.text for code in self.made.by_id("commands").iter("code")]
        self.assertEqual([text for text in listed if text.startswith("baton ") and " --nodes " in text],
                         [cell["command"] for cell in self.cells()])

    def test_the_picture_stands_alone(self):
        text = xml.tostring(self.figure, encoding="unicode")
        self.assertNotIn("var(", text)
        for algorithm in ("central", "neilsen", "suzuki-kasami"):
            self.assertIn(f">{algorithm}<", text)

    def test_it_fits_a_narrow_window_by_scrolling_in_its_own_box(self):
        with tempfile.NamedTemporaryFile("w", suffix=".html") as file, Browser() as browser:
            file.write(self.made.text)
            file.flush()
            page = browser.open(file.name, width=400)
            self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 400)


class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = Made("--nodes 1,2,4,16", SMALL)
        cls.rows = cls.made.json()["rows"]

    def assert_points(self, plot, points):
        self.assertEqual(set(plot), set(points))
        for name, line in points.items():
            self.assertEqual(len(plot[name]), len(line), name)
            for mark, point in zip(plot[name], line):
                self.assertTrue(all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(mark, point)), (name, mark, point))

    def test_each_plot_has_its_marks(self):
        plots = self.made.plots()
        self.assertEqual(list(plots), ["messages-light", "messages-heavy", "waiting-response", "waiting-sync", "bytes-light",
                                       "bytes-heavy", "elections-mean", "elections-most"])
        for load in ("light", "heavy"):
            self.assert_points(plots[f"messages-{load}"], expected(self.rows, "mutex", lambda row: row[load]["messages"]["mean"]))
            self.assert_points(plots[f"bytes-{load}"], expected(self.rows, "mutex", lambda row: row[load]["bytes"]))
        for plot, figure in (("mean", "mean"), ("most", "max")):
            self.assert_points(plots[f"elections-{plot}"],
                               expected(self.rows, "election", lambda row: row["all"]["messages"][figure]))

    def test_the_plots_against_load_have_their_marks(self):
        busy = {name_of(row): row["poisson"] for row in self.rows if row["kind"] == "mutex" and row["poisson"]}
        self.assertEqual(len(busy), 16)
        for plot, figure in (("waiting-response", "response"), ("waiting-sync", "sync_delay")):
            points = {name: [(load["rate"], load[figure]["mean"]) for load in loads if load[figure]]
                      for name, loads in busy.items()}
            self.assert_points(self.made.plots()[plot], {name: line for name, line in points.items() if line})

    def test_marks_are_where_they_belong(self):
        """On a logarithmic axis, equal ratios are equally far apart. Marks of the same value are at the same place."""
        for plot in (svg for svg in self.made.page.iter("svg") if svg.get("class") == "plot"):
            marks = [mark for mark in plot.iter("use") if mark.get("data-x")]
            self.assertGreater(len(marks), 20)
            for axis in ("x", "y"):
                linear = axis == "y" and plot.get("id") == "waiting-sync"
                places = sorted({(float(mark.get(f"data-{axis}")), float(mark.get(axis))) for mark in marks})
                low, high = places[0], places[-1]
                scale = (lambda value: value) if linear else math.log
                for value, place in places:
                    part = (scale(value) - scale(low[0])) / (scale(high[0]) - scale(low[0]))
                    self.assertAlmostEqual(place, low[1] + part * (high[1] - low[1]), delta=0.2)

    def test_lines_can_be_told_apart_without_colour(self):
        for plot in (svg for svg in self.made.page.iter("svg") if svg.get("class") == "plot"):
            shapes = [series.find("use").get("href") for series in plot.iter("g") if series.get("data-name")]
            self.assertEqual(len(shapes), len(set(shapes)))
            for shape in shapes:
                self.assertIsNotNone(self.made.by_id(shape[1:]))

    def test_elections_have_curves_to_compare_with(self):
        for plot in ("elections-mean", "elections-most"):
            labels = [(curve.find("text").get("class"), curve.find("text").text)
                      for curve in self.made.by_id(plot).iter("g") if curve.get("class") == "curve"]
            self.assertEqual(sorted(labels), [(place, name) for place in ("inner", "label") for name in ("n log n", "n²")])

    def test_the_numbers_are_there_too(self):
        tables = [table for table in self.made.page.iter("table") if table.get("class") == "figures"]
        self.assertEqual(len(tables), 8)
        lines = [[cell.text for cell in row] for row in tables[1].iter("tr")]
        self.assertEqual(lines[0], ["N", "1", "2", "4", "16"])
        self.assertIn(["ricart-agrawala", "0", "2", "6", "30"], lines)

    def test_rates_go_from_idle_to_saturated(self):
        for nodes, algorithm in ((2, "central"), (16, "neilsen"), (16, "suzuki-kasami")):
            row = report(f"compare --nodes {nodes} --algorithms {algorithm} --seeds 1..3 --html /dev/null")["rows"][0]
            rates = [load["rate"] for load in row["poisson"]]
            self.assertEqual(rates, sorted(set(rates)))
            for load, end in (("light", 0), ("heavy", -1)):
                self.assertAlmostEqual(row["poisson"][end]["messages"]["mean"] / row[load]["messages"]["mean"], 1, delta=0.1)

    def test_the_size_for_the_rates(self):
        for nodes, size in (("4,8,64", 8), ("5,16,17", 16), ("20,30", 20)):
            rows = report(f"compare --nodes {nodes} --algorithms central --html /dev/null", SMALL)["rows"]
            self.assertEqual([row["nodes"] for row in rows if row["poisson"]], [size])


class Words(unittest.TestCase):
    """The texts agree with the figures."""

    @classmethod
    def setUpClass(cls):
        cls.made = Made("--nodes 2,4,8,16,32 --algorithms lamport,suzuki-kasami,neilsen,dijkstra-ring,maekawa,"
                        "chang-roberts,franklin,bully", "--entries 100 --seeds 1..3")
        cls.rows = cls.made.json()["rows"]

    def figures(self, nodes, figure):
        return {row["algorithm"]: figure(row) for row in self.rows
                if row["nodes"] == nodes and row["kind"] == "mutex" and row["parameter"] is None}

    def test_least_and_most(self):
        for load in ("light", "heavy"):
            for plot, figure in (("messages", lambda row: row[load]["messages"]["mean"]), ("bytes", lambda row: row[load]["bytes"])):
                figures = self.figures(32, figure)
                least, most = min(figures, key=figures.get), max(figures, key=figures.get)
                self.assertIn(f"At N = 32 the least is {figures[least]:.4g} ({least}), the most {figures[most]:.4g} ({most}), ",
                              self.made.seen(f"{plot}-{load}"))

    def test_growth(self):
        self.assertIn("From N = 4 to 32 these grow as follows", self.made.seen("messages-heavy"))
        heavy = self.figures(32, lambda row: row["heavy"]["messages"]["mean"])
        self.assertEqual(self.made.growth("messages-heavy"), {
            "hardly": {name: f"{heavy[name]:.3g}" for name in ("neilsen", "dijkstra-ring")},
            "N": {name: f"{heavy[name] / 32:.3g}" for name in ("lamport", "suzuki-kasami")},
            "√N": {"maekawa": f"{heavy['maekawa'] / 32 ** 0.5:.3g}"}})
        self.assertEqual(self.made.growth("elections-most")["n²"], {"chang-roberts": "0.516", "bully": "0.999"})  # (n + 1)/2n
        self.assertEqual(list(self.made.growth("elections-most")["n log n"]), ["franklin"])

    def test_growth_is_not_told_from_few_sizes(self):
        growth = Made("--nodes 4,8,16 --algorithms helary,neilsen", SMALL).growth("messages-light")
        self.assertEqual({law: list(members) for law, members in growth.items()}, {"unknown": ["helary", "neilsen"]})

    def test_who_leads(self):
        self.assertIn("Nobody is below dijkstra-ring anywhere", self.made.seen("messages-heavy"))
        self.assertRegex(self.made.seen("bytes-light"), "Nobody is below dijkstra-ring up to N = [0-9]+, then below neilsen")

    def test_crossings(self):
        light = {nodes: self.figures(nodes, lambda row: row["light"]["messages"]["mean"]) for nodes in (2, 4, 8, 16, 32)}
        told = re.findall(r"(\S+) is above (\S+) up to N = (\d+) and ends below it", self.made.seen("messages-light"))
        self.assertGreaterEqual(len(told), 1)
        for falls, rises, until in told:
            self.assertGreater(light[2][falls], light[2][rises])
            self.assertGreater(light[int(until)][falls], light[int(until)][rises])
            self.assertLess(light[2 * int(until)][falls], light[2 * int(until)][rises])
            self.assertLess(light[32][falls], light[32][rises])

    def test_saturation(self):
        words = self.made.seen("waiting-sync")
        last = {row["algorithm"]: row["poisson"][-1]["sync_delay"]["mean"] for row in self.rows if row.get("poisson")}
        self.assertAlmostEqual(last["neilsen"], 1, delta=0.01)
        self.assertRegex(words, r"within 1 %\) with (all but maekawa|lamport, suzuki-kasami, neilsen and dijkstra-ring)\.")
        self.assertIn(f"Farthest from that: maekawa, with {last['maekawa']:.4g} delays", words)

    def test_the_length_of_messages(self):
        heavy = self.figures(32, lambda row: row["heavy"]["bytes"] / row["heavy"]["messages"]["mean"])
        longest, shortest = max(heavy, key=heavy.get), min(heavy, key=heavy.get)
        self.assertIn(f"A message of {longest} has {heavy[longest]:.3g} bytes on average, the longest; "
                      f"one of {shortest} has {heavy[shortest]:.3g}", self.made.seen("bytes-heavy"))

    def test_they_follow_the_figures(self):
        made = Made("--nodes 2,4,8 --algorithms raymond,central", SMALL)
        words = made.seen("messages-heavy")
        self.assertIn("central", words)
        self.assertNotIn("neilsen", words)


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = Made("--nodes 4,9", SMALL)
        cls.rows = cls.made.json()["rows"]

    def lines(self, name):
        table = self.made.by_id(name)
        heads = ["".join(head.itertext()) for head in next(row for row in table.iter("tr") if row.get("class") == "heads")]
        for row in table.find(".//tbody"):
            yield dict(zip(reversed(heads), reversed(list(row)))), row  # if two columns have the same name, the first counts

    def test_have_the_rows_and_columns_of_the_terminal(self):
        for name, kind in (("exclusion", "mutex"), ("election", "election")):
            rows = [row for row in self.rows if row["kind"] == kind]
            lines = list(self.lines(name))
            self.assertEqual(len(rows), len(lines))
            for row, (line, element) in zip(rows, lines):
                self.assertEqual("".join(element[0].itertext()), name_of(row))
                self.assertEqual(element.get("data-n"), str(row["nodes"]))
                messages = row["light" if kind == "mutex" else "all"]["messages"]
                self.assertAlmostEqual(float(line["mean"].get("data-v")), messages["mean"], places=6)
                self.assertEqual(float(line["min–max"].get("data-v")), messages["max"])
                if kind == "mutex":
                    self.assertAlmostEqual(float(line["sync"].get("data-v")), row["heavy"]["sync_delay"]["mean"], places=6)
                    self.assertEqual(float(line["pass"].get("data-v")), row["heavy"]["bypass"]["max"])
                for column, of_document in (("held", True), ("rules", False)):
                    verdicts = [claim["verdict"] for claim in row["claims"] if (claim["where"] is not None) == of_document]
                    judged = sum(verdict != "unmeasured" for verdict in verdicts)
                    self.assertEqual("".join(line[column].itertext()).rstrip("*"),
                                     f"{verdicts.count('held')}/{judged}" if judged else "–")
                where = line["messages"].find("small").text
                self.assertEqual(where, row["claimed"]["where"] if row["claimed"] else "by no document")

    def test_claims_have_formula_source_and_verdict(self):
        for element in self.made.by_id("claims").iter("details"):
            name = element.find("summary/b").text
            rows = [row for row in self.rows if name_of(row) == name]
            claims = {(claim["formula"], claim["where"] or "–") for row in rows for claim in row["claims"]}
            groups = {"".join(body[0].itertext()): list(body)[1:] for body in element.iter("tbody")}
            lines = [row for group in groups.values() for row in group]
            self.assertEqual(claims, {(row[1].find("b").text, row[2].text) for row in lines}, name)
            for title, group in groups.items():
                self.assertEqual({"our own" in title}, {row[2].text == "–" for row in group}, name)
            cells = [cell.get("class") for row in lines for cell in list(row)[3:] if cell.get("class")]
            self.assertEqual(sorted(cells), sorted(claim["verdict"] for row in rows for claim in row["claims"]))

    def test_links_lead_somewhere(self):
        links = {link.get("href")[1:] for link in self.made.page.iter("a")}
        self.assertGreater(len(links), 24)
        for link in links:
            self.assertIsNotNone(self.made.by_id(link), link)

    def test_refuted_claims_are_told(self):
        text = "".join(self.made.by_id("claims").itertext())
        self.assertIn("Refuted", text)
        self.assertIn("the number of that process needs N messages to come back", text)


class Alone(unittest.TestCase):
    def test_nothing_is_fetched(self):
        text = Made("--nodes 2,4", SMALL).text
        for outside in ("http:", "https:", "//", "url(", "@import", "src=", "<link", "<img", "<iframe", "fetch(", "XMLHttp", "import("):
            self.assertNotIn(outside, text)
        self.assertEqual([link for link in re.findall(r'href="([^"]*)"', text) if not link.startswith("#")], [])

    def test_the_same_bytes_again(self):
        words = f"--nodes 2,5 {SMALL}"
        first, second = Made(words), Made(words)
        self.assertEqual(first.text, second.text)
        one, two = (Made(words, f"--threads {threads}").text.replace(f"--threads {threads}", "") for threads in (1, 2))
        self.assertEqual(one, two)

    def test_other_seeds_other_figures(self):
        words = "--nodes 2,8 --algorithms neilsen --entries 20"
        first, second = (Made(words, f"--seeds {seeds}").plots()["messages-light"] for seeds in ("1..2", "3..4"))
        self.assertNotEqual(first, second)


class Contract(unittest.TestCase):
    def run_baton(self, *arguments):
        return subprocess.run([BATON, "compare", *"--nodes 4 --algorithms central --entries 5 --seeds 1..1".split(), *arguments],
                              check=False, capture_output=True, text=True)

    def test_the_terminal_has_its_table_all_the_same(self):
        plain = subprocess.run([BATON, "compare", "--nodes", "4,8", *SMALL.split()], check=True, capture_output=True, text=True)
        self.assertEqual(Made("--nodes 4,8", SMALL, output="").out, plain.stdout)
        csv = subprocess.run([BATON, "compare", "--nodes", "4,8", "--load", "heavy", "--csv", *SMALL.split()], check=True,
                             capture_output=True, text=True)
        self.assertEqual(Made("--nodes 4,8 --load heavy", SMALL, output="--csv").out, csv.stdout)

    def test_default_sizes(self):
        whole = Made("--algorithms central,chang-roberts", SMALL).json()
        sizes = {name: [row["nodes"] for row in whole["rows"] if row["algorithm"] == name] for name in ("central", "chang-roberts")}
        self.assertEqual(sizes["central"], [2, 4, 8, 16, 32, 64])
        self.assertEqual(sizes["chang-roberts"], [2, 4, 8, 16, 32, 64, 128, 256])

    def test_says_what_made_it(self):
        name = "a<b>&\"c' d.html"
        made = Made("--nodes 2 --algorithms central", SMALL, name=name)
        command = made.page.find(".//code").text
        self.assertTrue(command.startswith("baton compare --nodes 2 --algorithms central --entries 20 --seeds 1..2 --json --html "))
        again = subprocess.run(["sh", "-c", f"printf %s {command.split('--html ')[1]}"], check=True, capture_output=True, text=True)
        self.assertEqual(again.stdout, name)
        version = subprocess.run([BATON, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
        self.assertIn(f"version {version}", "".join(made.page.itertext()))

    def test_what_cannot_be_plotted_is_said(self):
        for words, plots, sentence in (
                ("--load light", ["messages-light", "bytes-light", "elections-mean", "elections-most"],
                 "No plot of “Delay against load”: only one load was asked for."),
                ("--load poisson:0.05 --algorithms central", ["messages-poisson", "bytes-poisson"],
                 "No plot of “Messages to elect”: no election was measured."),
                ("--nodes 5 --algorithms central,bully", ["waiting-response", "waiting-sync"],
                 "No plot of “Messages for an entry”: there is only one size; the table has its figures."),
                ("--nodes 1 --algorithms central", [], "No plot of “Delay against load”: all figures are 0"),
                ("--algorithms franklin --nodes 2,4", ["elections-mean", "elections-most"],
                 "No plot of “Bytes for an entry”: no algorithm of mutual exclusion was measured."),
                ("--nodes 3,6 --topology ring --algorithms lamport,helary",
                 ["messages-light", "messages-heavy", "waiting-response", "waiting-sync", "bytes-light", "bytes-heavy"],
                 "at 6 nodes, because topology 'ring' is not a complete graph: lamport")):
            made = Made("--nodes 2,4" if "--nodes" not in words else "", words, SMALL)
            self.assertEqual(list(made.plots()), plots, words)
            self.assertIn(sentence, "".join(made.by_id("left-out").itertext()))

    def test_a_file_that_cannot_be_written(self):
        for path, why in (("/nowhere/page.html", "No such file or directory"), ("/", "Is a directory"),
                          ("/dev/full", "could not be written")):
            done = self.run_baton("--html", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f"^baton compare: page file '{path}'.*{why}\n$")

    def test_an_old_page_stays_until_there_is_a_new_one(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"old" * 100000)
            file.flush()
            self.assertEqual(self.run_baton("--topology", "line", "--html", file.name).returncode, 2)
            self.assertEqual(os.path.getsize(file.name), 300000)
            self.assertEqual(self.run_baton("--html", file.name).returncode, 0)
            with open(file.name, encoding="utf-8") as page:
                self.assertRegex(page.read(), r"^<!DOCTYPE html>(.|\n)*</html>\n$")

    def test_a_pipe_will_do(self):
        done = self.run_baton("--json", "--html", "/dev/stderr")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stderr.startswith("<!DOCTYPE html>") and done.stderr.endswith("</html>\n"))


class InABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "page.html")
        subprocess.run([BATON, "compare", *SMALL.split(), "--nodes", "1,2,4,16,64", "--html", cls.path], check=True,
                       stdout=subprocess.DEVNULL)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def open(self, width, dark=False):
        page = self.browser.open(self.path, width, dark=dark)
        self.addCleanup(page.close)
        return page

    def test_opens_without_a_complaint_and_fetches_nothing(self):
        grounds = set()
        for width in (1280, 400):
            for dark in (False, True):
                page = self.open(width, dark)
                self.assertEqual(page.complaints(), [])
                self.assertEqual(page.requests(), ["file://" + self.path])
                grounds.add((dark, page.value("getComputedStyle(document.documentElement).backgroundColor")))
        self.assertEqual(grounds, {(False, "rgb(252, 251, 248)"), (True, "rgb(14, 17, 21)")})

    def test_no_page_is_wider_than_the_screen(self):
        for width in (1280, 800, 400, 320):
            page = self.open(width)
            page.value("document.querySelectorAll('details').forEach(details => { details.open = true; })")
            self.assertLessEqual(page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0, width)

    def test_letters_are_large_enough_to_read(self):
        for width in (1280, 800, 400):
            smallest = self.open(width).value("""Math.min(...[...document.querySelectorAll('.plot text')].map(text =>
                parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))""")
            self.assertGreater(smallest, 10.5, width)

    def test_labels_neither_overlap_nor_are_cut_off(self):
        self.assertEqual(self.open(1280).value("""[...document.querySelectorAll('.plot')].flatMap(plot => {
            const found = [], edge = plot.getBoundingClientRect();
            const boxes = [...plot.querySelectorAll('text:not(.inner)')].map(text => [text.textContent, text.getBoundingClientRect()]);
            boxes.forEach(([name, box], i) => {
                if (box.left < edge.left || box.right > edge.right || box.top < edge.top || box.bottom > edge.bottom)
                    found.push([plot.id, name, 'cut off']);
                for (const [other, next] of boxes.slice(i + 1)) {
                    const wide = Math.min(box.right, next.right) - Math.max(box.left, next.left);
                    const high = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
                    if (wide > 1 && high > 3)
                        found.push([plot.id, name, other]);
                }
            });
            return found;
        })"""), [])

    def test_a_phone_names_the_curves_inside_the_plot(self):
        names = """[...document.querySelectorAll('.plot .inner')].filter(text => {
            const box = text.getBoundingClientRect(), edge = text.closest('.crop').getBoundingClientRect();
            return box.width > 0 && box.left > edge.left && box.right < edge.right && box.bottom < edge.bottom;
        }).map(text => text.textContent)"""
        self.assertEqual(self.open(400).value(names), ["n²", "n log n"] * 2)
        self.assertEqual(self.open(1280).value(names), [])  # on a wide screen each line has a label at its end

    def test_a_phone_shows_the_whole_of_every_line(self):
        """On a phone the labels are cut off, but the marks are not."""
        self.assertEqual(self.open(400).value("""[...document.querySelectorAll('.plot')].flatMap(plot => {
            const edge = plot.parentElement.getBoundingClientRect();
            return [...plot.querySelectorAll('use[data-x]')].filter(mark =>
                mark.getBoundingClientRect().right > edge.right).map(mark => plot.id);
        })"""), [])

    def test_tables_are_sorted_by_keyboard(self):
        page = self.open(1280)
        head = "document.querySelectorAll('#exclusion .heads th')[3]"
        shown = f"""[...document.querySelectorAll('#exclusion tbody tr')].filter(row => row.getClientRects().length !== 0)
                    .map(row => Number(row.cells[3].dataset.v))"""
        before = page.value(shown)
        self.assertEqual(len(before), 16)  # all series have one size
        page.value(f"{head}.querySelector('button').focus()")
        for state, ordered in (("ascending", sorted(before)), ("descending", sorted(before, reverse=True))):
            page.press("Enter", 13)
            self.assertEqual(page.value(f"{head}.getAttribute('aria-sort')"), state)
            self.assertEqual(page.value(shown), ordered)
        page.value("document.querySelectorAll('#exclusion .heads th button')[0].click()")
        names = page.value("[...document.querySelectorAll('#exclusion tbody th')].map(cell => cell.textContent)")
        self.assertEqual(names, sorted(names))
        self.assertEqual(page.value("document.querySelectorAll('#exclusion [aria-sort]').length"), 1)
        self.assertEqual(page.complaints(), [])

    def test_one_size_at_a_time_without_script(self):
        page = self.browser.open("/dev/null", 1280)
        self.addCleanup(page.close)
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.go(self.path)
        count = "[...document.querySelectorAll('#exclusion tbody tr')].filter(row => row.getClientRects().length !== 0).length"
        self.assertEqual(page.value("document.querySelectorAll('button').length"), 0)
        self.assertEqual(page.value(count), 16)
        for size, rows in (("64", 16), ("all", 80)):
            page.value(f"document.getElementById('exclusion-{size}').checked = true")
            self.assertEqual(page.value(count), rows)

    def test_a_name_is_followed_through_all_plots(self):
        page = self.open(1280)
        page.value("[...document.querySelectorAll('.legend button')].find(b => b.textContent === 'neilsen').click()")
        self.assertEqual(page.value("[...document.querySelectorAll('.series.lit')].map(line => line.dataset.name)"), ["neilsen"] * 6)
        self.assertEqual(page.value("document.querySelectorAll('.item[aria-pressed=true]').length"), 3)
        page.value("document.querySelector('.legend button[aria-pressed=true]').click()")
        self.assertEqual(page.value("document.querySelectorAll('.lit').length"), 0)
        self.assertEqual(page.complaints(), [])

    def test_a_link_opens_the_claims(self):
        page = self.open(1280)
        page.value("document.querySelector('#exclusion tbody a').click()")
        self.assertEqual(page.value("document.querySelectorAll('#claims details[open]').length"), 1)

    def test_print_is_black_on_white_and_has_all_rows(self):
        page = self.open(718, dark=True)
        page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(page.value("getComputedStyle(document.documentElement).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(page.value("[...document.querySelectorAll('#exclusion tbody tr')].filter(row => "
                                    "row.getClientRects().length !== 0).length"), 80)
        self.assertLessEqual(page.value("Math.max(...[...document.querySelectorAll('table')].map(table => "
                                        "table.getBoundingClientRect().right))"), 718)


if __name__ == "__main__":
    unittest.main()
