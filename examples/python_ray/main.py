#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder of very many pictures, answered by workers on one machine or on many, with Ray Data.

    python3 examples/python_ray/main.py PICTURES OUT [MODEL.onnx] [--workers N] [--address auto]

OUT gets files of JSON lines: path, class, score, error. A second call answers what the first left."""

import argparse
import json
import os
import pathlib
import sys

import ray

ENDINGS = (".png", ".jpg", ".jpeg")


def arguments():
    parser = argparse.ArgumentParser(description="Says of very many pictures what they show.")
    parser.add_argument("pictures", help="a folder with PNG and JPEG files, also in folders below; every machine sees it by this path")
    parser.add_argument("out", help="a folder for the answers")
    parser.add_argument("model", nargs="?", default="models/lenet5.onnx")
    parser.add_argument("--preset", help="how the network wants its pictures: imagenet, inception, unit, caffe, ...")
    parser.add_argument("--device", default="auto", help="as morton.Device takes it: auto, gpu, cpu, part of a name")
    parser.add_argument("--batch", type=int, default=32, help="pictures of a run")
    parser.add_argument("--workers", type=int, default=2, help="processes that each hold a session")
    parser.add_argument("--processors", type=float, default=1, help="that a worker computes with")
    parser.add_argument("--address", help="of a cluster (auto: this machine's); default: a cluster of this machine alone")
    return parser.parse_args()


class Classifier:
    """What a worker holds: the model on its device. Ray starts another one where a worker dies, and gives it the batch again."""

    def __init__(self, model, batch, device, preset):
        import morton  # pylint: disable=import-outside-toplevel  (in the worker's process)

        self.morton, self.batch = morton, batch
        self.options = {"preset": preset} if preset else {}
        compiled = morton.compile(morton.Model.load(model), morton.Device(device), batch=batch)
        self.session = morton.Session(compiled)
        self.port = compiled.inputs[0]

    def prepared(self, path):
        """The picture as one row of the input, or why it cannot be."""
        try:
            return self.morton.picture_to_input(path, [1, *self.port.shape[1:]], **self.options), None
        except self.morton.Error as error:
            return None, str(error)

    def __call__(self, rows):
        import numpy as np  # pylint: disable=import-outside-toplevel

        inputs = np.zeros(self.port.shape, np.float32)  # a last batch is not full
        errors = []
        for i, path in enumerate(rows["path"]):
            picture, error = self.prepared(path)
            errors.append(error)
            if error is None:
                inputs[i] = picture[0]
        (scores,) = self.session.run({self.port.name: inputs}).values()
        scores = scores.reshape(self.batch, -1)[:len(errors)]
        best = scores.argmax(1)
        return {"path": rows["path"],
                "class": np.array([None if error else int(c) for error, c in zip(errors, best)], object),
                "score": np.array([None if error else round(float(row.max()), 6) for error, row in zip(errors, scores)], object),
                "error": np.array(errors, object)}


def answered(out):
    """The paths that an earlier call has answered. A file that it was stopped in goes: its pictures are answered again."""
    done = set()
    for file in pathlib.Path(out).glob("*.json"):
        try:
            paths = [json.loads(line)["path"] for line in file.read_text(encoding="utf-8").splitlines()]
        except ValueError:
            print(f"{file} is not whole, and is removed", flush=True)
            file.unlink()
        else:
            done.update(paths)
    return done


def main():
    given = arguments()
    if not pathlib.Path(given.pictures).is_dir():
        sys.exit(f"error: {given.pictures}: there is no such folder")
    done = answered(given.out)
    paths = sorted(str(path) for path in pathlib.Path(given.pictures).resolve().rglob("*") if path.suffix.lower() in ENDINGS)
    left = [path for path in paths if path not in done]
    print(f"{len(paths)} pictures, {len(left)} to answer", flush=True)
    if not left:
        return 0

    # PoCL computes with as many threads as the worker has processors.
    environment = {"POCL_MAX_PTHREAD_COUNT": str(max(1, round(given.processors)))}
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    ray.init(address=given.address, runtime_env={"env_vars": environment}, logging_level="warning", include_dashboard=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    # A block is what is answered again when a worker dies, and a file of the answers.
    blocks = max(given.workers, -(-len(left) // (given.batch * 8)))
    answers = ray.data.from_items([{"path": path} for path in left], override_num_blocks=blocks).map_batches(
        Classifier, fn_constructor_args=(str(pathlib.Path(given.model).resolve()), given.batch, given.device, given.preset),
        batch_size=given.batch, compute=ray.data.ActorPoolStrategy(size=given.workers), num_cpus=given.processors)
    # Writing asks for no processor: the workers have them all until the end.
    answers.write_json(str(pathlib.Path(given.out).resolve()), ray_remote_args={"num_cpus": 0})
    print(f"{len(answered(given.out))} of {len(paths)} answered in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
