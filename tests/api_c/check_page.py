#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_page.py COMPILER: the C that docs/c_api.md and the head of morton/morton.h show compiles as C99.
Each piece is a function's body, beside what the pieces before it on a page leave to the reader."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIVEN = """#include <morton/morton.h>
#include <stdio.h>
extern float pixels[1024], shares[10], images[20480];
extern int32_t labels[20];
extern morton_device* device;
extern morton_model* model;
extern morton_session* session;
void use(const float* values);
"""


def pieces():
    page = (ROOT / "docs/c_api.md").read_text(encoding="utf-8")
    yield from re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
    head = (ROOT / "include/morton/morton.h").read_text(encoding="utf-8")
    yield "\n".join(re.findall(r"^///     (.*)$", head, re.M))


def main():
    bodies = [piece.replace("#include <morton/morton.h>\n", "") for piece in pieces()]
    text = GIVEN + "".join(f"void piece_{i}(void) {{\n{body}\n}}\n" for i, body in enumerate(bodies))
    done = subprocess.run([sys.argv[1], "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror",
                           f"-I{ROOT}/include", "-xc", "-fsyntax-only", "-"],
                          input=text, text=True, check=False)
    print(f"{len(bodies)} pieces of C")
    sys.exit(done.returncode if len(bodies) > 4 else 1)


main()
