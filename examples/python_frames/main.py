#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames one after another, as a camera gives them: the next is prepared while the device works on the last.

    python3 examples/python_frames/main.py [FRAMES [FOLDER]] [--model MODEL.onnx] [--preset NAME] [--device D]

Without a folder of pictures the program draws a digit that moves. The paths that are assumed hold in the repository's
root."""

import argparse
import itertools
import pathlib
import queue
import sys
import time

import morton
import numpy as np

EACH = 20  # frames of one digit


def arguments():
    parser = argparse.ArgumentParser(description="Runs a network on frames, and measures what each takes.")
    parser.add_argument("frames", nargs="?", type=int, default=400)
    parser.add_argument("folder", nargs="?", help="PNG or JPEG files, shown by name, again and again")
    parser.add_argument("--model", default="models/lenet5.onnx")
    parser.add_argument("--preset", help="how the network wants its pictures: imagenet, inception, unit, caffe, ...")
    parser.add_argument("--device", default="auto", help="as morton.Device takes it: auto, gpu, cpu, part of a name")
    return parser.parse_args()


def moving_digit():
    """Frames without end, uint8 [256, 256, 3]: digits of 224 pixels that go around a circle, 0 to 9 in turns."""
    digits = [morton.read_picture(f"examples/data/digit_{i}.png")[:, :, :1] for i in range(10)]
    large = [digit.repeat(8, axis=0).repeat(8, axis=1).repeat(3, axis=2) for digit in digits]
    for i in itertools.count():
        frame = np.zeros((256, 256, 3), np.uint8)
        angle = 2 * np.pi * i / EACH
        top, left = 16 + round(12 * np.sin(angle)), 16 + round(12 * np.cos(angle))
        frame[top:top + 224, left:left + 224] = large[i // EACH % 10]
        yield frame


def pictures_of(folder):
    """The pictures of a folder without end, decoded before the loop: a camera gives levels too."""
    files = sorted(file for file in pathlib.Path(folder).iterdir() if file.suffix.lower() in (".png", ".jpg", ".jpeg"))
    if not files:
        sys.exit(f"error: {folder}: no PNG or JPEG file is here")
    return itertools.cycle([morton.read_picture(file) for file in files])


def frames_of(folder, count):
    return itertools.islice(pictures_of(folder) if folder else moving_digit(), count)


def noted(frames, notes):
    """The frames, and in `notes` of each every fourth pixel of every fourth row: which ones come again."""
    for frame in frames:
        notes.append(frame[::4, ::4].tobytes())
        yield frame


def in_turns(run_async, prepare, frames):
    """Prepares a frame, waits for its answer, takes the next: the host is idle in a run, the device between two."""
    answers, latencies, waited = [], [], 0.0
    for frame in frames:
        came = time.perf_counter()
        run = run_async(prepare(frame))
        asked = time.perf_counter()
        answers.append(int(run.result()[0].argmax()))
        done = time.perf_counter()
        waited += done - asked
        latencies.append(done - came)
    return answers, latencies, waited


def meanwhile(run_async, prepare, frames):
    """Prepares a frame while the device works on the one before. One run is under way at most: frames do not pile up
    where the device is slower than the camera."""
    answers, latencies, waited = [], [], 0.0

    ended = queue.SimpleQueue()  # when each run did, in their order

    def take(run, came):
        nonlocal waited
        asked = time.perf_counter()
        answers.append(int(run.result()[0].argmax()))
        waited += time.perf_counter() - asked
        # result() may be back before the callback was called: this waits for it.
        latencies.append(ended.get() - came)

    under_way = None
    for frame in frames:
        came = time.perf_counter()
        picture = prepare(frame)
        if under_way is not None:
            take(*under_way)
        under_way = run_async(picture), came
        # The thread that ran calls this as soon as the answer is there, which may be before the loop takes it.
        under_way[0].add_done_callback(lambda _: ended.put(time.perf_counter()))
    take(*under_way)
    return answers, latencies, waited


def main():
    given = arguments()
    if given.frames < 1:
        print(f"error: FRAMES: expected a number above 0, got {given.frames}", file=sys.stderr)
        return 1

    # 1. The session. A frame is a run, so an open batch is 1, and all is planned and built here.
    model = morton.Model.load(given.model)
    port = model.inputs[0]
    options = morton.SessionOptions()
    if isinstance(port.shape[0], str):
        options.add_free_dimension_override_by_name(port.shape[0], 1)
    session = morton.InferenceSession(model, options, [("MortonExecutionProvider", {"device": given.device})])
    shape = [1] + [extent if isinstance(extent, int) else 224 for extent in port.shape[1:]]

    # 2. From a frame to the network's numbers, on the host.
    preparation = {"preset": given.preset} if given.preset else {"resize": "cover", "crop": "input"}

    def prepare(frame):
        return morton.picture_to_input(frame, shape, **preparation)

    # Without a callback run_async gives a future. An answer is an array of its own; the loops read it and drop it, and
    # its memory serves a later run.
    def run_async(picture):
        return session.run_async(None, {port.name: picture})

    # 3. The same frames twice: in turns, and the next frame prepared meanwhile. What comes first is not measured.
    print(f"{given.frames} frames on {session.device.name}")
    found = []
    for loop in (in_turns, meanwhile):
        loop(run_async, prepare, frames_of(given.folder, 20))
        notes = []
        begin = time.perf_counter()
        answers, latencies, waited = loop(run_async, prepare, noted(frames_of(given.folder, given.frames), notes))
        seconds = time.perf_counter() - begin
        p50, p99 = np.percentile(latencies, [50, 99]) * 1000
        print(f"{loop.__name__:9}  {given.frames / seconds:5.0f} frames a second, waiting {waited / seconds:3.0%}, "
              f"from frame to answer {p50:.2f} ms (p99 {p99:.2f} ms)")
        found.append((notes, answers))

    # 4. What the frames show, each answer once for as long as it stays. A camera's frames do not come again, and only
    #    the same frame must have the same answer.
    again = [i for i, (one, other) in enumerate(zip(found[0][0], found[1][0])) if one == other]
    if any(found[0][1][i] != found[1][1][i] for i in again):
        print("error: the two loops give different answers", file=sys.stderr)
        return 1
    print("shown:", *(answer for answer, _ in itertools.groupby(found[1][1])))
    if len(again) < given.frames:
        print(f"{given.frames - len(again)} frames did not come again: their answers are not compared")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, morton.Error) as error:
        sys.exit(f"error: {error}")
