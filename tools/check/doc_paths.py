#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No dead paths in documents: every relative link of a .md file leads somewhere (its #section
too), and every `path/file.ext` in backticks exists.

A page that has its reader make new files names them once, in a comment:
    <!-- the reader makes: src/ops/celu.cpp tests/cases/celu.cases -->
"""

import functools
import re

from project import ROOT, Problems, files, read

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
IMAGE_TAG = re.compile(r"<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\"")
TICKED = re.compile(r"(?<!`)`([^`\s]+)`(?!`)")
PLAIN_PATH = re.compile(r"^[A-Za-z0-9_.\-/]+$")
MADE = re.compile(r"<!--\s*the reader makes:\s*(.*?)-->", re.S)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
SOURCE_SUFFIXES = (".cpp", ".hpp", ".cl", ".md", ".sh", ".py", ".cmake", ".def", ".cases")
PATH_SUFFIXES = SOURCE_SUFFIXES + (".json", ".txt", ".onnx", ".html", ".csv", ".yml", ".in",
                                   ".png", ".svg", ".gz")
# A path may be written from one of these as well as from the page's own folder.
BASES = ("", "src", "src/kernels", "include", "tests", "docs")
# Made by the build, so absent from the repository.
MADE_BY_BUILD = ("build/", "build-")


def prose(text):
    """(line, text) of a page without its fenced code."""
    fenced = False
    for line, content in enumerate(text.splitlines(), 1):
        if content.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            yield line, content


@functools.cache
def anchors(path):
    """The #fragments of a page, made from its headings as GitHub makes them."""
    found = set()
    for _, content in prose(read(path)):
        match = HEADING.match(content)
        if match:
            words = re.sub(r"[^\w\- ]", "", match.group(1).lower())
            found.add(words.replace(" ", "-"))
    return found


def check_link(page, line, target, problems):
    if re.match(r"^[a-z]+:", target):
        return
    name, _, fragment = target.partition("#")
    resolved = (ROOT / page.parent / name).resolve() if name else ROOT / page
    if not resolved.exists():
        problems.add(page, line, f"dead link: {target}")
    elif fragment and resolved.suffix == ".md":
        if fragment not in anchors(resolved.relative_to(ROOT)):
            problems.add(page, line, f"no such section: {target}")


@functools.cache
def known():
    """Paths of the repository's files, their names, and its top-level folders."""
    paths = files()
    return ({str(p) for p in paths}, {p.name for p in paths},
            {p.parts[0] for p in paths if len(p.parts) > 1})


def looks_like_path(word):
    """Whether a word in backticks claims to be a file or folder of the repository."""
    if not PLAIN_PATH.match(word) or word.startswith(("/", "-", "..") + MADE_BY_BUILD):
        return False
    word = word.removeprefix("./")
    if "/" not in word:
        return word.endswith(SOURCE_SUFFIXES) and not word.startswith(".")
    return word.endswith(PATH_SUFFIXES) or word.split("/")[0] in known()[2]


def exists(page, word):
    word = word.removeprefix("./")
    if "/" not in word:
        return word in known()[1]
    bases = [ROOT / base for base in BASES] + [ROOT / page.parent]
    return any((base / word).exists() for base in bases)


def check_page(page, problems):
    text = read(page)
    made = {word for group in MADE.findall(text) for word in group.split()}
    made |= {word.rsplit("/", 1)[-1] for word in made}
    for line, content in prose(text):
        for pattern in (LINK, IMAGE_TAG):
            for target in pattern.findall(content):
                check_link(page, line, target, problems)
        for word in TICKED.findall(content):
            word = word.rstrip(".,:;")
            if looks_like_path(word) and word not in made and not exists(page, word):
                problems.add(page, line, f"dead path: {word}")


def main():
    problems = Problems()
    for page in files(".md"):
        check_page(page, problems)
    problems.finish()


main()
