#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large a struct, a class and a file may be. What is too large is split into parts with names:
members into nested structs, a file into files with headers of their own."""

import re

from project import Problems, files, read

MEMBERS = 14  # data members of a struct or class
LINES = 300   # of a file of src/, cli/ or include/

# Struct -> how many members it may have, and why. Lower a number when a change allows it.
STRUCTS = {
    "CompileOptions": (25, "public: users set its members by name"),
    "TrainingRunOptions": (17, "public: users set its members by name"),
    "TrainingReport": (15, "public: users read its members by name"),
    "StepInfo": (15, "public: users read its members by name"),
    "TrainOptions": (17, "a member for each option of a command"),
}

NOT_CODE = re.compile(r"""(//[^\n]*|/\*.*?\*/)|R"(\w*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|"""
                      r"""(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'""", re.S)
HEAD = re.compile(r"\b(?<!enum )(?:struct|class)\s+(?:\[\[\w+\]\]\s*|MORTON_API\s+)*(\w+)[^;{}()=<>]*$")
NO_MEMBER = re.compile(r"^\s*(?:static|using|friend|typedef|enum|template|struct|class|union|"
                       r"constexpr|inline|explicit|virtual|operator)\b")


def without_comments(text):
    """The text with comments blank, lines kept, and texts empty."""
    text = NOT_CODE.sub(
        lambda found: ("" if found.group(1) else '""') + "\n" * found.group().count("\n"), text)
    return re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", "", text, flags=re.M)


def without_groups(text, left, right):
    """The text without what stands between the marks, whatever their nesting."""
    kept, depth = [], 0
    for c in text:
        if c == left:
            depth += 1
        elif c == right and depth:
            depth -= 1
        elif depth == 0:
            kept.append(c)
    return "".join(kept)


def members_of(statement):
    """How many data members one statement of a struct declares, as in `int a = 0, b = 1;`."""
    statement = re.sub(r"^\s*(?:(?:public|private|protected)\s*:\s*)+", "", statement)
    statement = re.sub(r"\[\[.*?\]\]", "", statement)
    if not statement.strip() or NO_MEMBER.match(statement):
        return 0
    pointers = len(re.findall(r"\(\s*\*\s*\w+\s*\)\s*\(", statement))
    if pointers:
        return pointers
    flat = without_groups(statement, "<", ">")
    declared = flat.split("=")[0]
    if "(" in declared or "~" in declared or "operator" in declared:
        return 0
    flat = without_groups(without_groups(flat, "(", ")"), "[", "]")
    return flat.count(",") + 1


def sizes_of(text):
    """Yields (name, line, number of members) of each struct and class that is defined in a text."""
    text = without_comments(text)
    open_parts = []  # of each open brace: [name of a struct or None, line, members]
    statement, line, parentheses = "", 1, 0
    for c in text:
        if c == "\n":
            line += 1
        parentheses += (c == "(") - (c == ")")
        if c == "{":
            head = HEAD.search(statement) if parentheses == 0 else None
            enumeration = re.search(r"\benum\b[^;{}]*$", statement)
            if head and not enumeration:
                open_parts.append([head.group(1), line, 0, ""])
            else:
                # A body, an enumeration, or a member's first value: the statement goes on behind.
                open_parts.append([None, line, 0, statement])
            statement = ""
        elif c == "}" and open_parts:
            name, first, members, before = open_parts.pop()
            statement = before + " {} "
            if name:
                yield name, first, members
                statement = "grouped "
            elif re.search(r"\)[\w\s:&,<>]*\{\} $|\bnamespace\b[\w\s:]*\{\} $", statement):
                statement = ""
            elif re.search(r"\benum\b", before):
                # An enumeration that is a member's type counts where the member is named.
                statement = "enumeration "
        elif c == ";" and parentheses == 0:
            if open_parts and open_parts[-1][0]:
                statement = statement.replace("{}", "")
                if statement.strip() not in ("grouped", "enumeration"):
                    open_parts[-1][2] += members_of(
                        re.sub(r"^\s*(?:grouped|enumeration)\s+(?=\w)", "", statement))
            statement = ""
        else:
            statement += c


def main():
    problems = Problems()
    for path in files(".cpp", ".hpp", ".c", ".h"):
        name, text = str(path), read(path)
        for struct, line, members in sizes_of(text):
            most, _ = STRUCTS.get(struct, (MEMBERS, ""))
            if members > most:
                problems.add(path, line, f"{struct} has {members} data members, at most {most}: "
                             "group them into nested structs")
        lines = text.count("\n")
        if name.startswith(("src/", "cli/", "include/")) and lines > LINES:
            problems.add(path, 0, f"{lines} lines, at most {LINES}: split it")
    problems.finish()


if __name__ == "__main__":
    main()
