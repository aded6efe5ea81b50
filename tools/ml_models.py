#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Classical models beside ONNX Runtime: what scikit-learn (skl2onnx) and LightGBM (onnxmltools) export, and random
models of each operator of ai.onnx.ml (tools/ml_random.py). Every output must agree.

The interpreter needs onnxruntime, onnx, scikit-learn, skl2onnx, lightgbm and onnxmltools; --install FOLDER makes one
there. Labels that are texts are compared by their places among the classes. The status is 0 when all agree."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

from interpreter import interpreter_with

PACKAGES = ["onnxruntime", "onnx", "numpy", "scikit-learn", "skl2onnx", "lightgbm", "onnxmltools"]
# What rounding in f32 may do to a score: this share of it, and this much.
RELATIVE, ABSOLUTE = 2e-4, 2e-5
FEATURES = 6


def install(folder):
    """An interpreter with the packages in `folder`; this script goes on in it."""
    python = interpreter_with(PACKAGES, folder)
    os.execv(python, [python, *[word for word in sys.argv if not word.startswith("--install")]])


def sklearn_models():
    """Name, and a fitted estimator with options of its export."""
    import sklearn.ensemble as ensemble
    import sklearn.linear_model as linear
    import sklearn.svm as svm
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    regressors = {
        "tree": DecisionTreeRegressor(max_depth=7), "forest": ensemble.RandomForestRegressor(20, max_depth=6),
        "boosting": ensemble.GradientBoostingRegressor(n_estimators=20), "extra": ensemble.ExtraTreesRegressor(20),
        "linear": linear.LinearRegression(),
        "ridge": linear.Ridge(), "svr_rbf": svm.SVR(), "svr_poly": svm.SVR(kernel="poly", coef0=0.5),
        "svr_sigmoid": svm.SVR(kernel="sigmoid", C=0.1), "svr_linear": svm.SVR(kernel="linear"),
    }
    classifiers = {
        "tree": DecisionTreeClassifier(max_depth=7), "forest": ensemble.RandomForestClassifier(20, max_depth=6),
        "boosting": ensemble.GradientBoostingClassifier(n_estimators=10), "logistic": linear.LogisticRegression(),
        "svc": svm.SVC(),
        "svc_probability": svm.SVC(probability=True), "svc_poly": svm.SVC(kernel="poly"),
        "scaled": make_pipeline(StandardScaler(), linear.LogisticRegression()),
        "normalized": make_pipeline(Normalizer("l1"), MinMaxScaler(), DecisionTreeClassifier(max_depth=4)),
        "binarized": make_pipeline(Binarizer(threshold=0.1), linear.LogisticRegression()),
        "perceptron": MLPClassifier((8,), max_iter=50),
        "outliers": ensemble.IsolationForest(n_estimators=10),
    }
    return regressors, classifiers


def exported(random):
    """Name, model, input: the exports of scikit-learn and LightGBM."""
    from skl2onnx import to_onnx
    x = random.standard_normal((300, FEATURES)).astype("float32")
    y = x[:, 0] + x[:, 1] * x[:, 2] + 0.1 * random.standard_normal(300).astype("float32")
    test = random.standard_normal((37, FEATURES)).astype("float32")
    regressors, classifiers = sklearn_models()
    for name, model in regressors.items():
        yield f"sklearn_{name}_regressor", to_onnx(model.fit(x, y), x[:1], target_opset={"": 18, "ai.onnx.ml": 3}), test
    targets = {"two": (y > 0).astype("int64"), "three": ((y > -0.5).astype("int64") + (y > 0.5)),
               "texts": [("cat", "dog")[int(one > 0)] for one in y]}
    for kind, target in targets.items():
        for name, model in classifiers.items():
            # Their texts go through tensors of strings.
            if kind == "texts" and name in ("perceptron", "outliers"):
                continue
            options = {} if kind == "two" else {"zipmap": False}
            if name == "outliers":
                options = {}
            yield (f"sklearn_{name}_{kind}",
                   to_onnx(model.fit(x, target), x[:1], options=options, target_opset={"": 18, "ai.onnx.ml": 3}), test)
    yield from lightgbm_models(x, y, test)


def lightgbm_models(x, y, test):
    import lightgbm
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType
    holes = test.copy()
    holes[::5, 1] = float("nan")
    for name, model, target in (
            ("regressor", lightgbm.LGBMRegressor(n_estimators=20, verbose=-1), y),
            ("two", lightgbm.LGBMClassifier(n_estimators=20, verbose=-1), (y > 0).astype("int64")),
            ("three", lightgbm.LGBMClassifier(n_estimators=10, verbose=-1), (y > -0.5).astype("int64") + (y > 0.5))):
        model.fit(x, target)
        for zipmap in (True, False):
            yield (f"lightgbm_{name}_{'maps' if zipmap else 'tensor'}",
                   convert_lightgbm(model, initial_types=[("X", FloatTensorType([None, FEATURES]))], zipmap=zipmap,
                                    target_opset=15), holes)


def places(values, classes):
    return [classes.index(one) for one in values]


def as_tensor(value, classes):
    """ONNX Runtime's output as Morton gives it."""
    import numpy as np
    if isinstance(value, list):
        return np.array([list(row.values()) for row in value])
    if value.dtype == object or value.dtype.kind in "US":
        return np.array(places(value.ravel().tolist(), classes)).reshape(value.shape)
    return value


def classes_of(model):
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name in ("classlabels_strings", "values_strings"):
                return [one.decode() for one in attribute.strings]
    return []


def difference(name, model, feeds, program, folder):
    """Why the outputs differ, or an empty text."""
    import numpy as np
    import onnxruntime
    onnxruntime.set_default_logger_severity(3)
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(str(path))
    if not isinstance(feeds, dict):
        feeds = {session.get_inputs()[0].name: feeds}
    wanted = session.run(None, feeds)
    words = [program, "run", str(path), "-o", str(folder / "out.npz")]
    for number, (key, value) in enumerate(feeds.items()):
        np.save(folder / f"{number}.npy", value)
        words += ["-i", f"{key}:{folder / f'{number}.npy'}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()[-300:]
    given = np.load(folder / "out.npz")
    for output, value in zip(session.get_outputs(), wanted):
        value = as_tensor(value, classes_of(model))
        own = given[output.name]
        if own.shape != value.shape:
            return f"{output.name}: shape {own.shape}, expected {value.shape}"
        bound = np.full(value.shape, 0.0) if value.dtype.kind in "iu" else ABSOLUTE + RELATIVE * np.abs(value)
        with np.errstate(invalid="ignore"):
            wrong = ~((np.abs(own - value) <= bound) | (own == value) | (np.isnan(own) & np.isnan(value)))
        if wrong.any():
            place = tuple(np.argwhere(wrong)[0])
            return f"{output.name}{list(map(int, place))}: {own[place]}, expected {value[place]}; {wrong.sum()} differ"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/morton")
    parser.add_argument("--install", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="models whose name holds this text")
    options = parser.parse_args()
    if options.install:
        install(options.install)
    import numpy as np
    import ml_random
    warnings.simplefilter("ignore")  # deprecations inside the packages
    random = np.random.default_rng(options.seed)
    count, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for source in (ml_random.models(random), exported(random)):
            for name, model, feeds in source:
                if options.only not in name:
                    continue
                why = difference(name, model, feeds, options.program, pathlib.Path(folder))
                count, wrong = count + 1, wrong + (why != "")
                print(f"{name}: {why or 'agrees'}", flush=True)
    print(f"{count} models, {wrong} differ")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
