#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_man_pages.py PROGRAM FOLDER

Each command of PROGRAM has a manual page in FOLDER that groff reads without a warning, and the page
has all that --help says. Ends with 77 where groff is not installed.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

SUBCOMMAND = re.compile(r"^  (\S+)  ")


def output_of(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True)


def commands_of(help_lines):
    """The names below "Subcommands:"."""
    names, is_list = [], False
    for line in help_lines:
        is_list = line == "Subcommands:" or (is_list and line.startswith("  "))
        named = SUBCOMMAND.match(line)
        if is_list and named:
            names.append(named.group(1))
    return names


def words_of(text):
    """What is left where hyphens, quotes and line breaks look different."""
    text = re.sub(r".\x08", "", text)
    return re.sub(r"[^A-Za-z0-9=+*/]", "", text)


def check(program, folder, words, problems):
    """Adds what is wrong with the page of a command and of those below it; returns their number."""
    help_lines = output_of(program, *words, "--help").stdout.splitlines()
    name = "-".join(["morton", *words])
    page = folder / f"{name}.1"
    if not page.is_file():
        problems.append(f"{page} does not exist")
        return 1
    shown = output_of("groff", "-ww", "-man", "-Tascii", "-P-cbou", "-rLL=200n", "-rHY=0", str(page))
    problems += [f"{name}: {line}" for line in shown.stderr.splitlines()]
    flat = words_of(shown.stdout)
    for line in help_lines[2:]:
        # A list has another heading, and names of a list of commands are those of their pages.
        if re.fullmatch(r"[A-Z][^.]*:", line):
            continue
        # Nor has a paragraph with a heading of its own, or an argument with another name for people.
        line = re.sub(r"^(Environment|Exit status|Files): |^  (model|models|architecture|part|file|name|NAME) (?=[A-Z])",
                      "", line)
        for part in re.split(r"  +", line.strip()):
            if words_of(part) not in flat:
                problems.append(f"{name}: the page lacks {part!r}")
    return 1 + sum(check(program, folder, [*words, command], problems) for command in commands_of(help_lines))


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    if not shutil.which("groff"):
        print("groff is not installed (groff-base)")
        return 77
    problems = []
    pages = check(program, folder, [], problems)
    there = len(list(folder.glob("*.1")))
    if pages != there:
        problems.append(f"{there} pages for {pages} commands")
    print(*problems, sep="\n")
    print(f"{pages} pages, {len(problems)} problems")
    return 1 if problems or pages < 20 else 0


sys.exit(main())
