# SPDX-License-Identifier: Apache-2.0
"""What mkdocs.yml's `nav` lists, read without a YAML reader, which ./dev check has none of."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^( +)- ([^:]+):(?: (.+))?$")
MADE = re.compile(r"^\((.+)\)$")


def nav_lines():
    """(line number, indentation, title, target) of each entry; target is None for a heading."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    start = text.index("\nnav:\n") + 1
    first = text.count("\n", 0, start) + 1
    for number, line in enumerate(text[start:].splitlines()[1:], first + 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = ENTRY.match(line)
        if not match:
            raise ValueError(f"mkdocs.yml:{number}: expected '- TITLE: PAGE' or '- TITLE:'")
        yield number, match[1], match[2], match[3]


def listed_pages():
    """(line number, page) of each entry that is a page of the repository."""
    return [(number, target) for number, _, _, target in nav_lines()
            if target and not MADE.match(target)]


def config_text(made, folder):
    """mkdocs.yml with `made[name]`, a list of (title, page), in place of each `(name)`, and
    with the folders that mkdocs reads and writes."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    lines = []
    for _, indent, title, target in nav_lines():
        match = MADE.match(target or "")
        lines.append(f"{indent}- {title}:" + (f" {target}" if target and not match else ""))
        for name, page in made[match[1]] if match else ():
            lines.append(f'{indent}    - "{name}": {page}')
    head = text[:text.index("\nnav:\n")]
    return f"{head}\ndocs_dir: {folder}/pages\nsite_dir: {folder}/html\nnav:\n" + "\n".join(lines) + "\n"
