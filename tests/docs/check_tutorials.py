#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_tutorials.py BUILD PYTHON [PAGE ...] [--write]: the commands of docs/tutorials run as they stand there.

Each page has a folder of its own, which looks like the repository's root, and an installation of BUILD.
A block after `<!-- file: NAME -->` is written to that file. In a block of `console`, lines that begin with
`$ ` are commands; what follows is what they print. There `...` stands for anything, a number for any
number, and columns may be of any width. A command must end with status 0. A block after `<!-- needs: torch -->`
runs where Python has torch; elsewhere a program of this folder, named after it, takes its place.

--write puts what the commands print into the pages."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/tutorials"
BLOCK = re.compile(r"(?:^<!-- (file|needs): (\S+) -->\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
DISTURBED = re.compile("the machine was disturbed|measured on a busy machine")
SLOW_S = 400


def install(build, prefix):
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True,
                   stdout=subprocess.DEVNULL)
    return next(prefix.rglob("morton.pc")).parent


def environment(build, python, prefix, packages, caches):
    """What a reader has who has installed Morton and its Python package."""
    library = packages.parent
    tools = prefix / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(python)
    return {**os.environ, "PATH": f"{tools}:{prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(packages),
            "LD_LIBRARY_PATH": str(library), "PYTHONPATH": str(build / "python"), "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1", "MORTON_CACHE_DIR": f"{caches}/morton", "POCL_CACHE_DIR": f"{caches}/pocl"}


def look_like_the_repository(folder):
    for path in ROOT.iterdir():
        if not path.name.startswith((".", "build")):
            (folder / path.name).symlink_to(path)


def pattern_of(line):
    """What a line of a page stands for."""
    words = []
    for word in line.split():
        parts = [re.escape(part) for part in NUMBER.split(word)]
        words.append(NUMBER.pattern.join(parts).replace(re.escape("..."), ".*"))
    return re.compile(r"\s*" + r"\s+".join(words) + r"\s*")


def is_as_shown(shown, printed):
    """Whether the lines of a page are those that were printed. A line `...` is any number of lines."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(is_as_shown(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and pattern_of(shown[0]).fullmatch(printed[0]) is not None and \
        is_as_shown(shown[1:], printed[1:])


def commands_of(block):
    """(command, shown lines) of a block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


class Page:
    def __init__(self, path, folder, given):
        self.path, self.folder, self.given = path, folder, given
        self.wrong, self.commands = [], 0

    def run(self, command):
        done = subprocess.run(["bash", "-euc", command], cwd=self.folder, env=self.given, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SLOW_S,
                              stdin=subprocess.DEVNULL)
        if done.returncode == 1 and DISTURBED.search(done.stdout):
            # A rate that cannot be is an error of measuring, not of the page.
            print(f"{self.path.name}: {command}: not compared, the machine was disturbed")
            return None
        if done.returncode:
            self.wrong.append(f"{command}: status {done.returncode}\n{done.stdout}")
        return [line.rstrip() for line in done.stdout.splitlines()]

    def console(self, block, module):
        out = []
        if module and subprocess.run(["python3", "-c", f"import {module}"], env=self.given, capture_output=True,
                                     check=False).returncode:
            print(f"{self.path.name}: there is no {module} here; made_without_{module}.py takes its place")
            self.run(f"python3 tests/docs/made_without_{module}.py")
            return block
        for command, shown in commands_of(block):
            printed = self.run(command)
            self.commands += 1
            if printed is None:
                out += [f"$ {command}", *shown]
                continue
            if not is_as_shown(shown, printed):
                self.wrong.append(f"{command}\n  the page shows\n    " + "\n    ".join(shown) +
                                  "\n  it prints\n    " + "\n    ".join(printed))
            out += [f"$ {command}", *printed]
        return "\n".join(out) + "\n"

    def check(self):
        """Runs the page; gives its text with what the commands print."""
        text, parts, end = self.path.read_text(encoding="utf-8"), [], 0
        for match in BLOCK.finditer(text):
            what, name, language, block = match.groups()
            parts.append(text[end:match.start(4)])
            if what == "file":
                (self.folder / name).write_text(block, encoding="utf-8")
            parts.append(self.console(block, name if what == "needs" else None) if language == "console" else block)
            end = match.end(4)
        return "".join(parts) + text[end:]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    arguments.add_argument("python")
    arguments.add_argument("pages", nargs="*")
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_intermixed_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="morton_tutorials_") as name:
        top = pathlib.Path(name)
        (top / "caches/pocl").mkdir(parents=True)
        packages = install(options.build, top / "prefix")
        given = environment(options.build, options.python, top / "prefix", packages, top / "caches")
        for path in sorted(PAGES.glob("*.md")):
            if options.pages and path.stem not in options.pages:
                continue
            folder = top / path.stem
            folder.mkdir()
            look_like_the_repository(folder)
            page = Page(path, folder, given)
            text = page.check()
            if options.write:
                path.write_text(text, encoding="utf-8")
                page.wrong = [line for line in page.wrong if ": status" in line]
            for line in page.wrong:
                print(f"{path.name}: {line}")
            print(f"{path.name}: {page.commands} commands, {len(page.wrong)} problems", flush=True)
            wrong += len(page.wrong)
    return 1 if wrong else 0


sys.exit(main())
