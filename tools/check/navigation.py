#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site's navigation (`nav` of mkdocs.yml) lists every page of the repository once, and no other."""

import pathlib
import sys

from project import ROOT, Problems, files

sys.path.insert(0, str(pathlib.Path(ROOT) / "tools/site"))
from nav import listed_pages  # noqa: E402


def main():
    problems = Problems()
    pages, seen = {str(page) for page in files(".md")}, set()
    for line, page in listed_pages():
        if page not in pages:
            problems.add("mkdocs.yml", line, f"there is no page {page}")
        if page in seen:
            problems.add("mkdocs.yml", line, f"{page} stands here a second time")
        seen.add(page)
    for page in sorted(pages - seen):
        problems.add(page, 0, "nav of mkdocs.yml does not list this page")
    problems.finish()


main()
