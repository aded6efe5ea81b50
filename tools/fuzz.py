#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes parsers with libFuzzer: ./dev check --fuzz MINUTES [TARGET...], which builds build-fuzz before.

Each target gets its share of the minutes, as many at a time as there are processors. It goes on from what earlier calls
found: build-fuzz/corpus. A table says what came of it in this call and in all, as build-fuzz/totals.json has it. Inputs
that end a target are kept in build-fuzz/findings, and the status is 1 where there are any."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build-fuzz"
STATE = BUILD / "totals.json"
MEGABYTES = 1024  # of one input, at most
SECONDS = 300     # of the clock, for an input that waits: tests/fuzz/main.cpp ends one that takes 10 s of the processor
MOST_FINDINGS = 5              # of a target in one call: more of them are mostly the same
FINDINGS = ("crash-", "timeout-", "oom-")
ONNX_TESTS = pathlib.Path("/usr/share/libonnx-testdata/data/node")


def targets():
    """The rows of fuzz_targets.def: name -> most bytes of an input."""
    text = (ROOT / "tests/fuzz/fuzz_targets.def").read_text()
    return {name: int(most) for name, most in re.findall(r"^FUZZ_TARGET\((\w+), (\d+)\)$", text, re.M)}


def add_seeds(target, corpus, most):
    """Copies the files of seeds.txt, and for each operator a model of ONNX's own tests, to the growing corpus."""
    seeds = []
    for line in (ROOT / "tests/fuzz/seeds.txt").read_text().splitlines():
        if line.startswith(target + " "):
            found = sorted(ROOT.glob(line.split(" ", 1)[1]))
            if not found:
                raise SystemExit(f"error: tests/fuzz/seeds.txt: no file is '{line.split(' ', 1)[1]}'")
            seeds += found
    if target.startswith("onnx"):
        smallest = {}  # of each operator
        for model in sorted(ONNX_TESTS.glob("*/model.onnx"), key=lambda model: (model.stat().st_size, model)):
            smallest.setdefault(model.parent.name.split("_")[1], model)
        seeds += smallest.values()
    for seed in seeds:
        name = "seed-" + "-".join(seed.parts[-2:])
        if seed.stat().st_size <= most and not (corpus / name).exists():
            (corpus / name).write_bytes(seed.read_bytes())


def figures(output):
    """What libFuzzer prints at its end, by name."""
    return {name: int(value) for name, value in re.findall(r"stat::(\w+):\s+(\d+)", output)}


def summary(output):
    """The line of its output that says what was found."""
    for pattern in ("what[(][)]: .*", "runtime error: .*", "SUMMARY: .*", "ERROR: .*"):
        found = re.search(pattern, output)
        if found:
            return found.group()[:200]
    return (output.strip().splitlines() or ["it said nothing"])[-1][:200]


def run(target, most, seconds):
    """Runs a target for so long. Returns its figures, and each finding with what was said of it."""
    corpus, kept = BUILD / "corpus" / target, BUILD / "findings" / target
    corpus.mkdir(parents=True, exist_ok=True)
    kept.mkdir(parents=True, exist_ok=True)
    add_seeds(target, corpus, most)
    end = time.monotonic() + seconds
    total = {"runs": 0, "seconds": 0.0, "slowest_s": 0, "most_mb": 0}
    seeds, findings = [], []
    # -entropic=0: its weights of inputs take two thirds of the time of models, whose features are many.
    while (left := int(end - time.monotonic())) > 0 and len(findings) < MOST_FINDINGS:
        seed = random.SystemRandom().randrange(1, 2**31)
        seeds.append(seed)
        before, begun = set(kept.iterdir()), time.monotonic()
        command = [str(BUILD / "fuzz" / target), f"-seed={seed}", f"-max_total_time={left}", f"-max_len={most}",
                   f"-rss_limit_mb={MEGABYTES}", f"-timeout={SECONDS}", f"-report_slow_units={SECONDS}",
                   f"-artifact_prefix={kept}/",
                   "-print_final_stats=1", "-reload=0", "-verbosity=1", "-entropic=0", str(corpus)]
        if (ROOT / "tests/fuzz/corpus" / target).is_dir():
            command.append(str(ROOT / "tests/fuzz/corpus" / target))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", cwd=ROOT)
        told = figures(done.stdout)
        total["runs"] += told.get("number_of_executed_units", 0)
        total["seconds"] += time.monotonic() - begun
        total["slowest_s"] = max(total["slowest_s"], told.get("slowest_unit_time_sec", 0))
        total["most_mb"] = max(total["most_mb"], told.get("peak_rss_mb", 0))
        for new in sorted(set(kept.iterdir()) - before):
            if new.name.startswith(FINDINGS):
                findings.append((new, summary(done.stdout)))
        if done.returncode != 0 and not any(new.name.startswith(FINDINGS) for new in set(kept.iterdir()) - before):
            findings.append((BUILD / "fuzz" / target, summary(done.stdout)))
    return total, seeds, findings


def still_found(path):
    """Whether an input that was kept earlier still ends its target."""
    target = path.parent.name
    done = subprocess.run([BUILD / "fuzz" / target, f"-rss_limit_mb={MEGABYTES}", f"-timeout={SECONDS}", path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", cwd=ROOT)
    return summary(done.stdout) if done.returncode != 0 else None


def table_of(totals):
    """What all calls have done, as docs/fuzzing.md records it."""
    lines = ["| target | runs | runs/s | found | slowest | memory |", "|---|--:|--:|--:|--:|--:|"]
    for name, one in sorted(totals.items()):
        lines.append(f"| `{name}` | {one['runs']:,} | {one['runs'] / max(one['seconds'], 1):,.0f} | {one['found']} | "
                     f"{one['slowest_s']} s | {one['most_mb']} MB |")
    runs, hours = (sum(one[what] for one in totals.values()) for what in ("runs", "seconds"))
    return "\n".join([*lines, f"{runs:,} runs in {hours / 3600:.1f} hours of processor time"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float, help="of the clock, for all targets together")
    parser.add_argument("target", nargs="*", help="those of tests/fuzz/fuzz_targets.def; default: all")
    parser.add_argument("--until", type=int, metavar="RUNS", help="leave out targets that have had so many in all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time")
    parser.add_argument("--check", action="store_true", help="look at the arguments alone")
    given = parser.parse_args()
    known = targets()
    unknown = [name for name in given.target if name not in known]
    if unknown or given.minutes <= 0 or given.jobs <= 0:
        raise SystemExit(f"error: expected minutes and jobs above 0, and targets of: {' '.join(known)}")
    if given.check:
        return
    totals = json.loads(STATE.read_text()) if STATE.exists() else {}
    chosen = [name for name in given.target or known
              if given.until is None or totals.get(name, {}).get("runs", 0) < given.until]
    if not chosen:
        print(table_of(totals))
        return
    # Some targets write files, which are faster in memory.
    in_memory = tempfile.mkdtemp(prefix="morton-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        sys.exit(fuzz(chosen, known, totals, given, in_memory))
    finally:
        shutil.rmtree(in_memory, ignore_errors=True)


def fuzz(chosen, known, totals, given, in_memory):
    """Runs the targets and prints what came of them; the status."""
    os.environ["TMPDIR"] = in_memory
    # Short stacks of allocations and few bytes kept behind frees: models are planned twice as fast so.
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0:malloc_context_size=2:quarantine_size_mb=16"
    os.environ["MORTON_CACHE_DIR"] = str(BUILD / "cache")

    findings = []
    for target in chosen:
        kept = BUILD / "findings" / target
        for path in sorted(kept.iterdir()) if kept.is_dir() else ():
            if path.name.startswith(FINDINGS):
                said = still_found(path)
                if said is None:
                    path.unlink()
                else:
                    findings.append((path, said))

    jobs = min(given.jobs, len(chosen))
    share = given.minutes * 60 * jobs / len(chosen)
    print(f"{'target':<14}{'runs in all':>12}{'new':>10}{'runs/s':>8}{'found':>7}{'slowest':>9}{'memory':>9}  seeds", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(run, target, known[target], share): target for target in chosen}
        for done in concurrent.futures.as_completed(running):
            target = running[done]
            new, seeds, found = done.result()
            findings += found
            old = {"runs": 0, "seconds": 0, "found": 0, "slowest_s": 0, "most_mb": 0, **totals.get(target, {})}
            totals[target] = {name: old[name] + more for name, more in
                              (("runs", new["runs"]), ("seconds", round(new["seconds"])), ("found", len(found)))}
            for name in ("slowest_s", "most_mb"):
                totals[target][name] = max(old[name], new[name])
            STATE.write_text(json.dumps(totals, indent=1) + "\n")
            rate = new["runs"] / max(new["seconds"], 1e-3)
            print(f"{target:<14}{totals[target]['runs']:>12}{new['runs']:>10}{rate:>8.0f}{len(found):>7}"
                  f"{totals[target]['slowest_s']:>7} s{totals[target]['most_mb']:>6} MB  {' '.join(map(str, seeds))}", flush=True)
    print("\n" + table_of(totals))
    for path, said in findings:
        place = path.relative_to(ROOT)
        print(f"\n{said}\n  build-fuzz/fuzz/{path.parent.name if path.parent.name in known else path.name} {place}")
    if findings:
        print(f"\n{len(findings)} inputs end a target; each line above reproduces one.", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    main()
