#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When somebody speaks: a network hears a sound in windows of 32 ms, and its memory stays on the device between them.

    python3 examples/python_speech/main.py [SOUND.wav] [--model silero_vad.onnx | --loudness] [--device D]

The network is Silero VAD, of the package silero-vad (pip install --no-deps silero-vad). Without a file the program makes
a sound: a second of silence, two of a voice, one of noise. --loudness takes a tiny network in place of Silero's, which the
package onnx writes."""

import argparse
import importlib.util
import pathlib
import sys
import time
import wave

import morton
import numpy as np

RATE = 16000
WINDOW = 512  # samples that are new
BEFORE = 64   # samples of the window before, which the network sees again


def arguments():
    parser = argparse.ArgumentParser(description="Says when somebody speaks.")
    parser.add_argument("sound", nargs="?", help="a WAV file of 16 bits, and of 16000 samples a second or a multiple")
    parser.add_argument("--model", help="silero_vad.onnx; else that of the package silero-vad")
    parser.add_argument("--loudness", action="store_true", help="a tiny network that finds what is loud")
    parser.add_argument("--device", default="auto", help="as morton.Device takes it: auto, gpu, cpu, part of a name")
    return parser.parse_args()


def packaged_model():
    """The file in the package silero-vad, or None. The package is not imported: that would want PyTorch."""
    package = importlib.util.find_spec("silero_vad")
    return package and pathlib.Path(package.submodule_search_locations[0]) / "data" / "silero_vad.onnx"


def loudness_model():
    """The ports of Silero's network: of a window how likely it is loud, and a state, the power of late."""
    if importlib.util.find_spec("onnx") is None:
        sys.exit("error: --loudness needs the package onnx: pip install onnx")
    from onnx import TensorProto, helper, numpy_helper
    numbers = {"old": 0.8, "new": 0.2, "half": 0.002}
    nodes = [helper.make_node("Mul", ["input", "input"], ["squares"]),
             helper.make_node("ReduceMean", ["squares"], ["power"], axes=[1], keepdims=1),
             helper.make_node("Mul", ["power", "new"], ["now"]), helper.make_node("Mul", ["state", "old"], ["then"]),
             helper.make_node("Add", ["now", "then"], ["stateN"]), helper.make_node("Add", ["stateN", "half"], ["sum"]),
             helper.make_node("Div", ["stateN", "sum"], ["output"])]
    ports = {"input": [1, BEFORE + WINDOW], "state": [1, 1], "output": [1, 1], "stateN": [1, 1]}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports.items()]
    constants = [numpy_helper.from_array(np.float32([[value]]), name) for name, value in numbers.items()]
    graph = helper.make_graph(nodes, "loudness", infos[:2], infos[2:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return morton.Model.from_bytes(model.SerializeToString())


def made_sound():
    """Silence, a voice that sings vowels, noise. The voice: harmonics of a pitch, strong near a vowel's formants."""
    random = np.random.default_rng(1)
    seconds = np.arange(2 * RATE) / RATE
    pitch = 110 + 15 * np.sin(4.4 * seconds) + 8 * np.sin(14.5 * seconds)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    syllable = seconds / 0.22
    vowels = [(700, 1200, 2600), (300, 2300, 3000), (400, 800, 2500), (500, 1800, 2500), (350, 700, 2400)]
    formants = [np.interp(syllable % 5, range(6), row + row[:1]) for row in zip(*vowels)]
    voice = sum(np.sin(n * phase) / (1 + ((n * pitch - formant) / 90) ** 2) / (1 + k)
                for n in range(1, 31) for k, formant in enumerate(formants))
    voice *= np.abs(np.sin(np.pi * syllable)) ** 0.5 * 0.3 / np.abs(voice).max()
    return np.concatenate([0.0005 * random.normal(size=RATE), voice, 0.02 * random.normal(size=RATE)]).astype(np.float32)


def read_sound(path):
    """A WAV file's samples at RATE, -1 to 1; channels are averaged, and so are samples that are too many."""
    try:
        file = wave.open(path)
    except (wave.Error, EOFError) as error:
        sys.exit(f"error: {path}: no WAV file of whole samples: {error}")
    with file:
        rate, channels, bytes_each = file.getframerate(), file.getnchannels(), file.getsampwidth()
        if bytes_each != 2 or rate % RATE:
            sys.exit(f"error: {path}: {8 * bytes_each} bits, {rate} Hz; expected 16 bits and a multiple of {RATE} Hz")
        levels = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    each = channels * (rate // RATE)
    return (levels[:len(levels) // each * each].reshape(-1, each).mean(1) / 32768).astype(np.float32)


def windows_of(sound):
    """What the network sees, [1, BEFORE + WINDOW] each; silence fills up the last."""
    count = -(-len(sound) // WINDOW)
    padded = np.zeros(BEFORE + count * WINDOW, np.float32)
    padded[BEFORE:BEFORE + len(sound)] = sound
    for i in range(count):
        yield padded[None, i * WINDOW:i * WINDOW + BEFORE + WINDOW]


def parts_of(probabilities):
    """Where somebody speaks, (begin, end) in seconds: from 0.5 on, until it is below 0.35 for a tenth of a second."""
    parts, begin, last = [], None, 0
    for i, probability in enumerate([*probabilities, 0, 0, 0, 0]):
        if probability >= (0.5 if begin is None else 0.35):
            begin, last = i if begin is None else begin, i + 1
        elif begin is not None and i - last >= 3:
            parts.append((begin * WINDOW / RATE, last * WINDOW / RATE))
            begin = None
    return parts


def main():
    given = arguments()
    path = given.model or (None if given.loudness else packaged_model())
    if path is None and not given.loudness:
        sys.exit("error: the network is in the package silero-vad, which is not installed: pip install --no-deps silero-vad, "
                 "or name a file with --model")

    # 1. The model for one window. `feeds` makes the output stateN the state of the next run: it never leaves the device.
    model = morton.Model.load(str(path)) if path else loudness_model()
    shapes = {port.name: [extent if isinstance(extent, int) else 1 for extent in port.shape] for port in model.inputs}
    shapes["input"] = [1, BEFORE + WINDOW]
    # Silero's network asks for the rate, on which its way through the graph depends: it must be known before a plan is.
    rate = {"sr": np.array(RATE, np.int64)} if "sr" in shapes else {}
    compiled = morton.compile(model, morton.Device(given.device), shapes=shapes, values=rate, feeds={"stateN": "state"})
    session = morton.Session(compiled)

    # 2. Window after window, as a microphone gives them.
    sound = read_sound(given.sound) if given.sound else made_sound()
    begin = time.perf_counter()
    probabilities = [session.run({"input": window, **rate})["output"].item() for window in windows_of(sound)]
    each = (time.perf_counter() - begin) / max(len(probabilities), 1)

    # 3. Another sound begins with an empty memory.
    session.set_state("state", np.zeros(shapes["state"], np.float32))

    for start, end in parts_of(probabilities):
        print(f"speech from {start:.2f} to {end:.2f} s")
    print(f"{len(sound) / RATE:.2f} s of sound; a window of {1000 * WINDOW / RATE:.0f} ms took {each * 1000:.2f} ms on "
          f"{compiled.device.name}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, morton.Error) as error:
        sys.exit(f"error: {error}")
