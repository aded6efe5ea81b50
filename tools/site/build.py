#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""build.py FOLDER: builds the site into FOLDER/html, from the pages of the repository, the docstrings
of its headers and those of the Python package, which PYTHONPATH leads to. A dead link is an error, and
so is a public function without a docstring."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from gaps import gaps_of
from header_pages import headers_of, write_header_pages
from links import dead_links
from nav import config_text, listed_pages
from pages import ROOT, write_pages
from python_pages import write_python_page


THEME = pathlib.Path("/usr/share/mkdocs/themes/material")


def put_guides_first(index):
    """Tags count most in the search. Those of a guide are the words of its file's name and the commands that its
    first paragraph names: of docs/quantization.md "quantization" and "quantize". So it comes before the
    headings of the reference that hold the word, which are many."""
    found = json.loads(index.read_text(encoding="utf-8"))
    for entry in found["docs"]:
        page = entry["location"]
        if page.startswith("docs/") and "#" not in page:
            commands = re.findall(r"\bmorton (\w+)", entry["text"][:400])
            entry["tags"] = list(dict.fromkeys([*pathlib.PurePosixPath(page).stem.split("_"), *commands]))
    index.write_text(json.dumps(found), encoding="utf-8")


def needed_programs():
    """What is not installed of what the site is made with."""
    missing = [name for name in ("doxygen", "mkdocs") if shutil.which(name) is None]
    if importlib.util.find_spec("pygments") is None:
        missing.append("pygments")
    return missing if THEME.is_dir() else [*missing, "mkdocs-material"]


def main():
    missing = needed_programs()
    if missing:
        # As GoogleTest says it, which ./dev test counts; 77 is ctest's SKIP_RETURN_CODE.
        print(f"{__file__}:1: Skipped\nnot installed, as ./dev site does: {', '.join(missing)}", flush=True)
        sys.exit(77)
    from sources import write_sources  # which needs pygments

    out = pathlib.Path(sys.argv[1]).resolve()
    staged = out / "pages"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    pages = [pathlib.PurePosixPath(page) for _, page in listed_pages()]
    links = write_pages(pages, staged)
    headers = headers_of(out / "doxygen")
    gaps = gaps_of(headers)
    if gaps:
        sys.exit("\n".join(gaps))
    made = write_header_pages(headers, staged)
    made["Python package"] = write_python_page(staged)
    copies = write_sources(links.linked, staged)
    shutil.copy(ROOT / "tools/site/morton.css", staged / "site/morton.css")
    (out / "mkdocs.yml").write_text(config_text(made, str(out)), encoding="utf-8")
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["/usr/bin/mkdocs", "build", "--quiet", "--clean", "-f", str(out / "mkdocs.yml")],
                          env={**os.environ, "PYTHONPATH": here}, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    put_guides_first(out / "html/search/search_index.json")
    dead = [f"{path.relative_to(out / 'html')}: {what}" for path, what in dead_links(out / "html")]
    if dead:
        sys.exit("\n".join(dead))
    written = sum(map(len, made.values()))
    print(f"{len(pages)} pages, {written} of docstrings and {copies} files: {out}/html/index.html")


main()
