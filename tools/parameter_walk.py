#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows one parameter through the calls that pass it on, and counts the way.

  tools/parameter_walk.py [-v] [FILE FUNCTION PARAMETER]

Without arguments: src/api/compile/compile.cpp compile model. It reads text alone. What it counts:

place    a source with its header; one of include/morton belongs to src/api or src/tools. What base/ holds are
         words that all places use: the walk passes through them, but they are no places.
the parameter  in a function: its name, a variable that is initialised from an expression with one of
         its names (a number, text or truth value is no longer it), and a member that a constructor
         initialises so. A function without arguments that is called on an object with such a
         member carries it, too.
visit    a function that is handed the parameter, at the first time. Calls are followed in the order
         of their text.
stay     visits in a row in one place.
climb    a move from one stay to the next against the order of calls: into a folder that stands later
         in the table of ARCHITECTURE.md. The parameter came back up to be handed down again.
return   a move to a place where it was before.

A call means the definition of its name that takes as many arguments: in the same place, else in one
that the caller's place includes, else (but for functions of a class) the only one there is. What
an unnamed namespace holds is known in its own place only. Other calls are not followed: virtual functions, function pointers, members that are named as those of the
standard's containers, and names that several places define. So the figures are no truth, but they
are found in the same way before and after a change.
"""

import argparse
import re
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYWORDS = {"if", "for", "while", "switch", "return", "catch", "sizeof", "decltype", "alignas", "assert",
            "static_assert", "throw", "operator", "static_cast", "defined", "noexcept"}
BEHIND = re.compile(r"\s*(?:(?:const|noexcept|override|final)\b\s*)*(?:->[^;{=]*)?")
MEMBER = re.compile(r"[\s,]*[\w:<>]+\s*[({]")
STORED = re.compile(r"(\w+)\s*[({]([^()]*(?:\([^()]*\))?[^()]*?)[)}]\s*(?:,|$)")
ASSIGNED = re.compile(r"\b(\w+_) = ([^;]*);")
STEP = re.compile(r"(?:std::make_(?:shared|unique)<(?:const )?)?(?P<call>(?:\w+::)*\w+)\s*"
                  r"(?:<[\w:, *&]*>|>)?(?P<open>[({])|"
                  r"(?<=[;{}(])\s*(?P<type>[\w:<>,&* ]+?[&* ])(?P<new>\w+)\s*(?P<set>[=({:])(?!:)")
CONTAINERS = {"add", "append", "at", "begin", "contains", "count", "emplace", "emplace_back", "end", "erase",
              "find", "insert", "push_back", "size", "str"}
VALUE = re.compile(r"^(?:static |constexpr |const )*(?:std::u?int\d*_t|std::size_t|int|bool|double|float|"
                   r"char|std::string|std::string_view)\b[ &]*$")
Function = namedtuple("Function", "name owner place hidden parameters required members body")


def blanked(text):
    """The text with comments and literals blanked; lines and lengths stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def closing(text, start):
    """The position behind the bracket that closes the one at `start`."""
    depth = 0
    for found in re.compile(r"[()\[\]{}]").finditer(text, start):
        depth += 1 if found.group() in "([{" else -1
        if depth == 0:
            return found.end()
    return len(text)


def parts(text):
    """What stands between the commas outside of brackets."""
    found, depth = [""], 0
    for c in re.sub(r"->|(?<!\w)<|<=", "  ", text):
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return found if text.strip() else []


def place_of(path):
    relative = path.relative_to(ROOT)
    if relative.parts[0] == "include":
        return ("tools/" if path.parent.name == "tools" else "api/") + path.stem
    return str(relative.relative_to("src").with_suffix(""))


class House:
    """The definitions of src, and the order of its folders."""

    def __init__(self):
        table = re.findall(r"^\| (\d+) \| `(\w+)/`", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
        self.order = {folder: int(number) for number, folder in table}
        self.functions, self.includes = {}, {}
        for path in sorted([*ROOT.glob("src/**/*.[ch]pp"), *ROOT.glob("include/morton/**/*.hpp")]):
            self.read(path)

    def read(self, path):
        place, raw = place_of(path), path.read_text()
        named = self.includes.setdefault(place, set())
        for name in re.findall(r'#include "(?:morton/)?([\w/]+)\.hpp"', raw):
            named.add(name if "/" in name else "api/" + name)
        text = blanked(raw)
        classes = [(m.start(), closing(text, m.end() - 1), m.group(1)) for m in
                   re.finditer(r"\b(?:class|struct) (?:MORTON_API )?(\w+)[^;(){}]*\{", text)]
        unnamed = [(m.start(), closing(text, m.end() - 1)) for m in re.finditer(r"\bnamespace \{", text)]
        end = 0
        for found in re.finditer(r"((?:\w+::)*~?\w+)\s*\(", text):
            name = found.group(1)
            if found.start() < end or name.split("::")[-1] in KEYWORDS:
                continue
            behind = closing(text, found.end() - 1)
            head = BEHIND.match(text, behind)
            start = text_start = head.end()
            if text[start:start + 1] == ":":
                start += 1
                while member := MEMBER.match(text, start):
                    start = closing(text, member.end() - 1)
                start += len(text[start:]) - len(text[start:].lstrip())
            if text[start:start + 1] != "{":
                continue
            end = closing(text, start)
            around = [c[2] for c in classes if c[0] < found.start() < c[1]]
            owner = name.split("::")[-2] if "::" in name else (around[-1] if around else "")
            texts = parts(text[found.end():behind - 1])
            names = [re.search(r"(\w*)\s*(?:=.*)?$", p.strip(), re.S).group(1) for p in texts]
            required = sum("=" not in p for p in texts)
            members = text[text_start + 1:start] if start > text_start else ""
            hidden = any(first < found.start() < last for first, last in unnamed)
            function = Function(name.split("::")[-1], owner, place, hidden, names, required, members,
                                text[start:end])
            self.functions.setdefault(function.name, []).append(function)

    def definition(self, name, count, caller, member, scope=""):
        """The function that a call means, or None."""
        fitting = [f for f in self.functions.get(name, []) if f.required <= count <= len(f.parameters)
                   and (f.place == caller.place or not f.hidden)]
        if scope[:1].isupper():
            fitting, member = [f for f in fitting if f.owner == scope], True
        if not member:
            fitting = [f for f in fitting if f.owner in ("", caller.owner, f.name)]
        for near in (lambda f: f.place == caller.place, lambda f: f.place in self.includes[caller.place],
                     lambda f: not member):
            found = [f for f in fitting if near(f)]
            if found:
                return found[0] if len({f.place for f in found}) == 1 else None
        return None


class Walk:
    def __init__(self, house):
        self.house, self.visits, self.passed, self.members, self.names = house, [], set(), {}, set()

    def enter(self, function, names, depth=0):
        key = (function.place, function.owner, function.name, tuple(function.parameters))
        if key in self.passed:
            return
        self.passed.add(key)
        self.visits.append((function, depth))
        mine = set(names) | self.members.get(function.owner, set())
        if function.name == function.owner:
            for member, value in STORED.findall(function.members.strip()) + ASSIGNED.findall(function.body):
                if self.mentions(value, mine):
                    self.members.setdefault(function.owner, set()).add(member)
            mine |= self.members.get(function.owner, set())
        self.follow(function, function.members + function.body, mine, depth)
        self.names |= mine

    @staticmethod
    def mentions(text, names):
        return any(re.search(r"(?<![\w.])(?:this->)?%s\b(?!\s*\()" % re.escape(n), text) for n in names)

    def follow(self, function, text, mine, depth):
        at = 0
        while found := STEP.search(text, at):
            at = found.end()
            if found.group("new"):
                self.declare(found, text, mine)
                at = found.start("new") if found.group("set") in "({" else at
                continue
            scope, name = ["", *found.group("call").split("::")][-2:]
            if name in KEYWORDS or found.group("call").startswith("std::"):
                continue
            if found.group("open") == "{" and not name[0].isupper():
                continue
            before = text[:found.start("call")].rstrip()
            receiver = re.search(r"(\w+)(?:\.|->)$", before)
            arguments = parts(text[found.end():closing(text, found.end() - 1) - 1])
            declared = re.search(r"\b([A-Z]\w*)(?:<[^;]*>)?$", before)
            name = declared.group(1) if declared else name
            self.call(function, (scope, name), arguments, receiver, mine, depth)

    def declare(self, found, text, mine):
        kind, value_from = found.group("type").strip(), found.end()
        if VALUE.match(kind) or kind in KEYWORDS:
            return
        stop = {"=": r";|$", ":": r"\)\s*[\w{]"}.get(found.group("set"))
        end = re.compile(stop).search(text, value_from) if stop else None
        stop_at = end.start() if end else closing(text, value_from - 1)
        if self.mentions(text[value_from:stop_at], mine):
            mine.add(found.group("new"))

    def call(self, caller, scoped, arguments, receiver, mine, depth):
        scope, name = scoped
        if name.endswith("Error") or receiver is not None and name in CONTAINERS:
            return
        callee = self.house.definition(name, len(arguments), caller, receiver is not None, scope)
        if callee is None:
            return
        handed = {p for p, a in zip(callee.parameters, arguments) if p and self.mentions(a, mine)}
        carried = receiver is not None and receiver.group(1) in mine and self.members.get(callee.owner)
        if handed or carried:
            self.enter(callee, handed, depth + 1)

    def report(self, verbose):
        stays = []
        for function, depth in self.visits:
            if verbose:
                print("  " * depth + f"{function.place}: {function.name}")
            if not function.place.startswith("base/") and stays[-1:] != [function.place]:
                stays.append(function.place)
        level = [self.house.order[place.split("/")[0]] for place in stays]
        climbs = sum(b > a for a, b in zip(level, level[1:]))
        places = len(set(stays))
        print(f"{len(self.visits)} visits, {len(stays)} stays, {places} places, {climbs} climbs back, "
              f"{len(stays) - places} returns, {len(self.names)} names")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("-v", action="store_true", help="print each visit")
    options.add_argument("file", nargs="?", default="src/api/compile/compile.cpp")
    options.add_argument("function", nargs="?", default="compile")
    options.add_argument("parameter", nargs="?", default="model")
    given = options.parse_args()
    house, place = House(), place_of((ROOT / given.file).resolve())
    starts = [f for f in house.functions.get(given.function, [])
              if f.place == place and given.parameter in f.parameters]
    if not starts:
        sys.exit(f"{given.file}: no function {given.function} has a parameter {given.parameter}")
    walk = Walk(house)
    walk.enter(max(starts, key=lambda f: len(f.body)), {given.parameter})
    walk.report(given.v)


if __name__ == "__main__":
    main()
