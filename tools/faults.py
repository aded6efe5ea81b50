#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What fails while Morton works: calls of OpenCL, allocations, files, disks, clocks, processes. `./dev check --faults` runs
all parts, or those that are named, and goes on behind the parts that an earlier call has finished with the same build.

opencl       calls of each function fail with each error that they may give, in six scenarios (build/tests/fault_trials)
allocations  each allocation of a start and of a run fails
lost         devices that hang and that vanish beside a second one
checkpoint   a kill (SIGKILL) before each call that changes a file of a training's folder, and an error of each
cache        the same in a cache folder, for programs and plans
tuning       the same for a record of tuning and its journal
disk         full disks, read-only folders, a limit on files' sizes
clocks       clocks that jump
crowd        two processes in one training folder, and in one cache folder

After each fault the same is done again without: it must succeed with the same bits as if nothing had happened."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ERRORS = ("EIO", "ENOSPC", "EINTR", "EMFILE", "short")
TIMEOUT_S = 600  # a busy machine builds kernels for minutes
STATUSES = (0, 2, 3, 4)  # docs/command_line.md; 70 is a defect


class Wrong(Exception):
    """A trial that failed, and how."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def npy(kind, shape, content):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + content


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Subject:
    """Something that writes files in `folder`: how it begins, what it does, and what must hold afterwards."""

    def __init__(self, trials):
        self.trials, self.base = trials, trials.folder / f"{self.name}-base"
        self.prepare()

    def again(self, folder, before, fault):
        """Runs it once more without a fault and compares; `before` is what the run under the fault changed."""
        raise NotImplementedError


class Checkpoint(Subject):
    name = "checkpoint"

    def words(self, folder, steps):
        return ["train", "c18-mlp", "--data", self.trials.data, "--batch", "7", "--lr", "0.001", "--device", "cpu",
                "--seed", "3", "--cache-dir", self.trials.folder / "cache", "--resume", "--checkpoint-every", "2",
                "--steps", str(steps), "--format", "json", "--out", folder]

    def prepare(self):
        self.trials.must(self.words(self.base, 2))
        whole = self.trials.folder / "checkpoint-whole"
        self.trials.must(self.words(whole, 6))
        self.expected = self.content(whole)

    @staticmethod
    def content(folder):
        lines = [line.rsplit(",", 2)[0] for line in (folder / "log.csv").read_text().splitlines()]
        return digest(folder / "model.onnx"), lines

    def command(self, folder):
        return self.words(folder, 6)

    def again(self, folder, log, fault):
        # A checkpoint is done when it has its name: whatever follows, no later start may know less.
        done = sum(line == f"rename {folder}/checkpoint.safetensors" for line in log)
        report = json.loads(self.trials.must(self.words(folder, 6)).stdout)
        if report["resumed_from"] < 2 + 2 * done:
            raise Wrong(f"it resumed from step {report['resumed_from']}, though {2 + 2 * done} were saved")
        if self.content(folder) != self.expected:
            raise Wrong("the training that was resumed differs from one that never stopped")
        left = [file.name for file in folder.iterdir() if "unfinished" in file.name and "checkpoint" in file.name]
        if left:
            raise Wrong(f"left behind: {', '.join(left)}")


class Cache(Subject):
    name = "cache"

    def words(self, folder, answer):
        return ["run", ROOT / "models/lenet5.onnx", "-i", ROOT / "examples/data/digit_7.png", "--cache-dir", folder, "-o",
                answer, "--device", "cpu", "--format", "json"]

    def prepare(self):
        answer = self.trials.folder / "cache-answer.npy"
        self.trials.must(self.words(self.base, answer))
        self.expected = digest(answer)
        self.kernels = len(list((self.base / "programs").glob("*.bin")))
        # So much is left to store: two programs, the plan and what was tried.
        for file in sorted((self.base / "programs").glob("*.bin"))[:2] + list((self.base / "plans").glob("*")):
            file.unlink()

    def command(self, folder):
        return self.words(folder, folder.with_suffix(".npy"))

    def again(self, folder, log, fault):
        answer = folder.with_suffix(".npy")
        if fault.returncode == 0 and digest(answer) != self.expected:
            raise Wrong("a wrong answer under the fault")
        self.trials.must(self.words(folder, answer))
        if digest(answer) != self.expected:
            raise Wrong("a wrong answer after the fault")
        report = json.loads(self.trials.must(self.words(folder, answer)).stdout)
        if digest(answer) != self.expected or report["kernels"]["built"] != 0:
            raise Wrong(f"a later start built {report['kernels']['built']} kernels: an entry is lost")
        answer.unlink()


class Tuning(Subject):
    name = "tuning"

    def words(self, folder, kernel):
        return ["tune", "gemm", "--m", "17", "--n", "33", "--k", "9", "--kernel", kernel, "--effort", "fast", "--time-budget",
                "0.2s", "--cache-dir", folder, "--device", "cpu", "--format", "json"]

    def prepare(self):
        self.trials.must(self.words(self.base, "gemm.naive"))
        self.old = self.records(self.base)

    @staticmethod
    def records(folder):
        return {file.name: json.loads(file.read_text()) for file in (folder / "tuning").glob("*.json")}

    def command(self, folder):
        return self.words(folder, "gemm.tile")

    def again(self, folder, log, fault):
        records = self.records(folder)  # a torn file is no JSON
        if records.keys() != self.old.keys():
            raise Wrong(f"the old record is gone: {sorted(records)}")
        self.trials.must(self.command(folder))
        text = json.dumps(self.records(folder))
        if "gemm.naive" not in text or "gemm.tile" not in text:
            raise Wrong("a record of tuning is lost")
        if list((folder / "tuning/journal").iterdir()):
            raise Wrong("a journal of a job that is done stays")


class Trials:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.program = pathlib.Path(options.build).resolve() / "morton"
        self.layer = pathlib.Path(options.build).resolve() / "tests/libmorton_file_layer.so"
        self.count = 0
        self.data = folder / "data.npz"
        pictures = bytes(255 if i // 28 % 28 == i // 784 % 10 * 2 else i % 17 for i in range(63 * 784))
        with zipfile.ZipFile(self.data, "w") as archive:
            archive.writestr("x.npy", npy("|u1", (63, 28, 28), pictures))
            archive.writestr("y.npy", npy("<i8", (63,), b"".join((i % 10).to_bytes(8, "little") for i in range(63))))

    def run(self, words, **variables):
        """A finished process, in a session of its own, with the driver's cache that all trials share."""
        limit = variables.pop("limit", None)
        process = subprocess.Popen(
            [self.program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            start_new_session=True, preexec_fn=limit,
            env=dict(os.environ, POCL_CACHE_DIR=str(self.folder / "driver"), MORTON_BACKGROUND="off", **variables))
        try:
            process.stdout_text, process.stderr_text = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Wrong(f"it hangs: {' '.join(map(str, words))}") from None
        return subprocess.CompletedProcess(process.args, process.returncode, process.stdout_text, process.stderr_text)

    def must(self, words, **variables):
        done = self.run(words, **variables)
        if done.returncode != 0:
            raise Wrong(f"status {done.returncode} of {' '.join(map(str, words))}: {done.stderr[-600:]}")
        return done

    @staticmethod
    def judge(done, may_die=False, driver_may_end=False):
        """What a run under a fault may end in: success, or one clear error."""
        if may_die and done.returncode == -signal.SIGKILL:
            return
        # PoCL's LLVM ends the process where it cannot write a kernel.
        if driver_may_end and done.returncode == 1 and "LLVM ERROR: IO failure" in done.stderr:
            return
        if done.returncode not in STATUSES:
            raise Wrong(f"status {done.returncode}: {done.stderr[-600:]}")
        errors = [line for line in done.stderr.splitlines() if line.startswith("morton: ")]
        if done.returncode != 0 and len(errors) != 1:
            raise Wrong(f"{len(errors)} errors of status {done.returncode}: {done.stderr[-600:]}")

    def under_fault(self, subject, folder, fault):
        """The run under a fault, and its calls, the one that was to fail among them."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(subject.base, folder)
        count, log = folder.with_suffix(".count"), folder.with_suffix(".log")
        count.write_bytes(bytes(8))
        log.write_text("")
        done = self.run(subject.command(folder), LD_PRELOAD=str(self.layer), MORTON_FILE_LAYER_FOLDER=str(folder),
                        MORTON_FILE_LAYER_COUNT=str(count), MORTON_FILE_LAYER_LOG=str(log), MORTON_FILE_LAYER_FAULT=fault)
        return done, log.read_text().splitlines()

    def files(self, kind):
        subject = kind(self)
        done, calls = self.under_fault(subject, self.folder / f"{subject.name}-none", "0:none")
        if done.returncode != 0 or len(calls) < 5:
            raise Wrong(f"without a fault: status {done.returncode}, {len(calls)} calls: {done.stderr[-600:]}")
        ways = ["kill", "kill-all"] if self.options.kills else ["kill", "kill-all", *ERRORS]
        wrong, tried = [], {}
        faults = [(number, way) for way in ways for number in range(1, len(calls) + 1)
                  if way != "short" or calls[number - 1].startswith("write")]

        def one(fault):
            number, way = fault
            folder = self.folder / f"{subject.name}-{number}-{way}"
            try:
                done, log = self.under_fault(subject, folder, f"{number}:{way}")
                self.judge(done, may_die=way.startswith("kill"))
                # The call that was to fail did nothing.
                subject.again(folder, log[:number - 1] + log[number:], done)
                return None
            except (Wrong, ValueError, KeyError, OSError) as why:
                return f"{subject.name}, {way} at call {number} of {len(calls)} ({calls[number - 1]}): {why}"
            finally:
                shutil.rmtree(folder, ignore_errors=True)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for (_, way), problem in zip(faults, pool.map(one, faults)):
                tried[way] = tried.get(way, 0) + 1
                if problem:
                    wrong.append(problem)
                    say(f"WRONG {problem}")
        counts = ", ".join(f"{number} {way}" for way, number in tried.items())
        return f"{len(calls)} calls; {counts}; {len(wrong)} wrong", not wrong

    def opencl(self):
        return self.fault_trials(["--some", "1", "--allocations", "0"], ["load", "compile", "run", "train", "save", "serve"])

    def allocations(self):
        return self.fault_trials(["--no-calls"], ["load", "run"])

    def lost(self):
        return self.fault_trials([], ["lost"])

    def fault_trials(self, words, scenarios):
        done = subprocess.run(
            [self.program.parent / "tests/fault_trials", *words, "--seed", str(self.options.seed), self.folder, *scenarios],
            stdout=subprocess.PIPE, text=True, check=False,
            env=dict(os.environ, POCL_CACHE_DIR=str(self.folder / "driver"), MORTON_BACKGROUND="off"))
        say(done.stdout.rstrip())
        lines = [" ".join(line.split()) for line in done.stdout.splitlines() if not line.startswith(("WRONG", "seed"))]
        return "; ".join(lines), done.returncode == 0

    def checkpoint(self):
        return self.files(Checkpoint)

    def cache(self):
        return self.files(Cache)

    def tuning(self):
        return self.files(Tuning)

    def disk(self):
        """Each subject on disks that are full sooner or later, in a folder that may not be written, and below a limit."""
        tried = 0
        for kind in (Checkpoint, Cache, Tuning):
            subject = kind(self)
            folder = self.folder / f"{subject.name}-disk"
            for kibibytes in (64, 256, 700, 1200, 1600, 2000):
                tried += self.on_disk(subject, folder, f"size={kibibytes}k")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(subject.base, folder)
            subprocess.run(["mount", "--bind", folder, folder], check=True)
            subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
            try:
                self.judge(self.run(subject.command(folder)))
            finally:
                subprocess.run(["umount", folder], check=True)
            subject.again(folder, [], subprocess.CompletedProcess([], 1))
            for kibibytes in (16, 100, 400):
                shutil.rmtree(folder)
                shutil.copytree(subject.base, folder)
                limit = (kibibytes * 1024, kibibytes * 1024)
                done = self.run(subject.command(folder), limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
                self.judge(done, driver_may_end=True)
                subject.again(folder, [], done)
                tried += 1
            tried += 1
        return f"{tried} disks that are full, read-only or limited", True

    def on_disk(self, subject, folder, size):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", folder], check=True)
        try:
            try:
                shutil.copytree(subject.base, folder, dirs_exist_ok=True)
            except (shutil.Error, OSError):
                return 0  # not even the beginning fits
            done = self.run(subject.command(folder))
            self.judge(done)
            subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
            subject.again(folder, [], done)
            return 1
        finally:
            subprocess.run(["umount", folder], check=True)

    def clocks(self):
        tried = 0
        for kind in (Checkpoint, Cache, Tuning):
            subject = kind(self)
            for clock in ("wall", "steady"):
                folder = self.folder / f"{subject.name}-{clock}"
                shutil.copytree(subject.base, folder)
                done = self.run(subject.command(folder), LD_PRELOAD=str(self.layer), MORTON_FILE_LAYER_CLOCK=clock)
                self.judge(done)
                # A steady clock never leaps; where one does, waits may end too early, with an error that says so.
                if done.returncode != 0 and clock == "wall":
                    raise Wrong(f"{subject.name}, {clock} clock: {done.stderr[-600:]}")
                subject.again(folder, [], done)
                tried += 1
        return f"{tried} runs with a wall clock that jumps years, or a steady one that leaps hours", True

    def crowd(self):
        """Two at the same moment; the second training is refused, and two starts share a cache."""
        for subject, most_refused in ((Checkpoint(self), 1), (Cache(self), 0)):
            for turn in range(10):
                folder = self.folder / f"{subject.name}-crowd{turn}"
                shutil.copytree(subject.base, folder)
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    ends = list(pool.map(lambda _: self.run(subject.command(folder)), range(2)))
                for end in ends:
                    self.judge(end)
                refused = [end for end in ends if end.returncode != 0]
                if len(refused) > most_refused or any("another training writes" not in end.stderr for end in refused):
                    raise Wrong(f"{subject.name}: {[(end.returncode, end.stderr[-300:]) for end in ends]}")
                subject.again(folder, [], ends[0])
        return "10 pairs in a training folder, 10 in a cache folder", True


PARTS = ("opencl", "allocations", "lost", "checkpoint", "cache", "tuning", "disk", "clocks", "crowd")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--build", default="build", help="a folder of CMake (build)")
    parser.add_argument("--seed", type=int, default=1, help="of random calls (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="trials with files at a time (one a processor)")
    parser.add_argument("--kills", action="store_true", help="of trials with files only the kills")
    parser.add_argument("--anew", action="store_true", help="do again what an earlier call has finished")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is named {unknown[0]}; there are {', '.join(PARTS)}")
    os.chdir(ROOT)
    library = sorted(pathlib.Path(options.build, "lib").glob("libmorton.so.*.*"))[0]
    state, key = pathlib.Path(options.build, "faults.json"), digest(library)
    finished = json.loads(state.read_text()) if state.exists() and not options.anew else {}
    if finished.get("build") != key:
        finished = {"build": key, "parts": {}}
    failed = []
    for part in options.parts or PARTS:
        if part in finished["parts"]:
            say(f"{part}: finished before: {finished['parts'][part]}")
            continue
        if part == "disk" and os.geteuid() != 0:
            say("disk: skipped: it mounts disks, which takes root")
            continue
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="morton_faults_") as folder:
            try:
                text, good = getattr(Trials(pathlib.Path(folder), options), part)()
            except Wrong as why:
                text, good = str(why), False
        say(f"{part}: {text} ({time.monotonic() - begin:.0f} s){'' if good else ': WRONG'}")
        if not good:
            failed.append(part)
            continue
        finished["parts"][part] = text
        state.write_text(json.dumps(finished, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
