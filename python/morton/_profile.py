# SPDX-License-Identifier: Apache-2.0
"""What runs of a session took, as a trace that chrome://tracing and Perfetto show."""
import json
import os
import time


class Profile:
    """Collects the steps of runs."""

    def __init__(self, options):
        self.start_ns = time.perf_counter_ns()
        self._name = f"{options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}_{os.getpid()}.json"
        self._events = []
        self._runs = 0

    def add(self, session, start_ns):
        """The last run, and its steps; of a session that plans for each shape the run alone. A run's times are the
        host's, a step's the device's, so each have a row of their own."""
        self._runs += 1
        self._events.append({"name": "model_run", "cat": "Session", "ph": "X", "pid": os.getpid(), "tid": 1,
                             "ts": (start_ns - self.start_ns) / 1e3,
                             "dur": (time.perf_counter_ns() - start_ns) / 1e3, "args": {"run": self._runs}})
        steps = session.step_times() if hasattr(session, "step_times") else []
        for step in steps:
            if step["device_us"] is None:
                continue
            self._events.append({"name": step["name"], "cat": "Node", "ph": "X", "pid": os.getpid(), "tid": 0,
                                 "ts": step["start_ns"] / 1e3, "dur": step["device_us"],
                                 "args": {"kernel": step["kernel"], "run": self._runs}})

    def write(self):
        with open(self._name, "w", encoding="utf-8") as file:
            json.dump(self._events, file)
        return self._name
