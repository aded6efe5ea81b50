# SPDX-License-Identifier: Apache-2.0
"""Random models of each operator of ai.onnx.ml, for tools/ml_models.py: name, model, inputs."""

import numpy as np
import onnx
from onnx import TensorProto, helper

DOMAIN = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def model_of(op, inputs, outputs, version=3, **attributes):
    """`inputs` are arrays by name, `outputs` names with element types."""
    node = helper.make_node(op, list(inputs), [name for name, _ in outputs], domain=DOMAIN, **attributes)
    graph = helper.make_graph(
        [node], "model",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
         for name, value in inputs.items()],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 18),
                                                                  helper.make_opsetid(DOMAIN, version)])


def random_tree(random, features, depth, modes):
    """Rows (id, feature, value, mode, true, false, missing) of a random tree, and its leaves."""
    rows, leaves = [], []

    def grow(level):
        own = len(rows)
        rows.append(None)
        if level == 0 or random.random() < 0.15:
            rows[own] = (own, 0, 0.0, "LEAF", 0, 0, 0)
            leaves.append(own)
            return own
        value = float(np.float32(np.round(random.standard_normal(), 1)))
        mode = modes[random.integers(len(modes))]
        feature, missing = int(random.integers(features)), int(random.integers(2))
        first = grow(level - 1)
        second = grow(level - 1)
        rows[own] = (own, feature, value, mode, first, second, missing)
        return own

    grow(depth)
    return rows, leaves


# Each leaf votes for all classes: ONNX Runtime leaves those out of the choice that have no vote in a row.
def tree_lists(random, prefix, targets, features=5, trees=7, depth=5, modes=MODES, votes=2, positive=False):
    lists = {f"nodes_{name}": [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                              "falsenodeids", "missing_value_tracks_true")}
    lists.update({f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")})
    for tree in range(trees):
        rows, leaves = random_tree(random, features, depth, modes)
        for row in rows:
            for name, value in zip(("nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                    "missing_value_tracks_true"), row):
                lists[f"nodes_{name}"].append(value)
            lists["nodes_treeids"].append(tree)
        for leaf in leaves:
            for target in random.permutation(len(targets))[:votes if prefix == "class" else random.integers(1, votes + 1)]:
                weight = float(np.float32(random.standard_normal()))
                lists[f"{prefix}_treeids"].append(tree)
                lists[f"{prefix}_nodeids"].append(leaf)
                lists[f"{prefix}_ids"].append(targets[target])
                lists[f"{prefix}_weights"].append(abs(weight) if positive else weight)
    return lists


def rows_of(random, count=23, features=5, kind="float32", holes=True):
    x = np.round(random.standard_normal((count, features)) * (1 if "float" in kind else 2), 1).astype(kind)
    if holes and "float" in kind:
        x[random.random(x.shape) < 0.1] = np.nan
    return x


def regressors(random):
    for targets in (1, 3):
        for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
            lists = tree_lists(random, "target", list(range(targets)), votes=targets)
            base = [float(np.float32(one)) for one in random.standard_normal(targets)]
            x = rows_of(random)
            yield (f"regressor_{targets}_{aggregate}",
                   model_of("TreeEnsembleRegressor", {"X": x}, [("Y", TensorProto.FLOAT)], n_targets=targets,
                            aggregate_function=aggregate, base_values=base, **lists), {"X": x})
    for transform in TRANSFORMS:
        x = rows_of(random)
        lists = tree_lists(random, "target", [0, 1, 2], votes=3)
        yield (f"regressor_{transform}",
               model_of("TreeEnsembleRegressor", {"X": x}, [("Y", TensorProto.FLOAT)], n_targets=3,
                        post_transform=transform, **lists), {"X": x})
    x = rows_of(random, kind="float64")
    lists = tree_lists(random, "target", [0])
    for name in ("nodes_values", "target_weights"):
        lists[name + "_as_tensor"] = helper.make_tensor(name, TensorProto.DOUBLE, [len(lists[name])], lists.pop(name))
    yield ("regressor_float64",
           model_of("TreeEnsembleRegressor", {"X": x}, [("Y", TensorProto.FLOAT)], n_targets=1, **lists), {"X": x})
    for rows in (1, 500):
        x = rows_of(random, rows)
        lists = tree_lists(random, "target", [0], trees=60, depth=7, modes=MODES[:1])
        yield (f"regressor_rows_{rows}",
               model_of("TreeEnsembleRegressor", {"X": x}, [("Y", TensorProto.FLOAT)], n_targets=1, **lists), {"X": x})


def classifiers(random):
    for sides, classes in (([0], 2), ([1], 2), ([0, 1, 2], 3)):
        for transform in TRANSFORMS:
            for positive in (False, True):
                x = rows_of(random)
                lists = tree_lists(random, "class", sides, votes=len(sides), positive=positive)
                names = [f"class {c}" for c in range(classes)]
                labels = {"classlabels_strings": names} if positive else {"classlabels_int64s": [7, 3, 5][:classes]}
                label_type = TensorProto.STRING if positive else TensorProto.INT64
                yield (f"classifier_{''.join(map(str, sides))}_{transform}_{'positive' if positive else 'mixed'}",
                       model_of("TreeEnsembleClassifier", {"X": x}, [("L", label_type), ("P", TensorProto.FLOAT)],
                                post_transform=transform, **labels, **lists), {"X": x})
    for kind in ("int64", "int32", "float64"):
        x = rows_of(random, kind=kind)
        lists = tree_lists(random, "class", [0, 1, 2], votes=3)
        yield (f"classifier_{kind}",
               model_of("TreeEnsembleClassifier", {"X": x}, [("L", TensorProto.INT64), ("P", TensorProto.FLOAT)],
                        classlabels_int64s=[0, 1, 2], **lists), {"X": x})
    for base, sides in (([0.25], [0]), ([0.25, 0.5], [0]), ([0.1, 0.2, 0.3], [0, 1, 2])):
        x = rows_of(random)
        lists = tree_lists(random, "class", sides, votes=len(sides))
        yield (f"classifier_base_{len(base)}_{len(sides)}",
               model_of("TreeEnsembleClassifier", {"X": x}, [("L", TensorProto.INT64), ("P", TensorProto.FLOAT)],
                        base_values=base, classlabels_int64s=list(range(max(2, len(sides)))), **lists), {"X": x})


def newest(random):
    """TreeEnsemble: a chain of nodes whose true branches are leaves, of every mode."""
    for kind, aggregate in (("float32", 1), ("float64", 1), ("float32", 0), ("float32", 2), ("float32", 3)):
        x = np.round(rows_of(random, kind=kind))
        count = 12
        number = TensorProto.FLOAT if kind == "float32" else TensorProto.DOUBLE
        modes = random.integers(0, 7, count).astype("uint8")
        members = []
        for _ in range(int((modes == 6).sum())):
            members += random.integers(-2, 3, 2).tolist() + [float("nan")]
        splits = np.round(random.standard_normal(count), 1)
        # Two trees of half the nodes each.
        last = np.isin(np.arange(count), (count // 2 - 1, count - 1))
        attributes = {
            "n_targets": 2, "aggregate_function": aggregate, "tree_roots": [0, count // 2],
            "nodes_featureids": random.integers(0, 5, count).tolist(), "nodes_trueleafs": [1] * count,
            "nodes_falseleafs": last.astype(int).tolist(), "nodes_truenodeids": list(range(count)),
            "nodes_falsenodeids": [count + i // (count // 2) if last[i] else i + 1 for i in range(count)],
            "nodes_missing_value_tracks_true": random.integers(0, 2, count).tolist(),
            "leaf_targetids": random.integers(0, 2, count + 2).tolist(),
            "nodes_modes": helper.make_tensor("m", TensorProto.UINT8, [count], modes.tobytes(), raw=True),
            "nodes_splits": helper.make_tensor("s", number, [count], splits.astype(kind)),
            "leaf_weights": helper.make_tensor("w", number, [count + 2], random.standard_normal(count + 2).astype(kind)),
        }
        if members:
            attributes["membership_values"] = helper.make_tensor("v", number, [len(members)], members)
        yield (f"ensemble_{kind}_{aggregate}",
               model_of("TreeEnsemble", {"X": x}, [("Y", number)], version=5, **attributes), {"X": x})


def features(random):
    x = rows_of(random, holes=False)
    y = [("Y", TensorProto.FLOAT)]
    five = random.standard_normal(5).astype("float32").tolist()
    for kind in ("float32", "float64", "int64"):
        z = x.astype(kind)
        yield f"scaler_{kind}", model_of("Scaler", {"X": z}, y, version=1, offset=five, scale=five[::-1]), {"X": z}
    yield "scaler_one", model_of("Scaler", {"X": x}, y, version=1, offset=[0.5], scale=[2.0]), {"X": x}
    for norm in ("MAX", "L1", "L2"):
        z = x.copy()
        z[3] = 0
        yield f"normalizer_{norm}", model_of("Normalizer", {"X": z}, y, version=1, norm=norm), {"X": z}
    holes = rows_of(random)
    yield ("imputer_nan", model_of("Imputer", {"X": holes}, y, version=1, imputed_value_floats=five,
                                   replaced_value_float=float("nan")), {"X": holes})
    whole = rows_of(random, kind="int64")
    yield ("imputer_int64", model_of("Imputer", {"X": whole}, [("Y", TensorProto.INT64)], version=1,
                                     imputed_value_int64s=[9], replaced_value_int64=1), {"X": whole})
    yield "binarizer", model_of("Binarizer", {"X": x}, y, version=1, threshold=0.3), {"X": x}
    for name, keys, values, source, kind in (
            ("ints", {"keys_int64s": [1, 2, -1]}, {"values_floats": [0.5, 1.5, 2.5]}, whole, TensorProto.FLOAT),
            ("floats", {"keys_floats": [0.1, 0.5, float("nan")]}, {"values_int64s": [4, 5, 6]}, holes,
             TensorProto.INT64),
            ("texts", {"keys_int64s": [0, 1, 2, -1, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7]},
             {"values_strings": [f"text {i}" for i in range(15)]}, whole, TensorProto.STRING)):
        yield (f"label_encoder_{name}", model_of("LabelEncoder", {"X": source}, [("Y", kind)], version=4, **keys,
                                                 **values), {"X": source})
    for kind in ("int64", "float32"):
        z = whole.astype(kind)
        yield f"one_hot_{kind}", model_of("OneHotEncoder", {"X": z}, y, version=1, cats_int64s=[0, 2, -1], zeros=1), {"X": z}
    yield ("vectorizer", model_of("FeatureVectorizer", {"A": x, "B": x[:, :2].copy()}, y, version=1,
                                  inputdimensions=[5, 2]), {"A": x, "B": x[:, :2].copy()})
    at = np.array([4, 0, 0], dtype="int64")
    yield "extractor", model_of("ArrayFeatureExtractor", {"X": x, "Y": at}, [("Z", TensorProto.FLOAT)], version=1), \
        {"X": x, "Y": at}


def linear(random):
    x = rows_of(random, holes=False)
    for targets in (1, 3):
        for transform in TRANSFORMS:
            weights = random.standard_normal(5 * targets).astype("float32").tolist()
            offsets = random.standard_normal(targets).astype("float32").tolist()
            yield (f"linear_regressor_{targets}_{transform}",
                   model_of("LinearRegressor", {"X": x}, [("Y", TensorProto.FLOAT)], version=1, targets=targets,
                            coefficients=weights, intercepts=offsets, post_transform=transform), {"X": x})
            yield (f"linear_classifier_{targets}_{transform}",
                   model_of("LinearClassifier", {"X": x}, [("L", TensorProto.INT64), ("P", TensorProto.FLOAT)],
                            version=1, coefficients=weights, intercepts=offsets, post_transform=transform,
                            classlabels_ints=[4, 6, 9][:max(2, targets)]), {"X": x})


def support_vectors(random):
    x = rows_of(random, holes=False)
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        vectors = random.standard_normal(5 * 9).astype("float32").tolist()
        shared = {"kernel_type": kernel, "kernel_params": [0.3, 0.4, 3.0], "support_vectors": vectors}
        yield (f"svm_regressor_{kernel}",
               model_of("SVMRegressor", {"X": x}, [("Y", TensorProto.FLOAT)], version=1, n_supports=9, rho=[0.2],
                        coefficients=random.standard_normal(9).astype("float32").tolist(), **shared), {"X": x})
        for counts in ([4, 5], [2, 3, 4], [3, 2, 2, 2]):
            classes, pairs = len(counts), len(counts) * (len(counts) - 1) // 2
            more = {"coefficients": random.standard_normal(9 * (classes - 1)).astype("float32").tolist(),
                    "rho": random.standard_normal(pairs).astype("float32").tolist(), "vectors_per_class": counts,
                    "classlabels_ints": [8, 6, 4, 2][:classes]}
            outputs = [("L", TensorProto.INT64), ("P", TensorProto.FLOAT)]
            yield (f"svm_classifier_{kernel}_{classes}",
                   model_of("SVMClassifier", {"X": x}, outputs, version=1, **shared, **more), {"X": x})
            yield (f"svm_probability_{kernel}_{classes}",
                   model_of("SVMClassifier", {"X": x}, outputs, version=1, prob_a=[-1.5] * pairs, prob_b=[0.1] * pairs,
                            **shared, **more), {"X": x})


def models(random):
    for maker in (regressors, classifiers, newest, features, linear, support_vectors):
        yield from maker(random)
