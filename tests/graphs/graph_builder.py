# SPDX-License-Identifier: Apache-2.0
"""A random ONNX graph, written node by node. ONNX Runtime computes each node as it is added, so that every value is
known: its type, its shape and its numbers. A node that ONNX Runtime refuses is left out."""

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i8": np.int8,
         "u8": np.uint8, "bool": np.bool_}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}
EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 17)
MOST_ELEMENTS = 4096
MOST_MAGNITUDE = 1e6  # beyond it the products of a few nodes leave f32
EDGES = (0, -1, 1, 2, -2, 3, 17, 100, -100, 2**31 - 1, 2**31, -2**31, 2**62, -2**63, 2**63 - 1)

QUIET = onnxruntime.SessionOptions()
QUIET.log_severity_level = 4
QUIET.intra_op_num_threads = QUIET.inter_op_num_threads = 1
# The operators as they are defined: no rewriting of the graph.
QUIET.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
onnxruntime.set_default_logger_severity(4)


class Refused(Exception):
    """ONNX Runtime does not take the model, or not these inputs."""

    def __init__(self, when, why):
        super().__init__(f"{when}: {why}")
        self.when = when


def session_of(model):
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), QUIET, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common base
        raise Refused("load", str(error)) from None


def computed(model, inputs):
    """What ONNX Runtime makes of it. Raises Refused."""
    session = session_of(model)
    try:
        return session.run(None, {port.name: inputs[port.name] for port in session.get_inputs()})
    except Exception as error:
        raise Refused("run", str(error)) from None


def port(name, value):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


class Graph:
    """Nodes, and the value of each name. `inputs` and `constants` are names; `expects` is "result", or "refusal" where
    ONNX Runtime refuses the inputs of the last node when it runs. `special`: some inputs are no finite numbers, or large."""

    def __init__(self, opset, special):
        self.opset, self.nodes, self.values, self.special = opset, [], {}, special
        self.inputs, self.constants = [], []
        self.expects = "result"

    def model(self, nodes, outputs):
        """A model of some nodes. What they read and none of them computes is a constant or an input, as in the graph;
        what other nodes compute is an input."""
        made = {name for node in nodes for name in node.output}
        read = list(dict.fromkeys(name for node in nodes for name in node.input if name and name not in made))
        constants = [name for name in read if name in self.constants]
        ports = [port(name, self.values[name]) for name in read if name not in constants]
        graph = helper.make_graph(
            nodes, "random", ports,
            [port(name, self.values[name]) if name in self.values else helper.make_empty_tensor_value_info(name)
             for name in outputs],
            [numpy_helper.from_array(self.values[name], name) for name in constants])
        opsets = [helper.make_opsetid("", self.opset)]
        if any(node.domain for node in nodes):
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def has_nan(self):
        return any(array.dtype.kind == "f" and np.isnan(array).any() for array in self.values.values())

    def sinks(self):
        """Values that no node reads."""
        read = {name for node in self.nodes for name in node.input}
        return [name for node in self.nodes for name in node.output if name and name not in read]


class Builder:
    """Adds nodes to a graph. `hostile`: numbers that say where and how many may be out of range."""

    def __init__(self, rng, opset, hostile=False, special=False):
        self.rng, self.graph, self.hostile = rng, Graph(opset, special), hostile

    # Choices.

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def between(self, least, most):
        return int(self.rng.integers(least, most + 1))

    def shape(self, least=0, most=4):
        while True:
            shape = tuple(self.pick(EXTENTS) for _ in range(self.between(least, most)))
            if np.prod(shape, dtype=np.int64) <= MOST_ELEMENTS // 4:
                return shape

    # Values.

    def numbers(self, kind, shape):
        """Random elements. Small whole numbers, whose products are exact, are a third of those of reals."""
        if kind == "bool":
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        if kind in ("i8", "u8"):
            low, high = (-128, 128) if kind == "i8" else (0, 256)
            return self.rng.integers(low, high, shape).astype(TYPES[kind])
        if kind in ("i32", "i64"):
            return self.rng.integers(-9, 10, shape).astype(TYPES[kind])
        way = self.rng.random()
        if way < 0.3:
            array = self.rng.integers(-8, 9, shape).astype(np.float64)
        elif way < 0.8:
            array = self.rng.uniform(-2, 2, shape)
        else:
            array = self.rng.uniform(0.1, 3, shape)
        array = np.asarray(array, TYPES[kind])
        if self.graph.special and array.size and self.chance(0.3):
            array = array.copy()
            array.flat[self.between(0, array.size - 1)] = self.pick((np.nan, np.inf, -np.inf, -0.0, 1e30, 1e-40))
        return array

    def given(self, array, constant):
        name = f"v{len(self.graph.values)}"
        self.graph.values[name] = array
        (self.graph.constants if constant else self.graph.inputs).append(name)
        return name

    def constant(self, array):
        return self.given(np.asarray(array), True)

    def operand(self, array, constant_share=0.6):
        """An array as a constant, or as an input."""
        return self.given(np.asarray(array), self.chance(constant_share))

    def fresh(self, kind, shape, constant_share=0.4):
        return self.operand(self.numbers(kind, shape), constant_share)

    def places(self, array):
        """Whole numbers that say where or how many; of a hostile graph some are at the edges of their type."""
        array = np.asarray(array)
        if self.hostile and array.size and self.chance(0.5):
            array = array.copy()
            edges = [edge for edge in EDGES if np.iinfo(array.dtype).min <= edge <= np.iinfo(array.dtype).max]
            array.flat[self.between(0, array.size - 1)] = self.pick(edges)
            return self.given(array, self.chance(0.2))
        if array.size and self.chance(0.1):  # what a run computes
            real = self.given(array.astype(np.float32), False)
            return self.node("Cast", [real], to=helper.np_dtype_to_tensor_dtype(array.dtype))
        return self.operand(array)

    def at(self, name):
        return self.graph.values[name]

    def value(self, kinds=("f32",), least=0, most=5, fits=lambda array: True, fresh=None):
        """The name of a value of one of these kinds and so many dimensions: one that is there, else a new one, which
        `fresh` makes of a shape."""
        found = [name for name, array in self.graph.values.items() if NAMES.get(array.dtype) in kinds
                 and least <= array.ndim <= most and fits(array)
                 and (name not in self.graph.constants or self.chance(0.1))]
        if found and self.chance(0.85):
            return found[-1] if self.chance(0.5) else self.pick(found)
        for _ in range(20):
            kind, shape = kinds[0] if self.chance(0.7) else self.pick(kinds), self.shape(least, min(most, 4))
            array = fresh(shape) if fresh else self.numbers(kind, shape)
            if fits(array):
                return self.given(array, False)
        raise Refused("build", "no value fits")

    def beside(self, name, kind=None):
        """A value that broadcasts with it, of the same type or of `kind`."""
        shape, kind = self.at(name).shape, kind or NAMES[self.at(name).dtype]
        found = [other for other, array in self.graph.values.items() if NAMES.get(array.dtype) == kind
                 and array.shape == shape]
        if found and self.chance(0.5):
            return self.pick(found)
        other = [1 if self.chance(0.3) else extent for extent in shape]
        return self.fresh(kind, tuple(other[self.between(0, len(other)) if self.chance(0.3) else 0:]))

    # Nodes.

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        """Adds a node and gives its outputs' names (one: the name). Raises Refused where ONNX Runtime does not compute
        it, or where its result is too large to go on from."""
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        names = [f"n{len(self.graph.nodes)}_{i}" for i in range(outputs)]
        made = helper.make_node(op, [name or "" for name in inputs], names, domain=domain,
                                name=f"{op}_{len(self.graph.nodes)}", **attributes)
        try:
            results = computed(self.graph.model([made], names), self.graph.values)
        except Refused as refusal:
            if self.hostile and refusal.when == "run":
                self.graph.nodes.append(made)
                self.graph.expects = "refusal"
            raise
        for result in results:
            if not isinstance(result, np.ndarray) or result.dtype not in NAMES or result.size > MOST_ELEMENTS:
                raise Refused("build", "a result of another type, or a large one")
            if result.dtype.kind in "fi" and result.dtype != np.int64 and not self.graph.special and result.size:
                if not np.abs(result.astype(np.float64)).max() <= MOST_MAGNITUDE:
                    raise Refused("build", "a large number, or none")
        self.graph.nodes.append(made)
        self.graph.values.update(zip(names, results))
        return names[0] if outputs == 1 else names
