#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No dead paths in documents: every relative link of a .md file leads somewhere (its #section
too), and every `path/file.ext` in backticks exists.

None in comments of sources either: every path that one names exists, and so does a section that it
quotes behind a page: docs/numerics.md, "Types". The texts of a .json count as its comments.

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
SOURCE_SUFFIXES = (".cpp", ".hpp", ".cl", ".clh", ".md", ".sh", ".py", ".cmake", ".def", ".cases")
PATH_SUFFIXES = SOURCE_SUFFIXES + (".json", ".txt", ".onnx", ".html", ".csv", ".yml", ".in",
                                   ".png", ".svg", ".gz")
COMMENTED = (".cpp", ".hpp", ".c", ".h", ".def", ".cl", ".clh", ".json")
# Records of measurements hold the commands that were typed.
RECORDS = "bench/history/"
# A comment may name a file that is a reader's or another project's.
FOREIGN = {"lib.cl"}
# Literals come before comments, so that a "//" within one begins none.
TOKEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|(//[^\n]*|/\*.*?\*/)", re.S)
JSON_TEXT = re.compile(r'("(?:\\.|[^"\\\n])*")')
WORD = re.compile(r"[^\s\"'`(),;<>\[\]{}]+")
QUOTED_SECTION = re.compile(r'([\w.\-/]+\.md|\b[A-Z]+_[A-Z_]+),[\s/*]*"([^"]+)"')
# A path may be written from one of these as well as from the page's own folder.
BASES = ("", "src", "src/kernels", "include", "tests", "docs", "cli")
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


def anchor_of(heading):
    """The #fragment of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@functools.cache
def anchors(path):
    """The #fragments of a page."""
    found = set()
    for _, content in prose(read(path)):
        match = HEADING.match(content)
        if match:
            found.add(anchor_of(match.group(1)))
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


def comments(path):
    """The text of a source with all but its comments blank, so that places stay."""
    text = read(path)
    pattern = JSON_TEXT if path.name.endswith(".json") else TOKEN
    result, end = [], 0
    for match in pattern.finditer(text):
        begin, comment_end = match.span(match.lastindex or 0)
        if match[pattern.groups] is None:
            continue
        result += [re.sub(r"[^\n]", " ", text[end:begin]), text[begin:comment_end]]
        end = comment_end
    return "".join(result)


def page_named(path, name):
    """The page that a comment names, or None."""
    for base in (*BASES, str(path.parent)):
        if name.endswith(".md") and (ROOT / base / name).is_file():
            return (ROOT / base / name).resolve().relative_to(ROOT)
    return None


def check_comments(path, problems):
    text = comments(path)
    for match in WORD.finditer(text):
        word = re.sub(r"^(//+|/\*+)", "", match[0])
        word, _, fragment = word.rstrip(".,:*").partition("#")
        line = text.count("\n", 0, match.start()) + 1
        if word in FOREIGN or not looks_like_path(word):
            continue
        if not exists(path, word):
            problems.add(path, line, f"dead path: {word}")
        elif fragment and (page := page_named(path, word)) and fragment not in anchors(page):
            problems.add(path, line, f"no such section: {word}#{fragment}")
    for match in QUOTED_SECTION.finditer(text):
        page = page_named(path, match[1])
        title = re.sub(r"\s*\n[\s/*]*", " ", match[2])
        if page is None or anchor_of(title) not in anchors(page):
            line = text.count("\n", 0, match.start()) + 1
            problems.add(path, line, f'no such section: {match[1]}, "{title}"')


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
    for path in files(*COMMENTED):
        if not str(path).startswith(RECORDS):
            check_comments(path, problems)
    problems.finish()


main()
