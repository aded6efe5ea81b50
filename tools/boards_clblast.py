#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts CLBlast's product of 512x512 matrices beside Morton's, by what the compilers of boards say.

Usage: tools/boards_clblast.py ROOT [BOARD ...]

ROOT is the root of tools/board_compilers.sh; build/morton must be built with CLBlast. CLBlast runs until the shim ends
it, which is after all of its kernels are built. Its parameters are those that it takes itself on the board, and those
that its database has for GPUs of the same vendor. A cell is the static efficiency of the best of the kernels built, its
spills, and Morton's best gemm.patch_panels by src/kernels/boards.
"""
import json
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
WORK = REPOSITORY / "build" / "boards-clblast"
NAMES = ["KWG", "KWI", "MDIMA", "MDIMC", "MWG", "NDIMB", "NDIMC", "NWG", "SA", "SB", "STRM", "STRN", "VWM", "VWN"]
# Of CLBlast 1.6's own database, src/database/kernels/xgemm/xgemm_32.hpp. GEMMK and KREG are its kernel 0.
DATABASE = {
    "mali": {"Mali-T628": [32, 2, 8, 8, 32, 8, 8, 64, 1, 1, 0, 0, 4, 4],
             "Mali-T760": [32, 2, 16, 16, 64, 8, 8, 32, 1, 1, 0, 0, 4, 2]},
    "adreno": {"Adreno": [32, 2, 8, 8, 32, 8, 8, 32, 1, 1, 0, 0, 4, 1]},
}


def parameters_file(name, values):
    """The file of CLBlast's parameters for MORTON_CLBLAST_PARAMETERS."""
    path = WORK / f"{name}.json"
    kernel = {"GEMMK": 0, "KREG": 1, **dict(zip(NAMES, values))}
    path.write_text(json.dumps({"kernels": {"Xgemm": kernel}}))
    return path


def kernels_of(root, board, parameters):
    """The statistics of CLBlast's kernels that have multiply-adds in a loop."""
    command = ["env", *([f"MORTON_CLBLAST_PARAMETERS={parameters}"] if parameters else []),
               "tools/board_compilers.sh", root, board, "build/morton", "bench", "gemm", "--m", "512", "--n", "512",
               "--k", "512", "--use", "gemm=gemm.clblast", "-d", "0:0"]
    said = WORK / "said.txt"
    with open(said, "w", encoding="utf-8") as file:
        subprocess.run(["timeout", "300", *command], cwd=REPOSITORY, stdout=file, stderr=subprocess.STDOUT, check=False)
    read = subprocess.run(["build/morton", "kernel", "--read", said, "--format", "json"], cwd=REPOSITORY,
                          capture_output=True, text=True)
    if read.returncode != 0:
        print(f"{board}: {read.stderr.strip()}", file=sys.stderr)
        return []
    return [one for one in json.loads(read.stdout) if one["hot_loop"] and one["hot_loop"]["multiply_adds"] > 0]


def cell_of(kernels):
    """The best kernel."""
    if not kernels:
        return "-", 0.0
    best = max(kernels, key=lambda one: one["hot_loop"]["efficiency"])
    efficiency = best["hot_loop"]["efficiency"]
    return f"{efficiency:.2f} ({best['spills']} spills)", efficiency


def own(board):
    """Morton's best efficiency, of what the library ships."""
    costs = json.loads((REPOSITORY / "src" / "kernels" / "boards" / f"{board}.json").read_text())["static"]
    return max(cost["efficiency"] for cost in costs if cost["kernel"] == "gemm.patch_panels")


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    root, boards = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    WORK.mkdir(parents=True, exist_ok=True)
    print("| board | CLBlast as it is | with its parameters for | Morton | ratio |\n|---|---|---|---|---|")
    for board in boards or sorted(path.stem for path in (REPOSITORY / "src/kernels/boards").glob("*.json")):
        text, best = cell_of(kernels_of(root, board, None))
        others = []
        for name, values in DATABASE["adreno" if board.startswith("a") else "mali"].items():
            with_them, efficiency = cell_of(kernels_of(root, board, parameters_file(name, values)))
            others.append(f"{name}: {with_them}")
            best = max(best, efficiency)
        ratio = f"{own(board) / best:.2f}" if best else "-"
        print(f"| {board} | {text} | {'; '.join(others)} | {own(board):.2f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
