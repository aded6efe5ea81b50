# SPDX-License-Identifier: Apache-2.0
"""Doxygen's XML of the public headers, as headers with their types and functions."""

import dataclasses
import re
import subprocess
import xml.etree.ElementTree as ElementTree

from pages import ROOT

SETTINGS = """
INPUT = {root}/include/morton
STRIP_FROM_PATH = {root}/include
RECURSIVE = YES
FILE_PATTERNS = *.hpp *.h
OUTPUT_DIRECTORY = {out}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
EXTRACT_PRIVATE = NO
HIDE_FRIEND_COMPOUNDS = YES
JAVADOC_AUTOBRIEF = NO
QUIET = YES
WARNINGS = NO
SORT_MEMBER_DOCS = NO
AUTOLINK_SUPPORT = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = MORTON_API= MORTON_C_API= MORTON_FOR_TOOLS=
"""


@dataclasses.dataclass
class Member:
    """A function, a field, a name of another type, or an enumeration."""
    kind: str
    name: str
    signature: str
    doc: ElementTree.Element
    line: int
    refid: str
    values: list = dataclasses.field(default_factory=list)  # of an enumeration: (name, doc)
    field: tuple = ()  # of a variable: (type, initializer)
    has_doc: bool = False


@dataclasses.dataclass
class Type:
    kind: str
    name: str  # within morton: "Session", "CompileOptions::Precision"
    doc: ElementTree.Element
    line: int
    refid: str
    members: list
    has_doc: bool = False


@dataclasses.dataclass
class Header:
    path: str  # "morton/session.hpp"
    types: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)


def run_doxygen(out):
    """Writes the XML below `out`, a folder; gives the folder of the XML."""
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "-"], input=SETTINGS.format(root=ROOT, out=out), text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"doxygen: status {done.returncode}\n{done.stderr}")
    return out / "xml"


def plain(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip() if element is not None else ""


def has_text(definition):
    return any(plain(definition.find(f"{place}description")) for place in ("brief", "detailed"))


def signature_of(member, name):
    """The declaration as a header has it, without what only compilers ask for."""
    kind = member.get("kind")
    words = plain(member.find("type")).replace("[[nodiscard]]", "").strip()
    words = re.sub(r"< ", "<", re.sub(r" >", ">", words))
    arguments = member.findtext("argsstring") or ""
    if kind == "typedef":
        return (member.findtext("definition") or "").replace("morton::", "") + ";"
    template = member.find("templateparamlist")
    head = ""
    if template is not None:
        parameters = ", ".join(f"{plain(p.find('type'))} {p.findtext('declname') or ''}".strip()
                               for p in template.findall("param"))
        head = f"template <{parameters}>\n"
    explicit = "explicit " if member.get("explicit") == "yes" else ""
    static = "static " if member.get("static") == "yes" else ""
    words = words.removeprefix("static ")
    return f"{head}{static}{explicit}{words + ' ' if words else ''}{name}{arguments};"


def member_of(definition):
    kind, name = definition.get("kind"), definition.findtext("name")
    place = definition.find("location")
    member = Member(kind, name, signature_of(definition, name), definition, int(place.get("line")),
                    definition.get("id"), has_doc=has_text(definition))
    if kind == "enum":
        member.values = [(value.findtext("name"), value) for value in definition.findall("enumvalue")]
    if kind == "variable":
        kind_of = re.sub(r" ?([<>]) ?", r"\1", plain(definition.find("type")))
        member.field = (kind_of + (definition.findtext("argsstring") or ""),
                        plain(definition.find("initializer")).lstrip("= "))
    return member


def file_of(definition):
    place = definition.find("location")
    return (place.get("declfile") or place.get("file")).removeprefix("include/")


def is_public(definition):
    return definition.get("prot") in (None, "public") and definition.get("kind") != "friend"


def members_of(compound):
    for section in compound.findall("sectiondef"):
        if section.get("kind").startswith(("private", "friend", "protected")):
            continue
        for definition in section.findall("memberdef"):
            if is_public(definition) and definition.findtext("name") and \
                    not definition.findtext("name").startswith("@"):
                yield definition


def read_headers(xml):
    """Headers by path, each with what it declares in its order."""
    headers = {}

    def header(path):
        return headers.setdefault(path, Header(path))

    seen = set()
    for file in sorted(xml.glob("*.xml")):
        if file.name == "index.xml":
            continue
        for compound in ElementTree.parse(file).getroot().findall("compounddef"):
            kind, name = compound.get("kind"), compound.findtext("compoundname")
            if kind in ("class", "struct", "union") and is_public(compound):
                inner = name.removeprefix("morton::")
                if inner.startswith("api::") or "@" in name:
                    continue
                members = sorted(map(member_of, members_of(compound)), key=lambda m: m.line)
                header(file_of(compound)).types.append(
                    Type(kind, inner, compound, int(compound.find("location").get("line")),
                         compound.get("id"), members, has_text(compound)))
            elif kind in ("namespace", "file"):
                for definition in members_of(compound):
                    if definition.get("kind") in ("function", "enum", "typedef", "variable") and \
                            definition.get("id") not in seen:
                        seen.add(definition.get("id"))
                        header(file_of(definition)).members.append(member_of(definition))
    for found in headers.values():
        found.types.sort(key=lambda t: t.line)
        found.members.sort(key=lambda m: m.line)
    return headers
