"""Draws histories as pictures: SVG with literal colours, so that every viewer shows the same."""
import html

import history

WIDTH, LEFT, TOP, ROW = 960, 130, 52, 36
COLOURS = ("#2667d0", "#0b7a6b", "#945400", "#a8327f", "#338899", "#777711", "#5f6673")
RED, GREY, INK, PAPER = "#c2352b", "#d6d2c8", "#16191f", "#fcfbf8"
INSIDE, RIM = "#f0a000", "#945400"  # the right to be inside, as in all pictures; it is too pale on paper without its rim

# The colours that a browser draws instead in dark mode. Other programs show the attributes as they
# are.
DARK = dict(zip(COLOURS, ("#73a9ff", "#4fd0bd", "#ffc864", "#ee82c4", "#66bbcc", "#c9c95a", "#98a1ae")),
            **{RED: "#ff7a6e", GREY: "#3a4450", INK: "#eceef1", PAPER: "#0e1115", INSIDE: "#ffb224"})
STYLE = "<style>@media (prefers-color-scheme:dark){%s}</style>" % "".join(
    f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items())


class Picture:
    """A picture with rows from top to bottom, and time from left to right."""

    def __init__(self, first_ns, last_ns):
        self.first, self.last = first_ns, max(last_ns, first_ns + 1)
        self.parts = []
        self.rows = 0

    def x(self, t):
        return LEFT + (min(max(t, self.first), self.last) - self.first) * (WIDTH - LEFT - 20) / (self.last - self.first)

    def add_row(self, name):
        """Adds a row. Returns the vertical position of its middle."""
        y = TOP + ROW * self.rows
        self.rows += 1
        self.text(8, y + 4, name)
        self.parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - 20}" y2="{y}" stroke="{GREY}"/>')
        return y

    def text(self, x, y, text, colour=INK, anchor="start", size=12):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">'
                          f'{html.escape(str(text))}</text>')

    def bar(self, y, begin, end, colour, title, kind="bar", height=14):
        x, width = self.x(begin), max(self.x(end) - self.x(begin), 1)
        rim = f' stroke="{RIM}"' if colour == INSIDE else ""
        self.parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y - height / 2}" width="{width:.1f}" height="{height}" '
                          f'fill="{colour}"{rim}><title>{html.escape(title)}</title></rect>')

    def mark(self, y, t, colour, title):
        x = self.x(t)
        self.parts.append(f'<path d="M {x:.1f} {y - 9} L {x:.1f} {y + 9}" stroke="{colour}" stroke-width="2">'
                          f'<title>{html.escape(title)}</title></path>')

    def axis(self, zero_ns, step_ns):
        """Writes the time below the rows, in seconds since zero."""
        y = TOP + ROW * self.rows
        t = zero_ns - (zero_ns - self.first) // step_ns * step_ns
        while t <= self.last:
            self.mark(y - 8, t, GREY, "")
            self.text(self.x(t), y + 14, f"{(t - zero_ns) / 1e9:g} s", anchor="middle", size=11)
            t += step_ns
        self.rows += 1

    def svg(self, title):
        height = TOP + ROW * self.rows - 6
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
                f'font-family="sans-serif"><title>{html.escape(title)}</title>{STYLE}'
                f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>')
        return head + f'<text x="8" y="18" fill="{INK}" font-size="13">{html.escape(title)}</text>' + "\n".join(self.parts) + "</svg>\n"


def step_of(span_ns):
    """Returns a round step of time, such that about ten steps make the span."""
    return next(step for step in (10 ** (power // 3) * (1, 2, 5)[power % 3] for power in range(60)) if step * 12 >= span_ns)


def history_svg(events, first_ns=None, last_ns=None):
    """Draws a row for each kind of fault and each lock: which hold was inside, from the grant until its last process was gone. A
    red end means that the holder was asked to stop or was killed. With two times, only the part between them is drawn."""
    verdict = history.judge(events)
    holds = [hold for hold in verdict.holds.values() if hold.granted is not None]
    times = [event["t"] for event in events if isinstance(event.get("t"), int)]
    first, last = first_ns or min(times), last_ns or max(times)
    picture = Picture(first, last)
    nodes = sorted({hold.node for hold in holds if hold.node})
    colour_of = {node: COLOURS[i % len(COLOURS)] for i, node in enumerate(nodes)}
    for begin, end, text in faults_of(events, last):
        if begin <= last and end >= first:
            picture.bar(picture.add_row(text), begin, end, RED, text, "fault", 6)
    for lock in sorted({hold.lock for hold in holds}):
        y = picture.add_row(lock)
        for hold in holds:
            end = hold.gone or last
            if hold.lock != lock or end < first or hold.granted > last:
                continue
            picture.bar(y, hold.granted, end, colour_of.get(hold.node, INK), str(hold), "hold")
            if hold.released is None and hold.gone is not None:
                picture.mark(y, hold.gone, RED, "its last process was gone")
    picture.axis(first, step_of(last - first))
    x = LEFT
    for node in nodes:
        picture.text(x, 36, node, colour_of[node])
        x += 40
    return picture.svg(f"{len(holds)} holds, {sum(verdict.faults.values())} faults, {len(verdict.problems)} problems")


def faults_of(events, last):
    """Returns (begin, end, text) of each fault."""
    found, open_ = [], {}
    for event in events:
        if event["ev"] == "fault":
            open_[event["kind"], event["what"]] = event["t"]
        elif event["ev"] == "healed":
            key = event["kind"], event["what"]
            found.append((open_.pop(key, event["t"]), event["t"], " ".join(key)))
    return sorted(found + [(begin, last, " ".join(key)) for key, begin in open_.items()])
