#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of a program of GoogleTest, and goes on behind one that ends the process, as drivers do:
tools/each_test.py [--memory GIB] COMMAND [ARGUMENTS OF GOOGLETEST]. The arguments go to each process; a filter chooses among
the tests. It prints what failed, with what the test said, then one line: how many were right, failed, ended the process, and were
not for the device. The status is 1 where one failed or ended the process."""

import argparse
import collections
import re
import resource
import subprocess
import sys

STATES = {"       OK": "right", "  FAILED ": "failed", "  SKIPPED": "not for the device"}
LINE = re.compile(r"^\[( RUN     |       OK|  FAILED |  SKIPPED) \] (\S+?)(?:,? .*)?$")
MOST_IN_A_FILTER = 60000  # characters: an argument may have 128 KiB


def listed(command, words):
    """Names of the tests, in the program's order."""
    text = subprocess.run([*command, *words, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if not name.startswith(" "):
            suite = name
        elif name:
            names.append(suite + name.strip())
    return [name for name in names if "DISABLED_" not in name]


def filter_of(names):
    """The first names, as many as one argument has room for."""
    taken, length = [], 0
    for name in names:
        length += len(name) + 1
        if taken and length > MOST_IN_A_FILTER:
            break
        taken.append(name)
    return taken


def run(command, words, names, limit):
    """(name, state, what it said) of each that began; the last one's state is None where the process ended."""
    process = subprocess.Popen([*command, *words, "--gtest_brief=0", "--gtest_filter=" + ":".join(names)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", preexec_fn=limit)
    now, said = None, []
    for line in process.stdout:
        found = LINE.match(line.rstrip("\n"))
        if found and found.group(1) == " RUN     ":
            now, said = found.group(2), []
        elif found and found.group(2) == now:
            yield now, STATES[found.group(1)], "".join(said)
            now = None
        else:
            said.append(line)
    if process.wait() not in (0, 1) or now is not None:
        yield now, None, "".join(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=float, metavar="GIB", help="most addresses of a process: one that takes all memory ends alone")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    words = [word for word in options.command if word.startswith("--gtest")]
    command = [word for word in options.command if not word.startswith("--gtest")]
    if not command:
        parser.error("a command is wanted")

    def limit():
        if options.memory:
            most = int(options.memory * 2**30)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

    left, states = listed(command, words), collections.Counter()
    total = len(left)
    words = [word for word in words if not word.startswith("--gtest_filter")]
    while left:
        names, done, ended = filter_of(left), set(), False
        for name, state, said in run(command, words, names, limit):
            if name is None and not done:
                sys.exit(f"each_test: the program ended before its first test:\n{said}")
            states[state or "ended"] += 1
            if state in ("failed", None):
                print(f"{said}{'FAILED' if state else 'ENDED THE PROCESS'}: {name or 'what is behind the last test'}", flush=True)
            if name is not None:
                done.add(name)
            if sys.stderr.isatty():
                print(f"{sum(states.values())} of {total}  {(name or '')[-100:]}\033[K", end="\r", file=sys.stderr)
            ended = state is None
        # A process that ended leaves the tests behind it; another one has run all that it was given.
        left = [name for name in left if name not in done] if ended else left[len(names):]
    print(f"{states['right']} right, {states['failed']} failed, {states['ended']} ended the process, "
          f"{states['not for the device']} not for the device")
    return 1 if states["failed"] or states["ended"] else 0


if __name__ == "__main__":
    sys.exit(main())
