#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network learns new classes from ten pictures of each, on the device that it runs on.

    python3 examples/personalise/main.py [PICTURES_OF_EACH [DEVICE [LEARNED.onnx]]]

The network knows the digits 0 to 4, and learns 5 to 9. The paths that are assumed hold in the repository's root."""

import argparse
import sys
import time

import morton
import numpy as np

KNOWN, CLASSES = 5, 10
BATCH = 20


def some_of_each(digits, count, seed):
    """The first `count` of each class in an order that the seed decides: pictures u8 [N, 1, 28, 28], and labels."""
    order = np.random.default_rng(seed).permutation(len(digits))
    inputs, labels = digits.inputs[order], digits.targets[order]
    chosen = np.concatenate([np.flatnonzero(labels == each)[:count] for each in range(CLASSES)])
    return morton.Dataset.of_arrays(inputs[chosen], labels[chosen])


def right_shares(model, device, digits):
    """Of the known digits the share that is right, of the new ones, and of all."""
    session = morton.InferenceSession(model, providers=[("MortonExecutionProvider", {"device": device.id})])
    pictures = digits.inputs.astype(np.float32) / 255
    name, labels = session.get_inputs()[0].name, digits.targets
    # In the batches of the training, whose kernels are built.
    answers = [session.run(None, {name: pictures[i:i + BATCH]})[0].argmax(1) for i in range(0, len(pictures), BATCH)]
    is_right = np.concatenate(answers) == labels
    return is_right[labels < KNOWN].mean(), is_right[labels >= KNOWN].mean(), is_right.mean()


def arguments():
    parser = argparse.ArgumentParser(description="A network learns new classes from ten pictures of each.")
    parser.add_argument("count", nargs="?", type=int, default=10, metavar="PICTURES_OF_EACH", help="10, unless told")
    parser.add_argument("device", nargs="?", default="", metavar="DEVICE", help="as morton.Device takes it: gpu, cpu, ...")
    parser.add_argument("file", nargs="?", metavar="LEARNED.onnx", help="where to write what has learned")
    given = parser.parse_args()
    if given.count < 1:
        parser.error(f"PICTURES_OF_EACH: expected a number above 0, got {given.count}")
    return given


def main():
    given = arguments()
    count, device = given.count, morton.Device(given.device)
    base = morton.Model.load("examples/personalise/zero_to_four.onnx")

    # 1. A user's pictures. Known digits are among them, or the network would forget those. What is measured are the
    #    digits of the test part, which neither this training nor the base network's has seen.
    own = some_of_each(morton.Dataset.read("data/mnist", "train"), count, seed=1)
    test = morton.Dataset.read("data/mnist", "test")
    print(f"learning from {len(own)} pictures; {len(test)} others are the test\n")

    # 2. A new last layer for ten classes. The convolutions stay: what they find in pictures serves new classes too.
    begin = time.perf_counter()
    trainer = morton.Trainer(morton.with_classes(base, CLASSES), device, batch=min(BATCH, len(own)), optimizer="adam",
                             freeze=["edges.*", "parts.*"])
    ready = time.perf_counter()

    # 3. The training: a few pictures, moved and turned a little each time.
    trainer.train(own, epochs=60, learning_rate=0.005, schedule="cosine", augmentation="shift=2,rotate=15,scale=15", seed=1)
    learned = time.perf_counter()
    model = trainer.model()

    # 4. Before and after.
    print("           digits 0 to 4   5 to 9      all")
    for name, network in (("before", base), ("after", model)):
        known, new, both = right_shares(network, device, test)
        print(f"{name:9}  {known:13.1%}   {new:6.1%}   {both:6.1%}")
    print(f"\n{trainer.summary['trained_elements']} weights learned in {learned - ready:.2f} s (planned and built in "
          f"{ready - begin:.1f} s) on {device.name}; no picture left it")
    if given.file:
        model.save(given.file)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, morton.Error) as error:
        sys.exit(f"error: {error}")
