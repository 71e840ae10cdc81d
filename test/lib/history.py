"""Histories of a lock service on real processes, and a checker of them.

A history is JSON lines. Every time is in nanoseconds on one clock, CLOCK_BOOTTIME of the machine on which all of it ran. A hold is
one attempt of one client, from its question to the end of its last process; `hold` numbers it.

    {"t", "ev":"asked", "hold", "client", "lock", "node"}
    {"t", "ev":"granted", "hold", "lock", "fence", "alone":bool}   the command began; alone: the kernel says that no process of
                                     another holder was there
    {"t", "ev":"valid", "hold", "until"}   it was told when the lease of its node would end, unless that is renewed
    {"t", "ev":"write", "hold", "lock", "fence", "accepted":bool}   it wrote to a register that refuses fences below the greatest
    {"t", "ev":"told", "hold"}       it was asked to stop
    {"t", "ev":"released", "hold"}   it ended by itself
    {"t", "ev":"gone", "hold"}       when its last process was last alive
    {"t", "ev":"answered", "hold", "code", "lost":bool|null, "fence":n|null}   the client's exit code, and what it reported
    {"t", "ev":"unguarded", "hold", "why"}   from now on nobody could stop it in time, so that only the register refuses it
    {"t", "ev":"fault", "kind", "what"}, {"t", "ev":"healed", "kind", "what"}, {"t", "ev":"view", "epoch", "members":n}
    {"t", "ev":"end"}                everything has ended; only then must each hold be gone and answered
"""
import collections
import json
import math

FIELDS = {
    "asked": {"hold", "client", "lock", "node"},
    "granted": {"hold", "lock", "fence", "alone"},
    "valid": {"hold", "until"},
    "write": {"hold", "lock", "fence", "accepted"},
    "told": {"hold"},
    "released": {"hold"},
    "gone": {"hold"},
    "answered": {"hold", "code", "lost", "fence"},
    "unguarded": {"hold", "why"},
    "fault": {"kind", "what"},
    "healed": {"kind", "what"},
    "view": {"epoch", "members"},
    "end": set(),
}
ONCE = ("asked", "granted", "valid", "told", "released", "gone", "answered")
LOST = 76  # the exit code of a `baton run` that lost its lock

Problem = collections.namedtuple("Problem", "rule text")


class Hold:
    """One hold: an attempt of one client to use one lock. A time of None means that the event never
    happened."""

    def __init__(self, number):
        self.number = number
        self.client = self.lock = self.node = self.fence = self.valid_until = self.alone = self.answer = None
        self.asked = self.granted = self.valid = self.told = self.released = self.gone = self.answered = self.unguarded = None

    def __str__(self):
        return f"hold {self.number} of {self.lock} (client {self.client} at {self.node}, fence {self.fence})"


class Verdict:
    def __init__(self):
        self.problems = []
        self.holds = {}
        self.grants = self.lost = self.unguarded = self.writes = self.refused = self.views = 0
        self.faults = collections.Counter()
        self.gaps_ns = []  # the time from a holder's last process to the next grant of that lock
        self.gaps_lost_ns = []  # these times for holders that were asked to stop or were killed

    def add(self, rule, text):
        self.problems.append(Problem(rule, text))

    def rules(self):
        return [problem.rule for problem in self.problems]


def read(path):
    """Returns the events of a file, sorted by time. Events of the same time keep their order in the file."""
    with open(path, encoding="utf-8") as file:
        events = [json.loads(line) for line in file if line.strip()]
    return sorted(events, key=lambda event: event.get("t", 0))


def judge(events):
    """Returns a Verdict: the faults of the history, and a summary of it."""
    verdict = Verdict()
    events = [event for event in events if is_well_formed(event, verdict)]
    ended = any(event["ev"] == "end" for event in events)
    for event in events:
        take(event, verdict)
    of_lock = collections.defaultdict(list)
    for hold in verdict.holds.values():
        judge_order(hold, ended, verdict)
        if hold.granted is not None:
            of_lock[hold.lock].append(hold)
    for holds in of_lock.values():
        holds.sort(key=lambda hold: hold.granted)
        judge_fences(holds, verdict)
        judge_intervals(holds, verdict)
    judge_register(events, verdict)
    return verdict


def is_well_formed(event, verdict):
    wanted = FIELDS.get(event.get("ev"))
    if wanted is None or not isinstance(event.get("t"), int) or not wanted <= event.keys():
        verdict.add("format", f"no event of a history: {json.dumps(event)}")
        return False
    return True


def take(event, verdict):
    kind, now = event["ev"], event["t"]
    if kind == "fault":
        verdict.faults[event["kind"]] += 1
    elif kind == "view":
        verdict.views += 1
    if "hold" not in event:
        return
    hold = verdict.holds.setdefault(event["hold"], Hold(event["hold"]))
    if kind in ONCE and getattr(hold, kind) is not None:
        verdict.add("order", f"{hold} was {kind} twice")
        return
    if kind == "asked":
        hold.client, hold.lock, hold.node = event["client"], event["lock"], event["node"]
    elif kind == "granted":
        verdict.grants += 1
        if hold.asked is not None and hold.lock != event["lock"]:
            verdict.add("order", f"{hold} was granted {event['lock']} instead")
        hold.lock, hold.fence, hold.alone = event["lock"], event["fence"], event["alone"]
    elif kind == "valid":
        hold.valid_until = event["until"]
    elif kind == "answered":
        hold.answer = event
        verdict.lost += event["code"] == LOST
    elif kind == "unguarded":
        verdict.unguarded += 1
    if kind != "write":
        setattr(hold, kind, now)


def judge_order(hold, ended, verdict):
    """Checks that a hold has a beginning and an end, in this order, and that its client tells the truth."""
    if hold.asked is None:
        verdict.add("order", f"{hold} was never asked for")
    steps = [(name, getattr(hold, name)) for name in ("asked", "granted", "released", "gone") if getattr(hold, name) is not None]
    for (before, first), (after, second) in zip(steps, steps[1:]):
        if second < first:
            verdict.add("order", f"{hold} was {after} before it was {before}")
    if hold.granted is None:
        for name in ("valid", "told", "released", "gone"):
            if getattr(hold, name) is not None:
                verdict.add("order", f"{hold} was {name} and never granted")
    elif hold.valid_until is not None and hold.valid_until <= hold.granted:
        verdict.add("validity", f"{hold} was granted after the end of its node's lease")
    if hold.granted is not None and hold.gone is None and ended:
        verdict.add("unended", f"{hold} never ended")
    if hold.answered is None:
        if ended:
            verdict.add("unanswered", f"{hold} was never answered")
        return
    answer = hold.answer
    if answer["fence"] is not None and hold.fence is not None and answer["fence"] != hold.fence:
        verdict.add("lie", f"{hold} was reported with fence {answer['fence']}")
    if answer["lost"] and answer["code"] == 0:
        verdict.add("lie", f"{hold} was lost, and its exit code is 0")


def judge_fences(holds, verdict):
    """Checks that each grant of a lock has a greater fence than the grants before it."""
    for before, after in zip(holds, holds[1:]):
        if after.fence <= before.fence:
            verdict.add("fence", f"{after} came after {before}")


def judge_intervals(holds, verdict):
    """Checks that nobody else is inside between a grant and the end of the holder's last process, unless nobody could have
    stopped that process."""
    last = None  # the guarded hold, among those so far, that stays inside longest
    unguarded_until = 0
    for hold in holds:
        if last is not None:
            gap = hold.granted - last.gone
            verdict.gaps_ns.append(gap)
            if last.released is None:
                verdict.gaps_lost_ns.append(gap)
            if gap < 0:
                verdict.add("overlap", f"{hold} was granted {-gap / 1e6:.3f} ms before the last process of {last} was gone")
        if hold.alone is False and hold.granted > unguarded_until:
            verdict.add("overlap", f"{hold} found a process of another holder when it began")
        # A process that nobody could stop counts as inside only until that moment.
        end = hold.gone if hold.gone is not None else hold.granted
        if hold.unguarded is not None:
            unguarded_until = max(unguarded_until, end, hold.answered or math.inf)
            end = min(end, max(hold.unguarded, hold.granted))
        if last is None or end > last.gone:
            last = Inside(hold, end)


class Inside:
    """The time for which a hold counts as inside."""

    def __init__(self, hold, gone):
        self.hold, self.gone = hold, gone
        self.released = hold.released

    def __str__(self):
        return str(self.hold)


def judge_register(events, verdict):
    """Checks that the register never accepts a fence below one it has accepted, and refuses only holds that nobody could stop."""
    greatest = {}
    for event in events:
        if event["ev"] != "write":
            continue
        verdict.writes += 1
        hold, lock, fence = verdict.holds[event["hold"]], event["lock"], event["fence"]
        if hold.granted is None or event["t"] < hold.granted:
            verdict.add("order", f"{hold} wrote before it was granted")
        if hold.fence is not None and fence != hold.fence:
            verdict.add("lie", f"{hold} wrote with fence {fence}")
        if not event["accepted"]:
            verdict.refused += 1
            if hold.unguarded is None:
                verdict.add("overtaken", f"a write of {hold} came too late: the register had seen a greater fence")
            continue
        if fence < greatest.get(lock, 0):
            verdict.add("register", f"the register of {lock} took {fence} of {hold} after {greatest[lock]}")
        greatest[lock] = max(greatest.get(lock, 0), fence)


def report(verdict):
    """Returns a summary of the history, as an object for JSON."""
    def least(gaps):
        return round(min(gaps) / 1e6, 3) if gaps else None
    return {"problems": [problem._asdict() for problem in verdict.problems], "asked": len(verdict.holds), "grants": verdict.grants,
            "lost": verdict.lost, "unguarded": verdict.unguarded, "writes": verdict.writes, "refused": verdict.refused,
            "views": verdict.views, "faults": dict(sorted(verdict.faults.items())), "gap_ms_least": least(verdict.gaps_ns),
            "gap_ms_least_after_loss": least(verdict.gaps_lost_ns)}
