#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README lists the operators of src/ops/ops.def, ONNX's. With --write the list is written anew."""

import re
import sys
import textwrap

from project import ROOT, Problems, read

# What only Morton's own passes put into a graph, and the operators of the domain "morton".
INTERNAL = {"Chain", "MaxPoolGradient", "DoublingHighMul", "RoundingShift"}
START, END = "<!-- operators -->\n", "<!-- end of operators -->"


def main():
    problems, page = Problems(), ROOT / "README.md"
    listed = re.findall(r"^MORTON_(?:ROW_OF\(([\w.]+), |\w+\()(\w+)", read(ROOT / "src/ops/ops.def"), re.M)
    names = {f"{domain}.{name}" if domain else name for domain, name in listed} - INTERNAL
    listed = ", ".join(f"`{name}`" for name in sorted(names, key=str.lower))
    wanted = "\n".join(textwrap.wrap(listed, 105)) + "\n"
    text = read(page)
    start = text.index(START) + len(START)
    end = text.index(END)
    if "--write" in sys.argv[1:]:
        page.write_text(text[:start] + wanted + text[end:])
    elif text[start:end] != wanted:
        problems.add("README.md", text[:start].count("\n"), "is not the list of src/ops/ops.def; run ./dev fmt")
    problems.finish()


main()
