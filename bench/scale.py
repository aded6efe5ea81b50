#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""morton serve beside the same model in one process, a training by ranks beside one process, and both beside what
scale_model.py says of them: prints a table with the command for each number, and appends a record to bench/history/scale.

Clients run on the same processors (bench/serve_load.cpp), so their time is part of what is measured. Rounds alternate
between the server and `morton bench`; each number is the median of the rounds' own. A missed target is no failure."""

import argparse
import array
import json
import math
import os
import pathlib
import random
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import common

sys.path.insert(0, str(common.ROOT / "tools"))
from interpreter import interpreter_with  # noqa: E402
from scale_model import Model, training_step  # noqa: E402

ROOT = common.ROOT
LOAD = ROOT / "build" / "bench" / "serve_load"
CLIENTS = (1, 2, 4, 8, 16, 32, 64)
BATCHES = (1, 2, 4, 8)
SHORT_ROUNDS = 2
PEER_PACKAGES = ["fastapi", "uvicorn[standard]", "onnxruntime==1.32.0", "numpy"]
SHAPES = {"lenet5": (1, 1, 32, 32), "mobilenet_v2": (1, 3, 224, 224)}
# What the commands need to know of a network's open extents.
WORDS = {"lenet5": [], "mobilenet_v2": ["--shape", "input:1x3x224x224"]}


def body_of(shape):
    """A request for one item, and how many of its bytes are JSON."""
    generator = random.Random(1)
    values = array.array("f", (generator.random() for _ in range(math.prod(shape)))).tobytes()
    text = json.dumps({"inputs": [{"name": "input", "shape": list(shape), "datatype": "FP32",
                                   "parameters": {"binary_data_size": len(values)}}],
                       "parameters": {"binary_data_output": True}}).encode()
    text += b" " * (-len(text) % 64)
    return text + values, len(text)


class Server:
    """A server of one model on a unix socket, with the commands that a reader needs to do the same."""

    def __init__(self, model, socket, words):
        self.name, self.socket, self.words = model, socket, words
        self.log = open(f"{socket}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(self.words, cwd=ROOT, stderr=self.log)
        self.body = f"{socket}.body"
        content, self.json_bytes = body_of(SHAPES[self.name])
        pathlib.Path(self.body).write_bytes(content)
        end = time.monotonic() + 600
        while self.load(1, 0.2, check=False) is None:
            if time.monotonic() > end or self.process.poll() is not None:
                common.fail("scale", f"the server does not answer: {pathlib.Path(self.log.name).read_text()[-500:]}")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ticks(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load(self, clients, seconds, check=True):
        """What serve_load says, with the server's processor time for a request."""
        before = self.ticks()
        words = [str(LOAD), self.socket, str(clients), str(seconds), f"/v2/models/{self.name}/infer", self.body,
                 str(self.json_bytes)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            if check:
                common.fail("scale", f"{shlex.join(words)}: {done.stderr.strip()}")
            return None
        found = json.loads(done.stdout)
        if found["refused"] or found["wrong"]:
            if check:
                common.fail("scale", f"{found['refused']} requests were refused, {found['wrong']} answers differ from the first")
            return None
        found["cpu_us"] = 1e6 * (self.ticks() - before) / found["requests"]
        return found


def in_process(options, path, words, runs):
    """`morton bench`: items a second, and the median run in microseconds."""
    command = [options.program, "bench", path, "-n", str(runs), "--format", "json", *words]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    return {"items_per_second": found["items_per_second"], "p50_us": 1e3 * found["clocks"]["host"]["p50_ms"]}


def mobilenet(options, folder):
    """The path of MobileNetV2, which it writes into the folder."""
    path = f"{folder}/mobilenet_v2.onnx"
    subprocess.run([options.program, "new", "mobilenet_v2", "-o", path], cwd=ROOT, check=True, capture_output=True)
    return path


def ours(options, model, path, folder, *words):
    """A morton serve."""
    socket = f"{folder}/{model}"
    return Server(model, socket, [options.program, "serve", f"{model}={path}", "--no-tcp", "--unix-socket", socket, *words])


def peer(python, model, path, folder):
    """serve_peer.py of the same model, by the interpreter that has its packages."""
    socket = f"{folder}/peer-{model}"
    return Server(model, socket, [python, "-B", "bench/serve_peer.py", path, model, socket, str(os.cpu_count())])


def median(rounds, key):
    return statistics.median(one[key] for one in rounds)


def line(target, wanted, value, met, text):
    return {"target": target, "wanted": wanted, "value": value, "met": met, "measured": text}


def alternate(options, server, clients, alone):
    """Rounds of the server under so many clients and of in_process(*alone); the server ends."""
    found = {"served": [], "alone": [], "command": shlex.join(server.words)}
    try:
        for _ in range(options.rounds):
            found["served"].append(server.load(clients, options.seconds))
            found["alone"].append(in_process(options, *alone))
    finally:
        server.stop()
    return found


def cpu_of_a_run():
    """Microseconds of processor time of an inference of LeNet in one process, as build/bench/load makes very many."""
    def seconds(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(ROOT / "build/bench/load"), "inferences", str(runs)], cwd=ROOT, check=True, capture_output=True,
                       env={**os.environ, "POCL_AFFINITY": "1"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    few, many = 2000, 22000
    return 1e6 * (seconds(many) - seconds(few)) / (many - few)


def measure_small(options, folder):
    """LeNet: what a request adds to an inference."""
    model = "models/lenet5.onnx"
    part = alternate(options, ours(options, "lenet5", model, folder, "--max-batch", "1"), 1, (model, [], 20000))
    served, alone = part["served"], part["alone"]
    p50 = median(served, "p50_us") - median(alone, "p50_us")
    p99 = median(served, "p99_us") - median(alone, "p50_us")
    part["run_cpu_us"] = [cpu_of_a_run() for _ in range(options.rounds)]
    cpu = median(served, "cpu_us") - statistics.median(part["run_cpu_us"])
    return [line("LeNet, one client, unix socket: added latency, median", "<= 150 us", p50, p50 <= 150, f"{p50:.0f} us"),
            line("the same, 99 of 100", "<= 1 ms", p99, p99 <= 1000, f"{p99 / 1000:.2f} ms"),
            line("the same: processor time of a request beside the inference", "<= 60 us", cpu, cpu <= 60, f"{cpu:.0f} us")], part


def measure_large(options, folder):
    """MobileNetV2, 8 clients: throughput."""
    path, words = mobilenet(options, folder), WORDS["mobilenet_v2"]
    part = alternate(options, ours(options, "mobilenet_v2", path, folder, *words), 8, (path, words, 60))
    served, alone = part["served"], part["alone"]
    rates = [one["requests"] / one["seconds"] for one in served]
    ratio = statistics.median(rates) / median(alone, "items_per_second")
    text = f"{ratio:.2f} ({statistics.median(rates):.1f} of {median(alone, 'items_per_second'):.1f} items a second)"
    return [line("MobileNetV2, 8 clients, binary: throughput beside one process", ">= 0.9", ratio, ratio >= 0.9, text)], part


def within(what, rows, unit):
    """The line of a table, from (name, measured, predicted): the prediction furthest off, as a share of the measurement."""
    share = max(abs(predicted / measured - 1) for _, measured, predicted in rows)
    text = ", ".join(f"{name}: {predicted:.0f} for {measured:.0f}" for name, measured, predicted in rows)
    return line(f"scale_model.py: {what}", "within 15 %", share, share <= 0.15, f"{100 * share:.0f} % ({unit}: {text})")


def busy_seconds(times, host, rate):
    """Processor time of a request among very many, which gives so many requests a second in the model."""
    low, high = 0.0, max(host, 1e-3)
    for _ in range(24):
        middle = (low + high) / 2
        found, _, _ = Model(times, host, CLIENTS[-1], middle, os.cpu_count()).run(200 * times[max(times)])
        low, high = (middle, high) if found > rate else (low, middle)
    return low


def measure_clients(options, folder):
    """Both networks under 1 to 64 clients, beside what the model says from times of batches, of one client and of 64."""
    lines, part = [], {"command": "build/morton serve, build/morton bench, bench/scale_model.py"}
    for name, path, runs in (("lenet5", "models/lenet5.onnx", 1000), ("mobilenet_v2", mobilenet(options, folder), 10)):
        server = ours(options, name, path, folder, *WORDS[name])
        alone, served = {size: [] for size in BATCHES}, {clients: [] for clients in CLIENTS}
        try:
            # Many short rounds: a machine whose speed changes does so for all numbers alike.
            for _ in range(SHORT_ROUNDS * options.rounds):
                for size in BATCHES:
                    shape = "x".join(map(str, (size, *SHAPES[name][1:])))
                    alone[size].append(in_process(options, path, ["--shape", f"input:{shape}"], runs)["p50_us"])
                for clients in CLIENTS:
                    found = server.load(clients, options.seconds / SHORT_ROUNDS)
                    served[clients].append({**found, "rate": found["requests"] / found["seconds"]})
        finally:
            server.stop()
        times = {size: statistics.median(values) / 1e6 for size, values in alone.items()}
        rates = {clients: median(values, "rate") for clients, values in served.items()}
        host = max(0.0, 1 / rates[1] - times[1])
        busy = busy_seconds(times, host, rates[CLIENTS[-1]])
        rows = [(f"{clients}", rates[clients],
                 Model(times, host, clients, busy, os.cpu_count()).run(1000 * times[max(times)])[0]) for clients in CLIENTS[1:-1]]
        part[name] = {"batch_us": alone, "served": served, "host_us": 1e6 * host, "busy_us": 1e6 * busy, "rows": rows}
        lines.append(within(f"{name}, 2 to 32 clients", rows, "requests a second"))
    return lines, part


def mpirun(command, **environment):
    """What a command prints that mpirun may begin."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **root, **environment})
    if done.returncode != 0:
        common.fail("scale", f"{shlex.join(command)}: {done.stderr.strip()}")
    return done.stdout


def measure_ranks(options, folder):
    """C18's CNN: ranks of one processor beside one process of two, and beside the model."""
    rows, parameters = 100, 3274634
    words = [options.program, "train", "c18-cnn", "--data", "data/mnist", "-d", "cpu", "--steps", str(options.steps),
             "--format", "json", "--restart", "--out", f"{folder}/trained"]
    one = {"POCL_MAX_PTHREAD_COUNT": "1"}

    def ranks(count):
        return ["mpirun", "-n", str(count), "--oversubscribe", "--bind-to", "none"]

    def rate(start, batch, **environment):
        return json.loads(mpirun([*start, *words, "--batch", str(batch)], **environment))["images_per_second"]

    part = {"command": shlex.join(["POCL_MAX_PTHREAD_COUNT=1", *ranks(2), *words, "--batch", str(rows)]), "alone": [],
            "ranks": {2: [], 4: []}, "one_processor": {50: [], 25: []}, "exchange_seconds": {2: [], 4: []}}
    for _ in range(options.rounds):
        part["alone"].append(rate([], rows, POCL_MAX_PTHREAD_COUNT="2"))
        for count, rates in part["ranks"].items():
            rates.append(rate(ranks(count), rows, **one))
            part["exchange_seconds"][count].append(float(mpirun([*ranks(count), str(ROOT / "build/bench/exchange"), str(parameters)])))
        for batch, rates in part["one_processor"].items():
            rates.append(rate([], batch, **one))
    several, alone = statistics.median(part["ranks"][2]), statistics.median(part["alone"])
    known = {batch: batch / statistics.median(rates) for batch, rates in part["one_processor"].items()}
    predicted = [(f"{count}", statistics.median(rates),
                  rows / training_step(known, rows, count, statistics.median(part["exchange_seconds"][count]), os.cpu_count()))
                 for count, rates in part["ranks"].items()]
    part["rows"] = predicted
    text = f"{several / alone:.2f} ({several:.0f} of {alone:.0f} pictures a second)"
    return [line("C18's CNN, 2 ranks of one processor beside one process of two", ">= 0.9", several / alone,
                 several / alone >= 0.9, text), within("C18's CNN, 2 and 4 ranks", predicted, "pictures a second")], part


def measure_peer(options, folder):
    """Both networks, 8 clients: throughput beside FastAPI with ONNX Runtime."""
    python, lines, part = interpreter_with(PEER_PACKAGES, ROOT / "build/scale"), [], {"command": "build/morton serve, bench/serve_peer.py"}
    networks = {"lenet5": str(ROOT / "models/lenet5.onnx"), "mobilenet_v2": mobilenet(options, folder)}
    for name, path in networks.items():
        servers = {"ours": ours(options, name, path, folder, *WORDS[name]), "peer": peer(python, name, path, folder)}
        rounds = {who: [] for who in servers}
        try:
            for _ in range(options.rounds):
                for who, server in servers.items():
                    rounds[who].append(server.load(8, options.seconds))
        finally:
            for server in servers.values():
                server.stop()
        own, other = (statistics.median(one["requests"] / one["seconds"] for one in rounds[who]) for who in servers)
        part[name] = rounds
        lines.append(line(f"{name}, 8 clients: throughput beside FastAPI with ONNX Runtime", ">= 2", own / other, own / other >= 2,
                          f"{own / other:.2f} ({own:.0f} of {other:.0f} requests a second)"))
    return lines, part


PARTS = {"lenet5": measure_small, "mobilenet_v2": measure_large, "peer": measure_peer, "clients": measure_clients,
         "ranks": measure_ranks}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/morton")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="of load, in each round")
    parser.add_argument("--steps", type=int, default=60, help="of a training, in each round")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--history", default="bench/history/scale")
    options = parser.parse_args()
    if not LOAD.exists():
        common.fail("scale", "build/bench/serve_load is not built; ./dev bench scale builds it")
    load = common.checked_load()
    device = common.device_facts(options, "scale")
    record = common.record_head(device, 1, load)
    print(f"# Serving and ranks: {common.title_of(device)}\n")
    lines, record["parts"] = [], {}
    for name, part in PARTS.items():
        if options.only not in (None, name):
            continue
        common.say(f"bench scale: {name}")
        with tempfile.TemporaryDirectory() as folder:
            found, record["parts"][name] = part(options, folder)
            record["parts"][name]["command"] = record["parts"][name]["command"].replace(folder, "FOLDER")
        lines += found
    record["targets"] = lines
    common.print_lines([common.Line(one["target"], one["wanted"], one["measured"], "met" if one["met"] else "missed")
                        for one in lines])
    print("\nAgain: ./dev bench scale")
    common.append_record(record, ROOT / options.history)


if __name__ == "__main__":
    main()
