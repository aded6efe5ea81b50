#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare_markdown.py FOLDER: every page of the site has the words, lists, tables and code that CommonMark makes of
its Markdown, as GitHub shows it. The two readers differ in what they take for a list or for code."""

import collections
import html
import pathlib
import re
import sys

from markdown_it import MarkdownIt
from nav import ROOT, listed_pages

PARTS = re.compile(r"<(li|ul|ol|pre|td|th|h[1-6]|img|blockquote)\b")


def seen(text):
    """The parts of a page, and its words."""
    words = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("\N{PILCROW SIGN}", "").split()
    return collections.Counter(PARTS.findall(text)), words


def article(path):
    """What a page of the site says, without what is around it."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index("<article"):text.index("</article>")]
    return re.sub(r"<h1>[^<]*</h1>", "", text, count=1) if text.count("<h1") > 1 else text


def main():
    folder = pathlib.Path(sys.argv[1])
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    wrong = 0
    for _, page in listed_pages():
        expected = seen(reader.render((ROOT / page).read_text(encoding="utf-8")))
        name = re.sub(r"README\.md$", "index.html", page).replace(".md", ".html")
        got = seen(article(folder / name))
        if expected[0] != got[0]:
            print(f"{page}: CommonMark makes {dict(expected[0])}, the site {dict(got[0])}")
        elif expected[1] != got[1]:
            pairs = enumerate(zip(expected[1], got[1]))
            first = next((i for i, (one, other) in pairs if one != other), min(map(len, (expected[1], got[1]))))
            print(f"{page}: CommonMark reads '{' '.join(expected[1][first:first + 8])}', "
                  f"the site '{' '.join(got[1][first:first + 8])}'")
        else:
            continue
        wrong += 1
    print(f"{len(listed_pages())} pages as CommonMark reads them, but {wrong}")
    return 1 if wrong else 0


sys.exit(main())
