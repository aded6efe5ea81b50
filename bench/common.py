# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: where they are, what they say, and what their records begin with."""

import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the system itself does at rest stays below.
BUSY_LOAD = 0.5


class Missing(Exception):
    """What cannot be measured here, and why."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A target as ./dev bench all sums it up."""
    target: str
    wanted: str
    measured: str
    verdict: str


def print_lines(lines):
    """The table of targets."""
    print("| target | wanted | measured | verdict |\n|---|---|---|---|")
    for line in lines:
        print(f"| {line.target} | {line.wanted} | {line.measured} | {line.verdict} |")


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(bench, text):
    say(f"bench {bench}: {text}")
    sys.exit(2)


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def processor_fact(key):
    """The first value of that name in /proc/cpuinfo, or nothing."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(rf"^{key}\s*:\s*(.*)", text, re.M)
    return match[1] if match else ""


def processor():
    return processor_fact("model name")


def load_average():
    """Programs that ran at once in the last minute, on average; None where the system does not say."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def checked_load():
    """The load before; a busy machine is warned of."""
    load = load_average()
    if load is not None and load > BUSY_LOAD:
        say(f"warning: other programs are running here (load {load:.1f}): peers that share the processor suffer most, "
            "and no figure is worth much")
    return load


def device_facts(options, bench):
    """The device that the options choose, as `morton devices` describes it."""
    words = [options.program, "devices", "--format", "json"]
    devices = json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    if not devices:
        fail(bench, "no OpenCL device is found; `morton doctor` says why")
    wanted = "" if options.device == "auto" else options.device
    chosen = [one for one in devices if wanted in (one["id"], one["kind"]) or
              (wanted and wanted.lower() in one["name"].lower())]
    if wanted and not chosen:
        fail(bench, f"--device {wanted}: `morton devices` lists none such")
    return (chosen or sorted(devices, key=lambda one: one["kind"] != "gpu"))[0]


def title_of(device):
    return f"{device['name']} ({device['platform']}, driver {device['driver_version']}), {processor()}"


def record_head(device, schema, load):
    """What every record begins with."""
    return {"schema": schema, "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": git("rev-parse", "HEAD"), "changed_files": len(git("status", "--porcelain").splitlines()),
            "device": {key: device[key]
                       for key in ("name", "platform", "driver_version", "compute_units", "clock_mhz")},
            "processor": processor(), "load_before": load}


def append_record(record, folder):
    """To the file of this day and device in the folder, which holds a list."""
    name = re.sub(r"[^a-z0-9]+", "-", record["device"]["name"].lower()).strip("-")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['time'][:10]}-{name}.json"
    records = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    records.append(record)
    path.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    say(f"recorded in {path}")
