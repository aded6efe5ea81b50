#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Load: what Morton does very often (build/bench/load), and a server under clients good and bad. `./dev check --load`
runs it. Memory and open files must not grow, answers must agree in every bit, and no entry of a shared cache may be
lost. It goes on behind the phases that an earlier call has finished with the same build."""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOAD = "{build}/bench/load"
PHASES = {
    "inferences": [LOAD, "inferences", "1000000"],
    "sessions": [LOAD, "sessions", "10000"],
    "loads": [LOAD, "loads", "1000"],
    "threads": [LOAD, "threads", "24", "10000"],
    "processes": [LOAD, "processes", "24", "1000"],
    "serving": ["tests/serve/storm.py", "{build}/libexec/morton/morton-serve", "{build}/bench/serve_load", "1000000"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phases", nargs="*", metavar="PHASE", help=f"{', '.join(PHASES)} (all)")
    parser.add_argument("--build", default="build", help="a folder of CMake (build)")
    parser.add_argument("--anew", action="store_true", help="do again what an earlier call has finished")
    options = parser.parse_args()
    unknown = [phase for phase in options.phases if phase not in PHASES]
    if unknown:
        parser.error(f"no phase is named {unknown[0]}; there are {', '.join(PHASES)}")
    os.chdir(ROOT)
    build = pathlib.Path(options.build)
    library = sorted(build.glob("lib/libmorton.so.*.*"))[0]
    state, key = build / "load.json", hashlib.sha256(library.read_bytes()).hexdigest()
    finished = json.loads(state.read_text()) if state.exists() and not options.anew else {}
    if finished.get("build") != key:
        finished = {"build": key, "phases": {}}
    failed = []
    for phase in options.phases or PHASES:
        if phase not in finished["phases"]:
            with tempfile.TemporaryDirectory(prefix="morton_load_") as driver:
                words = [word.format(build=build) for word in PHASES[phase]]
                done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False,
                                      env=dict(os.environ, POCL_CACHE_DIR=driver, MORTON_BACKGROUND="off"))
            if done.returncode != 0:
                print(f"{done.stdout}{phase}: WRONG, status {done.returncode}", flush=True)
                failed.append(phase)
                continue
            finished["phases"][phase] = done.stdout.strip()
            state.write_text(json.dumps(finished, indent=1) + "\n")
        print(finished["phases"][phase], flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
