#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Others read what a training writes: TensorBoard its events, safetensors its checkpoints.

    python3 tests/model/check_training_files.py build/tests/host_tests

Needs `pip install tensorboard safetensors` in the environment of this Python, else it is skipped.
"""

import math
import os
import pathlib
import subprocess
import sys
import tempfile

from needs import needs

needs(__file__, "safetensors", "tensorboard")

from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def left_by(program, test, folder):
    """Runs the test that leaves its files in `folder`."""
    subprocess.run([program, "--gtest_also_run_disabled_tests", f"--gtest_filter={test}"],
                   check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, MORTON_TEST_OUTPUT=str(folder)))


def check_events(program, folder):
    left_by(program, "TrainingLog.DISABLED_LeavesFilesForOthersToRead", folder)
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0,
                                                          "histograms": 0, "graph": 0})
    events.Reload()
    losses = [(e.step, e.value) for e in events.Scalars("loss/training")]
    assert [step for step, _ in losses] == [1, 2, 3, 4, 5], losses
    assert all(math.isclose(value, 1 / step, rel_tol=1e-6) for step, value in losses), losses
    [histogram] = events.Histograms("weights/fc")
    values = histogram.histogram_value
    assert histogram.step == 5 and values.num == 17 * 63, histogram
    assert sum(values.bucket) == values.num and len(values.bucket) == 30, values
    assert math.isclose(values.sum, sum(math.sin(i) for i in range(17 * 63)), abs_tol=1e-3), values
    nodes = {node.name: node for node in events.Graph().node}
    operators = [node.op for node in nodes.values()]
    assert operators.count("Conv") >= 2 and "Placeholder" in operators, operators
    for node in nodes.values():
        for source in node.input:
            assert source.split(":")[0] in nodes, (node.name, source)
    shapes = [node.attr["_output_shapes"].list.shape for node in nodes.values()]
    assert all(len(shape) >= 1 for shape in shapes)
    return f"{len(losses)} scalars, a histogram, a graph of {len(nodes)} nodes"


def check_checkpoint(program, folder):
    left_by(program, "Checkpoint.DISABLED_LeavesFilesForOthersToRead", folder)
    tensors = load_file(folder / "checkpoint.safetensors")
    assert tensors["weights"].shape == (17, 63), tensors
    assert tensors["weights"].dtype.name == "float32" and (tensors["weights"] == 7).all(), tensors
    assert tensors["step"].dtype.name == "int64" and tensors["step"].shape == (), tensors
    return f"{len(tensors)} tensors"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for check in (check_events, check_checkpoint):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{check.__name__}: {check(sys.argv[1], pathlib.Path(folder))}")


main()
