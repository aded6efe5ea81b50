#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README lists ONNX's operators: those of src/ops/ops.def, and those of src/ops/refused.def by why they are
refused. With --write the lists are written anew."""

import re
import sys
import textwrap

from project import ROOT, Problems, read

# What only Morton's own passes put into a graph, and the operators of the domain "morton".
INTERNAL = {"BoxSuppression", "Chain", "DepthSlices", "DeterminantPlace", "DoublingHighMul", "MaxPoolGradient", "MaxRoiPlace",
            "PairwiseCoupling", "RecurrentSequence", "RoundingShift", "ScatterRows", "Trees", "Unfold"}


def supported():
    """The list of the operators that there are, as the README has it."""
    listed = re.findall(r"^MORTON_(?:ROW_OF\(([\w.]+), |\w+\()(\w+)", read(ROOT / "src/ops/ops.def"), re.M)
    names = {f"{domain}.{name}" if domain else name for domain, name in listed} - INTERNAL
    return lines_of(names) + "\n"


def refused():
    """A table of the others, by the reason."""
    by_reason = {}
    for name, reason in re.findall(r'^MORTON_REFUSED\("([\w.]+)", "(.*)"\)$', read(ROOT / "src/ops/refused.def"), re.M):
        by_reason.setdefault(reason, set()).add(name)
    rows = [f"| {reason} | {lines_of(names, ' ')} |\n" for reason, names in sorted(by_reason.items())]
    return "| why | operators |\n|---|---|\n" + "".join(rows)


def lines_of(names, end="\n"):
    listed = ", ".join(f"`{name}`" for name in sorted(names, key=str.lower))
    return end.join(textwrap.wrap(listed, 105))


def main():
    problems, page = Problems(), ROOT / "README.md"
    lists = {"operators": supported(), "refused operators": refused()}
    for name, wanted in lists.items():
        text = read(page)
        start_mark, end_mark = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        start = text.index(start_mark) + len(start_mark)
        end = text.index(end_mark)
        if "--write" in sys.argv[1:]:
            page.write_text(text[:start] + wanted + text[end:])
        elif text[start:end] != wanted:
            problems.add("README.md", text[:start].count("\n"), f"is not the list of {name}; run ./dev fmt")
    problems.finish()


main()
