#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All tests under sanitizers: `./dev check --sanitize address` (with that of undefined behaviour) or `thread`, which builds
build-asan or build-tsan before. It goes on behind the entries of ctest that an earlier call of the same build passed.
What comes behind the name goes to ctest: `./dev check --sanitize thread -R serve`. Anything that a sanitizer reports
fails its entry. The status is 1 where one fails."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = {"address": "build-asan", "thread": "build-tsan"}
ENDED = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) .*?(Passed|\*+\w.*?)\s+([\d.]+) sec")


def entries(build, words):
    """Of ctest: name -> number."""
    listed = subprocess.run(["ctest", "--test-dir", build, "-N", *words], stdout=subprocess.PIPE, text=True, check=True)
    return {name: int(number) for number, name in re.findall(r"^ *Test +#(\d+): (\S+)$", listed.stdout, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sanitizer", choices=FOLDERS)
    parser.add_argument("--anew", action="store_true", help="run again what an earlier call has passed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="entries at a time")
    parser.add_argument("--check", action="store_true", help="look at the arguments alone")
    options, words = parser.parse_known_args()
    if options.check:
        return 0
    build = ROOT / FOLDERS[options.sanitizer]
    library = sorted(build.glob("lib/libmorton.so.*.*"))[0]
    state, key = build / "sanitizers.json", hashlib.sha256(library.read_bytes()).hexdigest()
    passed = json.loads(state.read_text()) if state.exists() and not options.anew else {}
    if passed.get("build") != key:
        passed = {"build": key, "entries": {}}
    wanted = entries(build, words)
    left = [number for name, number in wanted.items() if name not in passed["entries"]]
    failed = []
    if left:
        # The file of a choice: start, end and stride are left out.
        chosen = build / "sanitizers.left"
        chosen.write_text("0,0,0," + ",".join(map(str, left)) + "\n")
        process = subprocess.Popen(["ctest", "--test-dir", build, "--output-on-failure", "--parallel", str(options.jobs), "-I", chosen],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace")
        for line in process.stdout:
            ended = ENDED.match(line)
            if ended is None:
                if not line.lstrip().startswith("Start "):
                    print(line, end="", flush=True)
                continue
            name, how, seconds = ended.groups()
            print(f"{how:<12}{float(seconds):>8.1f} s  {name}", flush=True)
            if how == "Passed" or "Skipped" in how:
                passed["entries"][name] = [how.strip("*"), float(seconds)]
                state.write_text(json.dumps(passed, indent=1) + "\n")
            else:
                failed.append(name)
        process.wait()
    done = [passed["entries"][name] for name in wanted if name in passed["entries"]]
    skipped = sum(how != "Passed" for how, _ in done)
    print(f"\n{options.sanitizer}: {len(done)} of {len(wanted)} entries without a finding ({skipped} of them skipped), "
          f"{sum(seconds for _, seconds in done):.0f} s")
    if failed:
        print("failed: " + " ".join(failed), file=sys.stderr)
    return 1 if len(done) < len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
