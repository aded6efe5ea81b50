#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No text of the library names an option or a command of the command line: it names settings
(morton/message.hpp), and cli/common/option_names.cpp alone writes options and commands for them."""

import re

from project import Problems, files, read

LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*')
OPTION = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-[a-zA-Z](?=[ `);,]))")
COMMAND = re.compile(r"[`'(]morton [a-z-]+")
# Options of other programs.
OTHERS = {"apt-get install --reinstall "}


def main():
    problems = Problems()
    for path in files(".cpp", ".hpp", ".h", ".def"):
        if not str(path).startswith(("src/", "include/")):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            code = COMMENT.sub(lambda found: found.group(1) or "", line)
            for literal in LITERAL.findall(code):
                for other in OTHERS:
                    literal = literal.replace(other, "")
                for option in OPTION.findall(literal):
                    problems.add(path, number, f"names the option {option}: name the setting, as "
                                 'setting("exclude", name) does')
                for command in COMMAND.findall(literal):
                    problems.add(path, number, f"names the command {command[1:]}: name it as "
                                 'setting("cache", "list") does')
    problems.finish()


main()
