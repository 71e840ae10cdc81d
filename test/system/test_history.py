"""Tests the checker of histories: it accepts a good history, and refuses wrong ones, made by hand, for the right reason."""
import io
import json
import os
import subprocess
import tempfile
import types
import unittest

import drawing
import history
import picture
import takeover

MS = 1_000_000


def at(ms, ev, **fields):
    return {"t": round(ms * MS), "ev": ev, **fields}


def held(number, begin, end, fence, lock="prize", **changes):
    """Returns the events of a good hold with some changes, given by the name of the event. An event that is None is left out."""
    events = {
        "asked": at(begin - 5, "asked", hold=number, client=number, lock=lock, node="n1"),
        "granted": at(begin, "granted", hold=number, lock=lock, fence=fence, alone=True),
        "valid": at(begin + 0.2, "valid", hold=number, until=round((begin + 900) * MS)),
        "write": at(begin + 0.1, "write", hold=number, lock=lock, fence=fence, accepted=True),
        "released": at(end - 0.1, "released", hold=number),
        "gone": at(end, "gone", hold=number),
        "answered": at(end + 2, "answered", hold=number, code=0, lost=False, fence=fence),
    }
    for name, change in changes.items():
        if change is None:
            del events[name]
        else:
            events[name] = {**events.get(name, {"ev": name, "hold": number}), **change}
    return list(events.values())


def killed(number, begin, end, fence, **changes):
    """Returns a hold that was lost: its command was told to stop, and was killed."""
    return held(number, begin, end, fence, **{"told": at(end - 3, "told"), "released": None,
                                                 "answered": {"code": 76, "lost": True}, **changes})


def judge(*holds, ended=True):
    events = [event for hold in holds for event in hold] + ([at(10_000, "end")] if ended else [])
    return history.judge(sorted(events, key=lambda event: event["t"]))


class Good(unittest.TestCase):
    def test_nothing_is_wrong_with_holds_one_after_the_other(self):
        verdict = judge(held(1, 10, 20, 100), killed(2, 21, 40, 101), held(3, 45, 50, 110), held(4, 12, 60, 1, lock="other"),
                        [at(15, "fault", kind="kill", what="n1"), at(16, "view", epoch=2, members=1)])
        self.assertEqual(verdict.problems, [])
        self.assertEqual((verdict.grants, verdict.lost, verdict.views, dict(verdict.faults)), (4, 1, 1, {"kill": 1}))
        self.assertEqual(history.report(verdict)["gap_ms_least"], 1)
        self.assertEqual(history.report(verdict)["gap_ms_least_after_loss"], 5)

    def test_who_was_not_granted_is_no_holder(self):
        refused = [at(10, "asked", hold=1, client=1, lock="prize", node="n1"),
                   at(20, "answered", hold=1, code=69, lost=None, fence=None)]
        self.assertEqual(judge(refused, held(2, 12, 14, 5)).problems, [])

    def test_a_history_that_goes_on_may_have_open_holds(self):
        self.assertEqual(judge(held(1, 10, 20, 100, gone=None, released=None, answered=None), ended=False).problems, [])

    def test_who_could_not_be_stopped_may_still_be_there(self):
        late = killed(1, 10, 500, 100, unguarded={"t": 50 * MS, "why": "all stopped"}, gone=None, answered=None)
        self.assertEqual(judge(late, held(2, 60, 70, 101, granted={"alone": False}), ended=False).problems, [])

    def test_who_could_not_be_stopped_is_refused_by_the_register_instead(self):
        late = killed(1, 10, 500, 100, unguarded={"t": 50 * MS, "why": "all stopped"})
        late.append(at(499, "write", hold=1, lock="prize", fence=100, accepted=False))
        after = held(2, 60, 70, 101, granted={"alone": False})
        self.assertEqual(judge(late, after).problems, [])


class Wrong(unittest.TestCase):
    """Each history has one fault, and is refused for that alone."""

    def refused(self, rule, *holds, ended=True):
        verdict = judge(*holds, ended=ended)
        self.assertEqual(set(verdict.rules()), {rule}, verdict.problems)
        return verdict

    def test_two_are_inside(self):
        self.refused("overlap", held(1, 10, 20, 100), held(2, 19, 30, 101))

    def test_a_process_of_a_lost_hold_lives_too_long(self):
        verdict = self.refused("overlap", killed(1, 10, 200.5, 100), held(2, 200, 210, 101))
        self.assertEqual(history.report(verdict)["gap_ms_least_after_loss"], -0.5)

    def test_a_long_hold_overlaps_one_that_is_not_the_next(self):
        verdict = self.refused("overlap", held(1, 10, 100, 100), held(2, 20, 30, 101), held(3, 90, 110, 102))
        self.assertEqual(len(verdict.problems), 2)

    def test_the_kernel_saw_another_process(self):
        self.refused("overlap", killed(1, 10, 20, 100), held(2, 21, 30, 101, granted={"alone": False}))

    def test_a_hold_is_too_early_for_one_that_could_still_be_stopped(self):
        self.refused("overlap", killed(1, 10, 500, 100, unguarded={"t": 80 * MS, "why": "all stopped"}), held(2, 60, 70, 101))

    def test_a_fence_comes_twice(self):
        self.refused("fence", held(1, 10, 20, 100), held(2, 30, 40, 100))

    def test_a_fence_falls(self):
        self.refused("fence", held(1, 10, 20, 100, write=None), held(2, 30, 40, 99, write=None))

    def test_the_register_takes_an_older_fence(self):
        late = held(1, 10, 90, 100, unguarded={"t": 20 * MS, "why": "all stopped"})
        self.refused("register", late, held(2, 30, 40, 101), [at(80, "write", hold=1, lock="prize", fence=100, accepted=True)])

    def test_a_holder_that_could_be_stopped_is_overtaken(self):
        self.refused("overtaken", held(1, 10, 20, 100), [at(19, "write", hold=1, lock="prize", fence=100, accepted=False)])

    def test_a_holder_writes_with_the_fence_of_another(self):
        self.refused("lie", held(1, 10, 20, 100, write={"fence": 99}))

    def test_a_holder_writes_before_it_is_granted(self):
        self.refused("order", held(1, 10, 20, 100, write={"t": 9 * MS}))

    def test_nobody_asked(self):
        self.refused("order", held(1, 10, 20, 100, asked=None))

    def test_the_grant_comes_before_the_question(self):
        self.refused("order", held(1, 10, 20, 100, asked={"t": 11 * MS}))

    def test_another_lock_is_granted(self):
        self.refused("order", held(1, 10, 20, 100, granted={"lock": "other"}, write=None))

    def test_a_hold_ends_before_it_begins(self):
        self.refused("order", held(1, 10, 9, 100, answered={"t": 30 * MS}))

    def test_a_hold_ends_twice(self):
        self.refused("order", held(1, 10, 20, 100), [at(21, "gone", hold=1)])

    def test_a_hold_ends_that_was_never_granted(self):
        self.refused("order", held(1, 10, 20, 100, granted=None, write=None, valid=None, released=None))

    def test_a_grant_comes_after_the_end_of_the_lease(self):
        self.refused("validity", held(1, 10, 20, 100, valid={"until": 10 * MS}))

    def test_a_hold_never_ends(self):
        self.refused("unended", held(1, 10, 20, 100, gone=None))

    def test_a_client_is_never_answered(self):
        self.refused("unanswered", held(1, 10, 20, 100, answered=None))

    def test_a_lost_lock_is_reported_as_success(self):
        self.refused("lie", held(1, 10, 20, 100, answered={"lost": True}))

    def test_another_fence_is_reported(self):
        self.refused("lie", held(1, 10, 20, 100, answered={"fence": 101}))

    def test_an_event_is_unknown(self):
        self.refused("format", held(1, 10, 20, 100), [at(5, "grabbed", hold=1)])

    def test_an_event_lacks_a_field(self):
        self.refused("format", held(1, 10, 20, 100), [at(5, "fault", kind="kill")])

    def test_a_time_is_no_number(self):
        self.refused("format", held(1, 10, 20, 100), [{"t": 0, "ev": "end"}, {"t": 0.5, "ev": "end"}])


class Files(unittest.TestCase):
    def test_lines_come_back_in_the_order_of_their_times(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for event in reversed(held(1, 10, 20, 100)):
                file.write(json.dumps(event) + "\n")
            file.flush()
            events = history.read(file.name)
        self.assertEqual([event["ev"] for event in events], ["asked", "granted", "write", "valid", "released", "gone", "answered"])

    def test_a_history_is_drawn(self):
        holds = held(1, 10, 20, 100) + killed(2, 21, 40, 101)
        svg = drawing.history_svg([*holds, at(15, "fault", kind="kill", what="n1"), at(30, "healed", kind="kill", what="n1")])
        self.assertEqual(svg.count('class="hold"'), 2)
        self.assertIn("kill n1", svg)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "history.svg")
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg)
            done = subprocess.run(["rsvg-convert", "-o", path + ".png", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_takeover_is_drawn(self):
        """Draws a takeover that was recorded; times are in seconds. Each label is beside its bar
        and no other label covers it; the holders are amber, as everywhere."""
        hold = types.SimpleNamespace
        logs = [(0.79, "n2", "half of the lease is over"), (2.62, "n2", "waiting for the voters"), (2.855, "n1", "epoch 2, 2 members"),
                (2.856, "n3", "epoch 2, 2 members")]
        svg = takeover.takeover_svg(hold(lease_s=3, leader="n1", cut=0, gap_ms=lambda: 871, waiter=hold(node="n3", granted=2_860_000_000),
                                         holder=hold(node="n2", told=1_239_000_000, gone=1_989_000_000),
                                         logs=[(round(t * 1e9), node, text) for t, node, text in logs]))
        root = picture.read(io.StringIO(svg))
        bars = [picture.Label("bar", "a bar", *(float(bar.get(name)) for name in ("x", "y", "width", "height")))
                for bar in root.iter("rect") if bar.get("class") == "bar"]
        texts = [label._replace(height=label.height * 4 / 3) for label in picture.labels(root)]  # with descenders
        self.assertEqual(picture.covered(texts + bars), [])
        self.assertEqual(svg.count('fill="#f0a000" stroke="#945400"'), 2)
        self.assertIn('@media (prefers-color-scheme:dark){', svg)


if __name__ == "__main__":
    unittest.main()
