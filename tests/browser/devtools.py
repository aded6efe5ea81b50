# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, told what to do over a pipe in the DevTools protocol. It needs nothing
beyond Python and Chromium."""

import fcntl
import json
import os
import select
import subprocess
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--hide-scrollbars", "--disable-extensions", "--disable-background-networking",
         "--remote-debugging-pipe"]


class Browser:
    """One page. `events` are those since the last visit, as the protocol has them."""

    def __init__(self, program, folder):
        # The browser reads commands from its descriptor 3 and writes to its descriptor 4.
        from_us, self._to_it = os.pipe()
        self._from_it, to_us = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (from_us, to_us)]
        self._log = open(os.path.join(folder, "browser.log"), "wb")
        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={folder}", "about:blank"], pass_fds=(3, 4),
            preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)),
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            env={**os.environ, "HOME": folder})
        for descriptor in (from_us, to_us, *ends):
            os.close(descriptor)
        self._rest = b""
        self._number = 0
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        """Ends the browser."""
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to_it)
        os.close(self._from_it)
        self._log.close()

    def call(self, method, **parameters):
        """The result of a command; RuntimeError for one that fails."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to_it, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(60.0)
            if answer.get("id") == self._number:
                break
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def visit(self, address):
        """Opens a page and waits until it is loaded."""
        self.events = []
        self.call("Page.navigate", url=address)
        end = time.monotonic() + 60.0
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            if time.monotonic() > end:
                raise RuntimeError(f"{address} is not loaded")
            self.events.append(self._read(60.0))

    def value(self, expression):
        """What a JavaScript expression gives on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def _read(self, seconds):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from_it], [], [], seconds)
            read = os.read(self._from_it, 1 << 16) if ready else b""
            if not read:
                raise RuntimeError("the browser says nothing any more")
            self._rest += read
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)
