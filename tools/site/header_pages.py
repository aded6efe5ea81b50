# SPDX-License-Identifier: Apache-2.0
"""Pages on the public headers, made of their docstrings: one for each header.

A docstring serves the declarations that follow it without one of their own, as the headers are
written, so such declarations stand under one heading."""

import re

from doxygen_xml import read_headers, run_doxygen
from pages import ROOT

SPECIAL = re.compile(r"([\\*_\[\]<>`])")
PAGE_NAME = re.compile(r"\b((?:docs|examples|tests|include)/[\w/.]*\w)")
KEYWORDS = {"class": "class", "struct": "struct", "union": "union"}


def escaped(text):
    return SPECIAL.sub(r"\\\1", text)


class Writer:
    """Text of docstrings as Markdown. `places` says where each declaration stands: id -> address."""

    def __init__(self, places, page):
        self.places, self.page = places, page

    def prose(self, text):
        """Text with links to the files of the repository that it names."""
        parts, end = [], 0
        text = re.sub(r"\s+", " ", text or "")
        for match in PAGE_NAME.finditer(text):
            if not (ROOT / match[1]).exists():
                continue
            up = "../" * self.page.count("/")
            parts += [escaped(text[end:match.start()]), f"[`{match[1]}`]({up}{match[1]})"]
            end = match.end()
        return "".join(parts) + escaped(text[end:])

    def address(self, refid):
        place = self.places.get(refid)
        if place is None:
            return None
        page, _, anchor = place.partition("#")
        return f"#{anchor}" if page == self.page else f"{'../' * self.page.count('/')}{place}"

    def inline(self, element):
        out = [self.prose(element.text)]
        for child in element:
            tag = child.tag
            if tag == "computeroutput":
                out.append(f"`{''.join(child.itertext())}`")
            elif tag == "ref":
                words, address = "".join(child.itertext()), self.address(child.get("refid"))
                out.append(f"[{escaped(words)}]({address})" if address else escaped(words))
            elif tag == "ulink":
                out.append(f"[{self.inline(child)}]({child.get('url')})")
            elif tag in ("emphasis", "bold"):
                mark = "*" if tag == "emphasis" else "**"
                out.append(f"{mark}{self.inline(child)}{mark}")
            elif tag in ("verbatim", "preformatted", "programlisting"):
                out.append(self.block(child))
            elif tag in ("itemizedlist", "orderedlist"):
                items = [self.text_of(item, " ").strip() for item in child.findall("listitem")]
                out.append("\n\n" + "\n".join(f"- {item}" for item in items) + "\n\n")
            elif tag in ("ndash", "mdash"):
                out.append("-")
            else:
                out.append(self.inline(child))
            out.append(self.prose(child.tail))
        return "".join(out)

    @staticmethod
    def block(element):
        lines = "".join(element.itertext()) if element.tag != "programlisting" else "\n".join(
            code_line(line) for line in element.findall("codeline"))
        return f"\n\n```cpp\n{lines.strip(chr(10))}\n```\n\n"

    def text_of(self, definition, between="\n\n"):
        """Brief and detailed description, by paragraphs."""
        paragraphs = [self.inline(para).strip() for place in ("briefdescription", "detaileddescription")
                      for para in definition.findall(f"{place}/para")]
        paragraphs += [self.inline(para).strip() for para in definition.findall("para")]
        return between.join(text for text in paragraphs if text)


def code_line(line):
    out = []
    for highlight in line.findall("highlight"):
        out.append(highlight.text or "")
        for child in highlight:
            out.append((" " if child.tag == "sp" else "".join(child.itertext())) + (child.tail or ""))
    return "".join(out)


def head_comment(path):
    """What a header says of itself as Markdown, with its examples as code."""
    block = []
    for line in (ROOT / "include" / path).read_text(encoding="utf-8").splitlines():
        if line.startswith("///"):
            block.append(line[3:].removeprefix(" "))
        elif block:
            is_of_header = line.startswith("#include")
            break
    else:
        return ""
    return "\n".join(block) if is_of_header else ""


def anchor(*names):
    return re.sub(r"[^\w]+", "-", "-".join(names)).strip("-").lower()


def cell(text):
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]) + "\n"


def grouped(members):
    """Functions and enumerations, those without a docstring behind the one that they share."""
    groups = []
    for member in members:
        if member.kind == "function" and not member.has_doc and groups and \
                groups[-1][-1].kind == "function" and member.line - groups[-1][-1].line <= 6:
            groups[-1].append(member)
        else:
            groups.append([member])
    return groups


def shown(header_type):
    return [m for m in header_type.members if m.kind != "function" or not is_plumbing(m, header_type)]


def is_plumbing(member, owner):
    """Copies, moves, destructors and a base's constructors, of which nothing need be said."""
    own = owner.name.rsplit("::", 1)[-1]
    if member.has_doc:
        return False
    if member.name not in (own, "operator=") and \
            member.signature.removeprefix("explicit ").startswith(f"{member.name}("):
        return True
    return member.name.startswith("~") or member.name == "operator=" or \
        (member.name == own and (f"({own} &&)" in member.signature or f"(const {own} &)" in member.signature
                                 or f"({own}&&)" in member.signature or f"(const {own}&)" in member.signature))


def free_members(header):
    names = {t.name for t in header.types}
    return [m for m in header.members if "<" not in m.name and not (m.kind == "typedef" and m.name in names)]


def place_all(headers, page_of):
    """The address of each declaration: id -> page#anchor."""
    places = {}
    for path, header in headers.items():
        page = page_of(path)
        for owner in header.types:
            places[owner.refid] = f"{page}#{anchor(owner.name)}"
            for group in grouped([m for m in shown(owner) if m.kind != "variable"]):
                for member in group:
                    places[member.refid] = f"{page}#{anchor(owner.name, group[0].name)}"
            for member in owner.members:
                places.setdefault(member.refid, places[owner.refid])
        for group in grouped(free_members(header)):
            for member in group:
                places[member.refid] = f"{page}#{anchor(group[0].name)}"
    return places


def write_group(writer, group, used, level, owner=""):
    first = group[0]
    names = list(dict.fromkeys(member.name for member in group))
    name = anchor(owner, first.name) if owner else anchor(first.name)
    mark = "" if name in used else f" {{#{name}}}"
    used.add(name)
    out = [f"{level} {', '.join(f'`{n}`' for n in names)}{mark}\n"]
    if first.kind == "enum":
        out.append(writer.text_of(first.doc) + "\n")
        out.append(table(("value", "meaning"), [(f"`{value}`", writer.text_of(doc, " ")) for value, doc in first.values]))
    else:
        language = "c" if writer.page.startswith("reference/c/") else "cpp"
        code = "\n".join(member.signature for member in group)
        out.append(f"```{language}\n{code}\n```\n")
        out.append(writer.text_of(first.doc) + "\n")
    return out


def write_type(writer, owner, used):
    name = anchor(owner.name)
    used.add(name)
    out = [f"## {owner.kind} `{owner.name}` {{#{name}}}\n", writer.text_of(owner.doc) + "\n"]
    fields = [m for m in owner.members if m.kind == "variable"]
    if fields:
        rows = [(f"`{m.name}`", f"`{m.field[0]}`", f"`{m.field[1]}`" if m.field[1] else "",
                 writer.text_of(m.doc, " ")) for m in fields]
        out.append(table(("field", "type", "at first", "meaning"), rows))
    for group in grouped([m for m in shown(owner) if m.kind != "variable"]):
        out += write_group(writer, group, used, "###", owner.name)
    return out


def write_header(header, page, places):
    writer, used = Writer(places, page), set()
    out = [f"# {header.path}\n", f"```cpp\n#include <{header.path}>\n```\n"]
    said = head_comment(header.path)
    out.append(re.sub(r"\b(docs/\w+\.md)", rf"[`\1`]({'../' * page.count('/')}\1)", said) + "\n")
    rest = [(m.line, group) for group in grouped(free_members(header)) for m in group[:1]]
    parts = [(t.line, write_type(writer, t, used)) for t in header.types]
    parts += [(line, write_group(writer, group, used, "##")) for line, group in rest]
    for _, lines in sorted(parts, key=lambda part: part[0]):
        out += lines
    return "\n".join(out)


def page_of(path):
    """The page on a header."""
    inner = path.removeprefix("morton/").replace(".hpp", ".md").replace(".h", ".md")
    if path.endswith(".h"):
        return "reference/c/" + inner.removeprefix("c/")
    return "reference/cpp/" + inner


def headers_of(folder):
    return read_headers(run_doxygen(folder))


def write_header_pages(headers, folder):
    """Writes all pages below `folder`; gives (title, page) by the names that mkdocs.yml has for them."""
    made = {"C++ headers": [], "C++ headers for tools": [], "C headers": []}
    places = place_all(headers, page_of)
    for path, header in sorted(headers.items()):
        if not header.types and not header.members and not head_comment(path):
            continue
        page = page_of(path)
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(write_header(header, page, places), encoding="utf-8")
        kind = "C headers" if path.endswith(".h") else \
            "C++ headers for tools" if "/tools/" in path else "C++ headers"
        made[kind].append((path.removeprefix("morton/"), page))
    return made
