#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/man_pages.py FOLDER PROGRAM...

Writes the manual pages morton.1 and morton-COMMAND.1 into FOLDER, from the texts of --help alone.
PROGRAM is the program `morton`, with words before it where it needs an emulator.
$SOURCE_DATE_EPOCH sets the date of the pages.
"""

import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

# What paragraphs behind the options begin with, where a manual page has a section of that name.
NAMED_PARAGRAPHS = ("Environment", "Exit status", "Files")
# An item has its meaning from this column on, or on the next line.
MEANING_COLUMN = 34
LINE_WIDTH = 64


def escaped(text):
    """Text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return text.replace("^", "\\(ha").replace("~", "\\(ti")


def whole_line(text):
    """A line as it is: one that begins like a request must not become one."""
    line = escaped(text)
    return "\\&" + line if line.startswith((".", "\\(aq")) else line


def prose(lines):
    """Lines of running text, short ones for who reads the page's source."""
    text = " ".join(line.strip() for line in lines)
    return [whole_line(line) for line in
            textwrap.wrap(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)]


def help_of(program, words):
    run = subprocess.run([*program, *words, "--help"], stdout=subprocess.PIPE, check=True, text=True)
    return [line.rstrip() for line in run.stdout.splitlines()]


def items_of(lines):
    """(names, meaning) of each line such as "  -b,--batch N     Extent of ..."."""
    items = []
    for line in lines:
        if not line.startswith("  "):
            raise ValueError(f"a line of a list that names nothing: {line!r}")
        if line.startswith(" " * MEANING_COLUMN):
            items[-1][1] = (items[-1][1] + " " + line.strip()).strip()
            continue
        name, _, meaning = re.sub(r"  +", "\0", line.strip(), count=1).partition("\0")
        items.append([name, meaning])
    return items


def bold_names(item):
    """"-b,--batch N" with its names bold and its value in italics."""
    names, _, value = item.partition(" ")
    text = ", ".join(f"\\fB{escaped(name)}\\fR" for name in names.split(","))
    return text + (f" \\fI{escaped(value)}\\fR" if value else "")


def listed(items, heads):
    page = []
    for (name, meaning), head in zip(items, heads):
        page += [".TP", head, *(prose([meaning]) or ["\\&"])]
    return page


def block(lines):
    """Lines that stay as they are."""
    return [".nf", ".RS 4", *(whole_line(line) for line in lines), ".RE", ".fi"]


def sections_of(lines):
    """("Options", lines) of each list, and ("", lines) of each paragraph between them."""
    sections, current = [], None
    for line in lines:
        if not line:
            current = None
        elif re.fullmatch(r"[A-Z][^.]*:", line):
            current = (line[:-1], [])
            sections.append(current)
        else:
            named = next((n for n in NAMED_PARAGRAPHS if line.startswith(n + ": ")), None)
            if named:
                current = (named, [line[len(named) + 2 :]])
                sections.append(current)
                continue
            if current is None:
                current = ("", [])
                sections.append(current)
            current[1].append(line)
    return sections


def description(paragraphs):
    """Running text and, where lines are indented, lines as they are."""
    page = []
    for lines in paragraphs:
        if all(line.startswith(" ") for line in lines):
            page += [".PP", *block(line.strip() for line in lines)]
        else:
            page += [".PP", *prose(lines)]
    return page


def page_of(program, words, version, date):
    """The page's text, and the items of its list of commands."""
    lines = help_of(program, words)
    summary, usage = lines[0].rstrip("."), lines[1]
    if not usage.startswith("Usage: "):
        raise ValueError(f"{' '.join(words)} --help has no usage in its second line")
    if not words:
        summary = summary.removeprefix("Morton ")
    name = "-".join(["morton", *words])
    page = [f'.TH {escaped(name.upper())} 1 {date} "morton {version}" "User Commands"',
            ".SH NAME", f"{escaped(name)} \\- {escaped(summary[0].lower() + summary[1:])}",
            ".SH SYNOPSIS", f"\\fB{escaped(' '.join(['morton', *words]))}\\fR"
            + escaped(usage.split(" ".join(["morton", *words]), 1)[1])]
    paragraphs, lists, commands = [], [], []
    for title, part in sections_of(lines[2:]):
        if not title:
            paragraphs.append(part)
        elif title == "Subcommands":
            commands = items_of(part)
            heads = [f"\\fB{escaped('-'.join([name, item[0]]))}\\fR(1)" for item in commands]
            lists += [".SH COMMANDS", *listed(commands, heads)]
        elif title == "Positionals":
            # "model MODEL": its second word is what the meaning speaks of.
            items = [(item[0].partition(" ")[2] or item[0], item[1]) for item in items_of(part)]
            lists += [".SH ARGUMENTS", *listed(items, [f"\\fI{escaped(i[0])}\\fR" for i in items])]
        elif title == "Options":
            items = items_of(part)
            lists += [".SH OPTIONS", *listed(items, [bold_names(i[0]) for i in items])]
        elif all(line.startswith("  ") for line in part):
            lists += [f".SH {escaped(title.upper())}", *block(line[2:] for line in part)]
        else:
            lists += [f".SH {escaped(title.upper())}", *prose(part)]
    if paragraphs:
        page += [".SH DESCRIPTION", *description(paragraphs)[1:]]
    page += lists
    parent = "-".join(["morton", *words[:-1]])
    if words:
        page += [".SH SEE ALSO", f"\\fB{escaped(parent)}\\fR(1)"]
    return "\n".join(page) + "\n", [item[0] for item in commands]


def write_pages(folder, program, words, version, date):
    text, commands = page_of(program, words, version, date)
    (folder / ("-".join(["morton", *words]) + ".1")).write_text(text, encoding="utf-8")
    for command in commands:
        write_pages(folder, program, [*words, command], version, date)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[0])
    folder, program = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("morton*.1"):
        old.unlink()
    said = subprocess.run([*program, "--version"], stdout=subprocess.PIPE, check=True, text=True)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    write_pages(folder, program, [], said.stdout.split()[1], time.strftime("%Y-%m-%d", time.gmtime(seconds)))


main()
