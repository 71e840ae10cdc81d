"""Reads a trace and checks that it is consistent, without knowing the algorithm."""
import json


class Trace:
    """The content of a trace. Raises AssertionError if the trace contradicts itself."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.events = [json.loads(line) for line in file]
        self.messages = {}  # messages in flight: msg -> send
        self.sent = 0
        self.lost = 0
        self.entries = 0
        self.inside = set()
        self.waiting = set()
        self.vars = {}
        start, *rest = self.events
        assert start["ev"] == "start" and list(start) == [
            "ev", "algorithm", "topology", "nodes", "edges", "holder", "fifo", "seed", "params"], start
        self.start = start
        assert rest[-1]["ev"] == "end"
        time = 0
        for event in rest:
            assert event["t"] >= time, event
            time = event["t"]
            getattr(self, "on_" + event["ev"])(event)

    def on_request(self, event):
        assert event["node"] not in self.waiting | self.inside, event
        self.waiting.add(event["node"])

    def on_send(self, event):
        assert list(event) == ["t", "ev", "msg", "from", "to", "type", "text", "bytes", "token"], event
        assert event["text"].split("(")[0] == event["type"], event
        self.sent += 1
        assert event["msg"] == self.sent, event
        self.messages[event["msg"]] = event

    def on_deliver(self, event):
        send = self.messages.pop(event["msg"])
        assert [send[k] for k in ("from", "to", "type")] == [event[k] for k in ("from", "to", "type")], event
        if self.start["fifo"]:
            older = [m for m, s in self.messages.items() if m < event["msg"] and (s["from"], s["to"]) == (event["from"], event["to"])]
            assert not older or self.start["nodes"] == 2, (event, older)

    def on_lose(self, event):
        del self.messages[event["msg"]]
        self.lost += 1

    def on_enter(self, event):
        self.waiting.remove(event["node"])
        assert not self.inside, event
        self.inside.add(event["node"])

    def on_exit(self, event):
        self.inside.remove(event["node"])
        self.entries += 1

    def on_state(self, event):
        assert event["vars"] != self.vars.get(event["node"]), event
        self.vars[event["node"]] = event["vars"]

    def on_end(self, event):
        pass
