#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures in, names out: a folder of pictures in one batch, and of each the three best answers.

    python3 examples/python_classify/main.py [PICTURES [MODEL.onnx]] [--labels FILE] [--preset NAME]

The paths that are assumed hold in the repository's root."""

import argparse
import pathlib
import sys
import time

import morton
import numpy as np


def arguments():
    parser = argparse.ArgumentParser(description="Says of pictures what they show.")
    parser.add_argument("pictures", nargs="?", default="examples/data", help="a PNG or JPEG file, or a folder of them")
    parser.add_argument("model", nargs="?", default="models/lenet5.onnx")
    parser.add_argument("--labels", default="examples/python_classify/digits.txt", help="a file with a name on each line")
    parser.add_argument("--preset", help="how the network wants its pictures: imagenet, inception, unit, caffe, ...")
    parser.add_argument("--size", type=int, default=224, help="height and width, for a model that leaves them open")
    parser.add_argument("--device", default="auto", help="as morton.Device takes it: auto, gpu, cpu, part of a name")
    return parser.parse_args()


def files_of(path):
    """The pictures in a folder, by name; or the one file."""
    path = pathlib.Path(path)
    if not path.exists():
        sys.exit(f"error: {path}: there is no such file or folder")
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix.lower() in (".png", ".jpg", ".jpeg"))


def prepared(files, shape, size, preset):
    """Those of the files that can be read, and their pictures as one array. The others are named on stderr."""
    options = {"preset": preset} if preset else {}
    one = [1] + [extent if isinstance(extent, int) else size for extent in shape[1:]]
    good, pictures = [], []
    for file in files:
        try:
            pictures.append(morton.picture_to_input(file, one, **options))
            good.append(file)
        except morton.Error as error:
            text = str(error)
            print(f"error: {text if text.startswith(str(file)) else f'{file}: {text}'}", file=sys.stderr)
    return good, np.concatenate(pictures) if pictures else None


def probabilities(scores):
    """Shares of 1. Networks that end in logits leave the softmax to whoever reads them."""
    if scores.min() >= 0 and np.allclose(scores.sum(1), 1, atol=1e-3):
        return scores
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def classify(session, pictures):
    """Scores, a row for each picture. A model whose batch is open takes all at once; others take as many as they say,
    and the last batch is filled up with copies of the last picture."""
    port = session.get_inputs()[0]
    batch = port.shape[0] if isinstance(port.shape[0], int) else len(pictures)
    missing = -len(pictures) % batch
    whole = np.concatenate([pictures, np.repeat(pictures[-1:], missing, axis=0)])
    rows = [session.run(None, {port.name: whole[i:i + batch]})[0] for i in range(0, len(whole), batch)]
    return np.concatenate(rows)[:len(pictures)].reshape(len(pictures), -1)


def main():
    given = arguments()
    names = pathlib.Path(given.labels).read_text(encoding="utf-8").splitlines()

    # 1. A session: the model on a device. A model with an open batch is planned in its first run.
    session = morton.InferenceSession(given.model, providers=[("MortonExecutionProvider", {"device": given.device})])
    port = session.get_inputs()[0]

    # 2. Pictures of any sizes become the input's shape and numbers (docs/pictures.md).
    all_files = files_of(given.pictures)
    files, pictures = prepared(all_files, port.shape, given.size, given.preset)
    if not files:
        print(f"error: {given.pictures}: no picture here could be read", file=sys.stderr)
        return 1

    # 3. One run for all of them, and once more for the time without planning and building.
    scores = probabilities(classify(session, pictures))
    if len(names) != scores.shape[1]:
        print(f"error: {given.labels} has {len(names)} names, the model {scores.shape[1]} classes", file=sys.stderr)
        return 1
    begin = time.perf_counter()
    classify(session, pictures)
    seconds = time.perf_counter() - begin

    # 4. The three best of each row.
    for file, row in zip(files, scores):
        best = np.argsort(-row, kind="stable")[:3]
        print(f"{file.name}: " + ", ".join(f"{names[i]} {row[i]:.2%}" for i in best))
    print(f"{len(files)} pictures in {seconds * 1000:.2f} ms on {session.device.name}")
    return 0 if len(files) == len(all_files) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, UnicodeDecodeError, morton.Error) as error:
        sys.exit(f"error: {error}")
