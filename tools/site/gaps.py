#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gaps.py FOLDER [--errors]: lists what the reference has no words for: functions, types and enumerations without a
docstring. What a type declares for a field of its own needs none. The status is 1 where there is one. --errors also lists functions that may fail and whose docstring names no error,
for readers to judge. FOLDER takes doxygen's XML."""

import importlib
import inspect
import pathlib
import re
import sys

from header_pages import free_members, grouped, headers_of, shown
from doxygen_xml import plain
from python_pages import doc_of, members, signatures_of

# Functions of these cannot fail: they read what is there.
READS = re.compile(r"\) const( noexcept)?;$|noexcept|= default;|\(\);$")
NAMES_AN_ERROR = re.compile(r"\w+Error|MORTON_ERROR|[Tt]hrows|refused|NULL|never fails|\bfalse\b")
# The C functions of which morton.h's head says all.
PLAIN_C = re.compile(r"_(free|init|count|size|name)$")


def header_gaps(headers, with_errors):
    for path, header in sorted(headers.items()):
        scopes = [("", free_members(header))] + [(f"{t.name}::", shown(t)) for t in header.types]
        for owner in header.types:
            if "::" not in owner.name and not owner.has_doc and not any(owner.name == m.name and m.has_doc for m in header.members):
                yield path, owner.line, f"{owner.kind} {owner.name} has no docstring"
        for scope, found in scopes:
            for group in grouped([m for m in found if m.kind in ("function", "enum")]):
                first = group[0]
                name = scope + first.name
                words = " ".join(plain(m.doc.find(p)) for m in group
                                 for p in ("briefdescription", "detaileddescription"))
                if not words.strip() and not is_made_plainly(first, scope) and not (scope and first.kind == "enum"):
                    yield path, first.line, f"{name} has no docstring"
                elif with_errors and first.kind == "function" and not READS.search(first.signature) and \
                        not NAMES_AN_ERROR.search(words) and not PLAIN_C.search(name):
                    yield path, first.line, f"{name} names no error: {words[:90]}"


def is_made_plainly(member, scope):
    """Constructors and comparisons, which do what their class says."""
    return member.name.startswith("operator") or (scope and member.name == scope.split("::")[-2])


def python_gaps():
    package = importlib.import_module("morton")
    for name in package.__all__:
        thing = getattr(package, name)
        if name.startswith("_") or inspect.ismodule(thing):
            continue
        if not doc_of(thing):
            yield f"morton.{name} has no docstring"
        for member, inner in members(thing) if inspect.isclass(thing) else ():
            if callable(inner) or isinstance(inner, (property, staticmethod, classmethod)) or \
                    type(inner).__name__ == "property":
                inner = inner.__func__ if isinstance(inner, (staticmethod, classmethod)) else inner
                text = signatures_of(member, inner)[1] if callable(inner) else doc_of(inner)
                if not text.strip():
                    yield f"morton.{name}.{member} has no docstring"


def gaps_of(headers, with_errors=False):
    """A line for each gap."""
    found = [f"include/{path}:{line}: {text}" for path, line, text in header_gaps(headers, with_errors)]
    return found + [f"python/morton: {text}" for text in python_gaps()]


def main():
    found = gaps_of(headers_of(pathlib.Path(sys.argv[1]).resolve()), "--errors" in sys.argv)
    for line in found:
        print(line)
    print(f"{len(found)} gaps")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
