#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words one by one, beside ONNX Runtime: GPT-2 small with keys and values of what is past, 100 words from an empty past.

Morton keeps them as states that feed back (docs/networks.md). ONNX Runtime gets those that it gave out, without a copy
by the caller. Both take turns of 100 words and give all scores to the host; the table has the medians of a word. The
target is a ratio of at least 0.9."""

import argparse
import json
import pathlib

from common import checked_load
from contenders import Answering, Morton, make_files, measure

WORDS = 100
ROOM = 128
WANTED = 0.9


class Generating(Morton):
    """Each turn has as many words."""

    def turn(self):
        self.runs = WORDS
        return super().turn()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/morton")
    parser.add_argument("--peer-python", required=True, help="interpreter with onnxruntime and numpy")
    parser.add_argument("--device", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", default="build/bench/networks", help="folder of the model")
    parser.add_argument("--output", type=pathlib.Path, help="write the record to this file")
    options = parser.parse_args()
    model = str(make_files(["gpt2"], options)["gpt2"])
    device = ["--device", options.device] if options.device else []
    ours = [options.program, "bench", model, "--shape", f"past_*:1x12x{ROOM}x64", "--feed", "present_*:past_*",
            "--feed", "next:input_ids", *device]
    theirs = [options.peer_python, "bench/generation_peer.py", model, "--threads", str(options.threads)]
    load = checked_load()
    measured, absent = measure({
        "morton": ("Morton", lambda: Generating(ours, "Morton")),
        "onnxruntime": ("ONNX Runtime", lambda: Answering(theirs, least=WORDS, most=WORDS)),
    }, options.rounds)
    own, other = (measured.get(who, {}).get("ms") for who in ("morton", "onnxruntime"))
    ratio = other / own if own and other else 0.0
    print("| model | Morton ms | ONNX Runtime ms | ratio | wanted |\n|---|---|---|---|---|")
    print(f"| gpt2 | {own or 0:.2f} | {other or 0:.2f} | {ratio:.2f} | >= {WANTED} |")
    if options.output:
        options.output.write_text(json.dumps({"load": load, "words": WORDS, "measured": measured}, indent=1))
    return 1 if absent or ratio < WANTED else 0


if __name__ == "__main__":
    raise SystemExit(main())
