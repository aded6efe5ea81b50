#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tools/static_analysis.sh [cppcheck [PATH...]] | [clang-tidy [FOLDER...]]
#
# Looks for defects in the C++ of src, cli, libexec, include and python/bindings without running it: cppcheck over the
# files, clang-tidy with the checks of .clang-tidy over the units of build/compile_commands.json. PATH and FOLDER (such
# as src/plan) narrow it. The status is 1 where something is found.
#
# clang-tidy takes many files as one unit, so that it reads each header once. What it says of a unit is kept in
# build/static_analysis until a file of the unit changes. MORTON_JOBS limits the processes; otherwise there is one for
# each processor.
set -euo pipefail
cd "$(dirname "$0")/.."
kept=build/static_analysis
jobs=${MORTON_JOBS:-$(nproc)}
folders=(src cli libexec include python/bindings)

require() {
  command -v "$1" >/dev/null || {
    echo "tools/static_analysis.sh: there is no $1; ./dev check --static installs it" >&2
    exit 2
  }
}

run_cppcheck() {
  require cppcheck
  local options=(--enable=warning,performance,portability --inline-suppr --std=c++20 --language=c++ --quiet
    --error-exitcode=1 --template='{file}:{line}: {severity}: {message} [{id}]' -j "$jobs" -I include -I src -I cli
    # Attributes of GNU stand between [[noreturn]] and the function, and then cppcheck forgets the former.
    '-D__attribute__(x)='
    # The compiler knows better, and its warning is an error: -Wreturn-type.
    --suppress=missingReturn
    # It does not see moves in a list of initializers. clang-tidy looks for the same and sees them.
    --suppress=passedByValue
    # A member that several statements make is assigned once.
    --suppress=useInitializationList)
  # Kernels are no C++, but cppcheck would take them from a folder.
  (($# > 0)) || set -- "${folders[@]}"
  git ls-files --cached --others --exclude-standard -- "$@" | grep '\.cpp$' |
    cppcheck "${options[@]}" --file-list=-
}

run_clang_tidy() {
  require clang-tidy-16
  [[ -f build/compile_commands.json ]] || {
    echo "tools/static_analysis.sh: there is no build/compile_commands.json; ./dev build makes it" >&2
    exit 2
  }
  python3 - "$kept" "$jobs" "$@" <<'END'
import concurrent.futures, hashlib, json, os, pathlib, re, shlex, subprocess, sys, time

ROOT = os.getcwd()
KEPT, JOBS, NARROWED = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
# What g++ knows and clang does not, and the precompiled headers of g++.
FOREIGN = ("-Winvalid-pch", "-fpch-preprocess", "-Wno-restrict", "-Wno-maybe-uninitialized", "-Werror")
WITH_VALUE = ("-include", "-o")


def files_of(entry):
    """The files of the repository that an entry compiles: one, or those of a unit of the unity build."""
    if "/Unity/" not in entry["file"]:
        return [entry["file"]]
    return re.findall(r'^#include "(.*)"$', pathlib.Path(entry["file"]).read_text(), re.MULTILINE)


def flags_of(entry):
    words, flags = shlex.split(entry["command"]), []
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    while words:
        word = words.pop(0)
        if word in WITH_VALUE:
            words.pop(0)
        elif word not in FOREIGN + ("-c", entry["file"]):
            flags.append(word)
    return tuple(flags)


def rooms():
    """flags -> folder -> its files. Tests are left out, and so is what they compile for themselves."""
    made, seen = {}, set()
    for entry in json.load(open("build/compile_commands.json")):
        if re.search(r"CMakeFiles/(\w*_tests|morton_fuzz\w*|fault\w*)\.dir/", entry["command"]):
            continue
        for file in files_of(entry):
            file = os.path.relpath(file, ROOT)
            folder = os.path.dirname(file)
            if re.match(r"(src|cli|libexec|python/bindings)/", file) and file not in seen:
                seen.add(file)
                if not NARROWED or any(f"{folder}/".startswith(f"{name.rstrip('/')}/") for name in NARROWED):
                    made.setdefault(flags_of(entry), {}).setdefault(folder, []).append(file)
    return made


def units():
    """(flags, files). Rooms of one folder may have the same name for different things, so a unit takes one room of each
    folder. All get about as many files."""
    for flags, folders in sorted(rooms().items()):
        tops = {folder: "/".join(folder.split("/")[:2]) if folder.startswith("src/") else folder.split("/")[0]
                for folder in folders}
        most = max(list(tops.values()).count(top) for top in tops.values())
        made = [(set(), []) for _ in range(most)]
        for folder in sorted(folders, key=lambda folder: (-len(folders[folder]), folder)):
            held, files = min((unit for unit in made if tops[folder] not in unit[0]), key=lambda unit: len(unit[1]))
            held.add(tops[folder])
            files.extend(sorted(folders[folder]))
        for _, files in made:
            yield flags, files


def key_of(unit, flags):
    """A digest of all that decides what clang-tidy says of a unit."""
    rule = subprocess.run(["c++", *flags, "-MM", unit], check=True, capture_output=True, text=True).stdout
    digest = hashlib.sha256(VERSION + repr(flags).encode() + pathlib.Path(".clang-tidy").read_bytes())
    for file in sorted(set(rule.replace("\\\n", " ").split()[1:])):
        digest.update(file.encode() + b"\0" + pathlib.Path(file).read_bytes())
    return digest.hexdigest()


def said_of(unit):
    """What clang-tidy says of (flags, files)."""
    flags, files = unit
    text = "".join(f'#include "{ROOT}/{file}"\n' for file in files)
    source = KEPT / "units" / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".cpp")
    source.write_text(text)
    result = KEPT / "results" / key_of(source, flags)
    if not result.exists():
        run = subprocess.run(["clang-tidy-16", "--quiet", str(source), "--", *flags], capture_output=True, text=True)
        if run.returncode < 0:
            raise SystemExit(f"clang-tidy ended by signal {-run.returncode} in {source}")
        result.write_text(run.stdout.replace(ROOT + "/", ""))
    return result.read_text()


VERSION = subprocess.run(["clang-tidy-16", "--version"], check=True, capture_output=True).stdout
(KEPT / "units").mkdir(parents=True, exist_ok=True)
(KEPT / "results").mkdir(exist_ok=True)
began, seen, all_units = time.time(), set(), list(units())
with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
    for said in pool.map(said_of, all_units):
        # A header's findings come with every unit that includes it.
        for finding in re.split(r"^(?=\S+:\d+:\d+: (?:warning|error): )", said, flags=re.MULTILINE):
            if finding.strip() and finding not in seen:
                seen.add(finding)
                print(finding, end="", flush=True)
files = sum(len(files) for _, files in all_units)
print(f"clang-tidy: {files} files, {len(seen)} findings, {(time.time() - began) / 60:.0f} minutes", file=sys.stderr)
sys.exit(1 if seen else 0)
END
}

case ${1:-} in
  '')
    failed=0
    run_cppcheck || failed=1
    run_clang_tidy || failed=1
    exit "$failed"
    ;;
  cppcheck) run_cppcheck "${@:2}" ;;
  clang-tidy) run_clang_tidy "${@:2}" ;;
  *)
    echo "usage: tools/static_analysis.sh [cppcheck [PATH...]] | [clang-tidy [FOLDER...]]" >&2
    exit 2
    ;;
esac
