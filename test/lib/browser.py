"""A headless Chromium for the tests of pages. Its own protocol drives it over a pipe, so it needs no port and no other package.
The headless shell needs half the processor time of the whole browser, whose windows nobody would see."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile

PATIENCE = 120  # seconds without a message after which the browser counts as hanging


class Browser:
    """with Browser() as browser: page = browser.open(path, width=400, dark=True)"""

    def __init__(self):
        program = shutil.which("chromium-headless-shell")
        if program is None:
            raise FileNotFoundError("chromium-headless-shell is needed to test pages: tools/setup installs it")
        self.profile = tempfile.TemporaryDirectory(prefix="baton-browser-")
        here, there = os.pipe(), os.pipe()
        # The browser reads from descriptor 3 and writes to 4. Our pipes may happen to have these numbers.
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (here[0], there[1])]
        os.close(here[0])
        os.close(there[1])
        self.to, self.answers = here[1], there[0]
        self.process = subprocess.Popen(
            [program, "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=lambda: (os.dup2(theirs[0], 3), os.dup2(theirs[1], 4)))
        for fd in theirs:
            os.close(fd)
        self.buffer, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (EOFError, BrokenPipeError):
            pass  # the browser has already ended
        self.process.wait(PATIENCE)
        os.close(self.to)
        os.close(self.answers)
        shutil.rmtree(self.profile.name, ignore_errors=True)  # helper processes of the browser may still be writing
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], PATIENCE)[0]:
                self.process.kill()
                raise TimeoutError("the browser hangs")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (answer := self.receive()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, path, width, height=900, dark=False):
        return Page(self, path, width, height, dark)


class Page:
    """An open page, with the list of files it fetched, its errors and its warnings."""

    def __init__(self, browser, path, width, height, dark):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.go(path)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def go(self, path):
        """Opens a file. Forgets earlier fetches and messages."""
        self.browser.events = [event for event in self.browser.events if event.get("sessionId") != self.session]
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event["method"] == "Page.loadEventFired" for event in self.own()):
            self.browser.events.append(self.browser.receive())

    def own(self):
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def complaints(self):
        """Returns errors and warnings on the console, exceptions, and messages that the browser itself logs."""
        found = []
        for event in self.own():
            if event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert"):
                found.append(event["params"]["args"])
            elif event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(event["params"])
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.own() if event["method"] == "Network.requestWillBeSent"]

    def value(self, expression):
        """Returns the value of a JavaScript expression, which must be JSON."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if kind == "keyDown" and key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def screenshot(self, path):
        """Draws the whole page into a picture, for a person to look at."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
