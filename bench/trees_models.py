#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the models of bench/trees.py, each of 1,000 trees of depth 8 over 50 features, and a batch for each.

random: complete trees with random thresholds, one target; LightGBM's: a binary classifier, grown by leaves; forest:
scikit-learn's random forest of three classes. The interpreter needs onnx, scikit-learn, skl2onnx, LightGBM and
onnxmltools."""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

TREES, DEPTH, FEATURES, ROWS = 1000, 8, 50, 4000


def save(model, path):
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def complete_trees(random):
    """One TreeEnsembleRegressor; node i has the children 2i+1 and 2i+2."""
    inner, nodes = 2**DEPTH - 1, 2**(DEPTH + 1) - 1
    own = np.arange(nodes)
    is_leaf = own >= inner
    every = np.tile(own, TREES)
    leaf = np.tile(is_leaf, TREES)
    tree = np.repeat(np.arange(TREES), nodes)
    attributes = {
        "n_targets": 1,
        "nodes_treeids": tree.tolist(), "nodes_nodeids": every.tolist(),
        "nodes_featureids": np.where(leaf, 0, random.integers(0, FEATURES, leaf.size)).tolist(),
        "nodes_values": np.where(leaf, 0.0, random.uniform(-1, 1, leaf.size)).astype(np.float32).tolist(),
        "nodes_modes": np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_truenodeids": np.where(leaf, 0, 2 * every + 1).tolist(),
        "nodes_falsenodeids": np.where(leaf, 0, 2 * every + 2).tolist(),
        "target_treeids": tree[leaf].tolist(), "target_nodeids": every[leaf].tolist(),
        "target_ids": [0] * int(leaf.sum()),
        "target_weights": random.uniform(-1, 1, int(leaf.sum())).astype(np.float32).tolist(),
    }
    node = helper.make_node("TreeEnsembleRegressor", ["X"], ["Y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "trees", [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["N", FEATURES])],
                              [helper.make_tensor_value_info("Y", TensorProto.FLOAT, ["N", 1])])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 15),
                                                                 helper.make_opsetid("ai.onnx.ml", 1)])


def lightgbm_trees(x, y):
    import lightgbm
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType
    model = lightgbm.LGBMClassifier(n_estimators=TREES, max_depth=DEPTH, num_leaves=2**DEPTH - 1, min_child_samples=5,
                                    learning_rate=0.01, random_state=1, n_jobs=2, verbose=-1)
    model.fit(x, (y > 0).astype(np.int64))
    return convert_lightgbm(model, initial_types=[("X", FloatTensorType([None, FEATURES]))], zipmap=False,
                            target_opset=15)


def forest(x, y):
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier
    model = RandomForestClassifier(n_estimators=TREES, max_depth=DEPTH, random_state=1, n_jobs=2)
    model.fit(x, np.digitize(y, [-0.5, 0.5]))
    return to_onnx(model, x[:1], options={"zipmap": False}, target_opset=15)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=1000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, (ROWS, FEATURES)).astype(np.float32)
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * random.standard_normal(ROWS)
    makers = {"random": lambda: complete_trees(random), "lightgbm": lambda: lightgbm_trees(x, y),
              "forest": lambda: forest(x, y)}
    for name, make in makers.items():
        if not (options.folder / f"{name}.onnx").exists():
            save(make(), options.folder / f"{name}.onnx")
    np.save(options.folder / "batch.npy", random.uniform(-1, 1, (options.batch, FEATURES)).astype(np.float32))


if __name__ == "__main__":
    main()
