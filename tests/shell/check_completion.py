#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_completion.py PROGRAM SCRIPT

Presses Tab in bash: SCRIPT is bash's completion of PROGRAM. Ends with 77 where there is no bash.
"""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What bash does when Tab is pressed behind $1, and what it then has.
PRESS_TAB = r"""
source "$SCRIPT"
asked=
compopt() { asked+=" $*"; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("$PROGRAM")
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_morton
printf '%s\n' "${COMPREPLY[@]}"
echo "$asked" >&2
"""


def tab(program, script, line, folder):
    """What bash would put behind the line, and what it was asked to do with it."""
    environment = {**os.environ, "SCRIPT": script, "PROGRAM": program}
    run = subprocess.run(["bash", "--norc", "-uc", PRESS_TAB, "bash", line], cwd=folder, check=True,
                         capture_output=True, text=True, env=environment, timeout=60)
    return run.stdout.split("\n")[:-1], run.stderr


# (line, words that are there, words that are not)
CASES = [
    ("morton ", {"run", "bench", "cache", "demo"}, {"complete", "first-result", "-v"}),
    ("morton tr", {"train"}, {"tune"}),
    ("morton -", {"--help", "--version", "--quiet"}, {"run"}),
    ("morton run --st", {"--start", "--steps", "--strict"}, {"--shape", "--in-background"}),
    ("morton run --batch 3 --ba", set(), {"--batch"}),
    ("morton run --strict --verb", {"--verbose"}, set()),
    ("morton cache ", {"list", "clear", "export", "import"}, {"run"}),
    ("morton cache clear ", {"programs", "self-test", "all"}, {"list"}),
    ("morton bench ge", {"gemm"}, {"gpt2"}),
    ("morton bench g", {"gemm", "gpt2"}, {"clblast"}),
    ("morton bench gemm --type ", {"f32", "u8", "s8"}, {"s16"}),
    ("morton bench gemm --peer openblas,cl", {"openblas,clblast"}, {"clblast"}),
    ("morton bench gemm --kernels gemm.na", {"gemm.naive"}, {"conv2d.naive"}),
    ("morton new ", {"lenet5", "vgg16", "vit_b_16"}, {"models/"}),
    ("morton new vgg16 -o m", set(), {"mobilenet_v2", "minilm"}),
    ("morton run le", {"lenet5"}, {"vgg16"}),
    ("morton run models/", {"models/lenet5.onnx"}, {"models/notes.txt"}),
    ("morton run m", {"models/", "mobilenet_v2", "minilm"}, {"notes.txt"}),
    ("morton run 'my ", set(), {"lenet5"}),
    ("morton run my\\ ", {"my model.onnx"}, {"lenet5"}),
    ("morton run x --precision ", {"f32", "f16", "bf16", "tf32"}, set()),
    ("morton run x --precision=b", {"bf16"}, {"f16"}),
    ("morton run x --format ", {"table", "md", "json", "jsonl", "csv"}, {"text"}),
    ("morton eval x --format ", {"table", "md", "json"}, {"csv"}),
    ("morton run x --preset ", {"imagenet", "inception", "caffe", "yolo"}, {"stretch"}),
    ("morton run x --start ", {"at-once", "ready"}, set()),
    ("morton run x --conv ", {"auto", "clblast", "naive"}, set()),
    ("morton run x --use ge", {"gemm="}, {"gemm.naive"}),
    ("morton run x --use gemm=gemm.na", {"gemm.naive"}, {"gemm=gemm.naive", "gemm.tile"}),
    ("morton run x --use gemm=gemm.naive,conv2d=conv2d.na", {"conv2d.naive"}, {"gemm.naive"}),
    ("morton run x --exclude gemm.naive,gemm.ti", {"gemm.naive,gemm.tile"}, {"gemm.tile"}),
    ("morton run x --set gemm.ti", {"gemm.tile:"}, {"gemm.tile"}),
    ("morton run x --cache-dir mod", {"models/"}, {"models/lenet5.onnx"}),
    ("morton run x --labels no", {"notes.txt"}, set()),
    ("morton run x --labels i", {"imagenet"}, {"notes.txt"}),
    ("morton run x -i input:models/l", {"models/lenet5.onnx"}, {"input:models/lenet5.onnx"}),
    ("morton run x --tuning n", {"none", "notes.txt"}, {"models/"}),
    ("morton kernel gemm.na", {"gemm.naive"}, {"conv2d.naive"}),
    ("morton inspect x --after fuse", {"fuse_epilogues"}, {"fold_pads"}),
    ("morton train lenet5 --optimizer ", {"sgd", "adam", "adamw", "rmsprop"}, set()),
    ("morton probe --what peaks,la", {"peaks,latency"}, {"peaks"}),
    ("morton run x -d c", {"cpu"}, {"gpu"}),
    ("morton run x -d gpu,c", {"gpu,cpu"}, {"cpu"}),
    ("morton run x -- --st", set(), {"--start"}),
    ("morton nothing --fo", set(), {"--format"}),
]


# (keys, what the line is behind Tab)
KEYS = [
    ("morton tra", "morton train "),
    ("morton run models/l", "morton run models/lenet5.onnx "),
    ("morton run my\\ ", "morton run my\\ model.onnx "),
    ("morton run x -i input:models/l", "-i input:models/lenet5.onnx "),
    ("morton run x --precision=b", "--precision=bf16 "),
    ("morton run x --use gemm=gemm.na", "--use gemm=gemm.naive "),
]


def check_cases(program, script, folder):
    problems = []
    for line, there, absent in CASES:
        found, _ = tab(program, script, line, folder)
        if not there <= set(found):
            problems.append(f"{line!r} lacks {sorted(there - set(found))}; it gives {found[:20]}")
        if absent & set(found):
            problems.append(f"{line!r} has {sorted(absent & set(found))} too")
    return problems


def check_spaces(program, script, folder):
    """A blank follows a word, not what goes on."""
    problems = []
    for line, goes_on in (("morton tra", False), ("morton run x --use gemm", True),
                          ("morton run model", True), ("morton run x --set gemm.tile_col", True)):
        found, asked = tab(program, script, line, folder)
        if ("nospace" in asked) != goes_on or len(found) != 1:
            problems.append(f"{line!r} gives {found}, {'' if goes_on else 'not '}to go on from: {asked!r}")
    return problems


def check_keys(program, script, folder):
    """A bash at a terminal, and keys that are pressed."""
    link = folder / "morton"
    link.symlink_to(program)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(folder), "PS1": "$ "}
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
    os.write(terminal, f"source {script}\n".encode())
    problems = []
    for line, expected in KEYS:
        # The line is finished, and thrown away.
        os.write(terminal, f"{line}\t".encode())
        shown = read_until(terminal, expected)
        if expected not in shown:
            problems.append(f"Tab behind {line!r} shows {shown!r}")
        os.write(terminal, b"\x15")
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(terminal)
    return problems


def read_until(terminal, expected):
    """What the terminal shows until `expected` is there, or for ten seconds."""
    shown, end = "", time.monotonic() + 10
    while expected not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def check_no_driver(program, folder):
    """Only a device's name is worth a look at the drivers."""
    environment = {**os.environ, "OCL_ICD_VENDORS": str(folder / "none"), "MORTON_DEVICE": "none"}
    problems = []
    for words in (["run", "x", "--precision", ""], ["run", "x", "-d", ""]):
        run = subprocess.run([program, "complete", *words], capture_output=True, text=True, env=environment)
        if run.returncode != 0 or run.stderr or not run.stdout:
            problems.append(f"{words} without a driver: {run}")
    return problems


def main():
    program, script = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
    if not shutil.which("bash"):
        print("there is no bash")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "models").mkdir()
        for file in ("models/lenet5.onnx", "models/notes.txt", "notes.txt", "my model.onnx"):
            (folder / file).touch()
        problems = check_cases(program, script, folder)
        problems += check_spaces(program, script, folder)
        problems += check_keys(program, script, folder)
        problems += check_no_driver(program, folder)
    print(*problems, sep="\n")
    print(f"{len(CASES) + len(KEYS)} lines, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
