#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file names a path of somebody's own machine, and none is left unfinished. No sentence of the
pages for readers has more than 25 words.

What counts as a sentence of a page: text between full stops, question and exclamation marks, and
colons. Code, tables, headings and generated parts (between `<!-- NAME -->` and
`<!-- end of NAME -->`) are no prose; a span of code and a link's text count as they are read; what
stands in brackets is a sentence of its own.
"""

import re

from project import Problems, files, read

DENIED = [
    (re.compile(r"(?<![\w.])/(home|work|root|tmp/brief)/"), "names a path of one machine"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b"), "is unfinished"),
]
# This file spells the words that it looks for.
SELF = "tools/check/words.py"
BINARY = (".gz", ".png", ".jpg", ".npy", ".npz", ".onnx", ".pb", ".bin")

MOST_WORDS = 25
PAGES = re.compile(r"^(README|ARCHITECTURE|CONTRIBUTING)\.md$|^docs/.*\.md$")
LIST_ITEM = re.compile(r"([-*]|\d+\.) +(.*)")
GENERATED = re.compile(r"<!-- (?P<name>[^>]*?) -->(?=.*?<!-- end of (?P=name) -->)", re.S)
NO_PROSE = ("|", "#", "<!--", "![")


def without_generated(text):
    """The text with the lines of generated parts empty, so that line numbers stay."""
    while match := GENERATED.search(text):
        end = text.index(f"<!-- end of {match['name']} -->", match.end())
        end = text.index("-->", end) + len("-->")
        text = text[:match.start()] + "\n" * text.count("\n", match.start(), end) + text[end:]
    return text


def paragraphs(text):
    """(line, text) of each paragraph and each list item of a page."""
    parts, first, fenced = [], 0, False
    for line, content in enumerate(without_generated(text).splitlines() + [""], 1):
        stripped = content.strip()
        fence = stripped.startswith("```")
        fenced ^= fence
        item = LIST_ITEM.match(stripped)
        code = content.startswith("    ") and not parts and not item
        ends = fence or fenced or code or not stripped or stripped.startswith(NO_PROSE)
        if parts and (ends or item):
            yield first, " ".join(parts)
            parts = []
        if not ends:
            first = first if parts else line
            parts.append(item[2] if item else stripped)


def sentences(paragraph):
    """The sentences of a paragraph, each as it is read."""
    text = re.sub(r"`[^`]*`", "code", paragraph)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    while match := re.search(r" ?\(([^()]*)\)", text):
        yield from re.split(r"(?<=[.!?:])\s+", match[1])
        text = text[:match.start()] + text[match.end():]
    yield from re.split(r"(?<=[.!?:])[\"'*]*\s+", text)


def check_sentences(path, problems):
    for line, paragraph in paragraphs(read(path)):
        for sentence in sentences(paragraph):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MOST_WORDS:
                problems.add(path, line, f"a sentence of {len(words)} words, at most {MOST_WORDS}: "
                             + " ".join(words[:8]) + " ...")


def main():
    problems = Problems()
    for path in files():
        if PAGES.match(str(path)):
            check_sentences(path, problems)
        if str(path) == SELF or path.name.endswith(BINARY):
            continue
        for line, text in enumerate(read(path).splitlines(), 1):
            for pattern, what in DENIED:
                match = pattern.search(text)
                if match:
                    problems.add(path, line, f"{what}: {match.group()}")
    problems.finish()


main()
