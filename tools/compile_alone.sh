#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tools/compile_alone.sh [FOLDER]
#
# Checks that every C++ file of src and cli compiles by itself: a unity build hides an include that is missing. Takes
# the syntax only, no code, so all files take a few minutes. FOLDER is where the compile commands of a
# build without unity are made (build-alone).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build-alone}
cmake --preset release -B "$folder" -DMORTON_UNITY=OFF -DMORTON_TESTS=OFF >/dev/null
cmake --build "$folder" --target morton_onnx_header >/dev/null
python3 - "$folder" <<'END'
import concurrent.futures, json, os, re, subprocess, sys

commands = [entry for entry in json.load(open(os.path.join(sys.argv[1], "compile_commands.json")))
            if re.search(r"/(src|cli)/", entry["file"]) and "/generated/" not in entry["file"]]


def complaints(entry):
    # The precompiled headers would hide a missing include as unity does.
    command = re.sub(r"-include \S+cmake_pch\S+|-fpch-preprocess|-Winvalid-pch| -o \S+", "",
                     entry["command"])
    command = re.sub(r"\S*/env .*?ccache |\S*ccache ", "", command)
    run = subprocess.run(command + " -fsyntax-only", shell=True, cwd=entry["directory"],
                         capture_output=True, text=True)
    return run.stderr if run.returncode else ""


failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for entry, text in zip(commands, pool.map(complaints, commands)):
        if text:
            failed += 1
            print(f"{os.path.relpath(entry['file'])} does not compile alone:\n{text}")
print(f"{len(commands)} files, {failed} that do not compile alone")
sys.exit(1 if failed else 0)
END
