# SPDX-License-Identifier: Apache-2.0
"""Copies of the files that pages name, each a page with numbered lines, and lists of folders."""

import html
import os
import pathlib

from pages import ROOT, copy_of, files
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

TEXT_LIMIT = 400_000
LEXERS = {".cl": "x.c", ".clh": "x.c", ".def": "x.cpp", ".hpp": "x.cpp", ".cases": "x.txt"}
FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Morton</title><link rel="stylesheet" href="{up}site/source.css"><link rel="icon" href="data:,"></head>
<body><header><a href="{up}index.html">Morton</a> / {trail}</header>
<main>{body}</main></body></html>
"""


def lexer_of(path):
    name = LEXERS.get(pathlib.PurePosixPath(path).suffix, os.path.basename(path))
    try:
        return get_lexer_for_filename(name)
    except ClassNotFound:
        return TextLexer()


def body_of(path, data):
    """The file as a page shows it: text with numbered lines, or what it is."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"<p>{len(data)} bytes that are no text.</p>"
    if len(text) > TEXT_LIMIT:
        text = text[:TEXT_LIMIT] + f"\n... ({len(data)} bytes in all)\n"
    return highlight(text, lexer_of(path), HtmlFormatter(linenos="inline", anchorlinenos=True,
                                                         lineanchors="L", cssclass="code"))


def trail_of(path):
    return html.escape(path)


def write(folder, path, body):
    target = folder / copy_of(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    up = "../" * (len(target.relative_to(folder).parts) - 1)
    target.write_text(FRAME.format(title=html.escape(path), up=up, trail=trail_of(path), body=body),
                      encoding="utf-8")


def write_sources(linked, folder):
    """Writes the copies below `folder`. A folder's files are copied too, all the way down."""
    known = [str(path) for path in files()]
    chosen, listed = set(), set()
    for path in linked:
        if (ROOT / path).is_dir():
            inside = [name for name in known if name.startswith(path + "/")]
            chosen.update(inside)
            listed.update(parent for name in inside for parent in map(str, pathlib.PurePosixPath(name).parents)
                          if parent == path or parent.startswith(path + "/"))
        else:
            chosen.add(path)
    for path in sorted(listed):
        inside = {path + "/" + name[len(path) + 1:].split("/")[0] for name in known
                  if name.startswith(path + "/")}
        rows = "".join(f'<li><a href="{os.path.relpath(copy_of(name), os.path.dirname(copy_of(path)))}">'
                       f"{html.escape(os.path.basename(name))}</a></li>" for name in sorted(inside))
        write(folder, path, f"<ul>{rows}</ul>")
    for path in sorted(chosen):
        write(folder, path, body_of(path, (ROOT / path).read_bytes()))
    style = HtmlFormatter(cssclass="code")
    css = (ROOT / "tools/site/source.css").read_text(encoding="utf-8")
    dark = HtmlFormatter(cssclass="code", style="monokai").get_style_defs(".code")
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site/source.css").write_text(
        f"{style.get_style_defs('.code')}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{css}",
        encoding="utf-8")
    return len(chosen)
