# SPDX-License-Identifier: Apache-2.0
"""Pages as GitHub shows them, written as Python-Markdown reads them.

The pages keep the folders that they have in the repository, so a link from page to page stays as it
is. A link to any other file leads to a copy of it, which `sources` makes."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "check"))
from project import ROOT, files, read  # noqa: E402

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)((?:\s+\"[^\"]*\")?)\)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
ITEM = re.compile(r"^( *)([-*+]|\d+[.)])( +)")
FENCE = re.compile(r"^ *(```+|~~~+)")
PICTURES = (".png", ".svg", ".jpg")


def anchor_of(heading, separator="-"):
    """The #fragment of a heading, as GitHub makes it (and tools/check/doc_paths.py)."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def is_address(target):
    return re.match(r"^[a-z]+:", target) is not None


class Links:
    """Where the links of pages lead. `linked` collects the files and folders that are no pages."""

    def __init__(self, pages):
        self.pages = {str(page) for page in pages}
        self.known = {str(path) for path in files()}
        self.linked, self.pictures = set(), set()

    def target(self, page, target, is_picture):
        if is_address(target) or target.startswith("#"):
            return target
        name, _, fragment = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), name))
        if path in self.pages:
            return target
        if is_picture or path.endswith(PICTURES):
            self.pictures.add(path)
            return target
        if not (ROOT / path).exists():
            raise ValueError(f"{page}: dead link: {target}")
        self.linked.add(path)
        behind = f"#{fragment}" if fragment else ""
        return os.path.relpath(copy_of(path), os.path.dirname(page) or ".") + behind

    def code(self, page, text):
        """A span of code; where it names a file of the repository, with a link to it."""
        word = text.strip("`").removeprefix("./")
        if "/" not in word or word not in self.known or word in self.pages:
            return text
        return f"[{text}]({self.target(page, os.path.relpath(word, os.path.dirname(page) or '.'), False)})"


def copy_of(path):
    """Where the site has the copy of a file, or the list of a folder's files. mkdocs passes over what
    begins with a point."""
    name = re.sub(r"(^|/)\.", r"\1_", path)
    return f"source/{name}/index.html" if (ROOT / path).is_dir() else f"source/{name}.html"


def with_links(links, page, line):
    """A line of prose with its links led to where the site has their targets."""
    def lead(match):
        target = links.target(page, match[3], bool(match[1]))
        return f"{match[1]}[{match[2]}]({target}{match[4]})"

    def name(text):
        return CODE.sub(lambda match: links.code(page, match[0]), text)

    parts, end = [], 0
    for match in LINK.finditer(line):
        if any(span.start() < match.start() < span.end() for span in CODE.finditer(line)):
            continue
        parts += [name(line[end:match.start()]), lead(match)]
        end = match.end()
    return "".join(parts) + name(line[end:])


def written_for_python_markdown(lines):
    """Python-Markdown wants a blank line before a list, and four columns for what is inside an item."""
    out, stack, fenced = [], [], None

    def shift(line):
        """A line inside the item whose text begins at column stack[-1][0]."""
        return " " * (4 * len(stack)) + line[stack[-1]:] if stack and line.strip() else line

    for line in lines:
        fence = FENCE.match(line)
        if fenced:
            out.append(shift(line))
            if fence and fence[1].startswith(fenced):
                fenced = None
            continue
        indent = len(line) - len(line.lstrip(" "))
        if line.strip():
            item = ITEM.match(line)
            was_blank = not out or not out[-1].strip()
            while stack and indent < stack[-1] and (item or was_blank or fence):
                stack.pop()
            if item and indent < (stack[-1] if stack else 0) + 4:
                if not was_blank and not stack and not is_item(out[-1]):
                    out.append("")
                level = len(stack)
                stack.append(indent + len(item[2]) + len(item[3]))
                out.append(" " * (4 * level) + item[2] + " " * (4 - len(item[2])) + line[stack[-1]:])
                continue
        if fence:
            fenced = fence[1]
            if out and out[-1].strip():
                out.append("")
        if line.startswith("|") and out and out[-1].strip() and not out[-1].startswith("|"):
            out.append("")
        if out and out[-1].startswith("<!--") and line.strip():
            out.append("")
        if stack and line.strip() and indent < stack[-1]:
            out.append(line)  # the paragraph of an item goes on, wherever it begins
        else:
            out.append(shift(line))
    return out


def is_item(line):
    return ITEM.match(line) is not None or line.startswith("    ")


def page_text(links, page, text):
    """The text of a page of the repository as the site has it."""
    lines, fenced = [], False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        is_code = fenced or (line.startswith("    ") and (not lines or not lines[-1].strip()))
        is_heading = line.startswith("#") and not fenced
        lines.append(line if is_code or is_heading else with_links(links, page, line))
    return "\n".join(written_for_python_markdown(lines)) + "\n"


def write_pages(pages, folder):
    """Writes the pages below `folder`; gives their links."""
    links = Links(pages)
    for page in pages:
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page_text(links, str(page), read(page)), encoding="utf-8")
    for picture in links.pictures:
        path = folder / picture
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / picture).read_bytes())
    return links
