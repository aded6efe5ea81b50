# SPDX-License-Identifier: Apache-2.0
"""NumPy with a network of affine layers, as R17 wrote them: for bench/network_peer.py."""

import numpy as np


def softmax(x, axis):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# ONNX's operators of R17's networks, as functions of (inputs, attributes).
OPERATORS = {
    "MatMul": lambda v, a: v[0] @ v[1],
    "Add": lambda v, a: v[0] + v[1],
    "Relu": lambda v, a: np.maximum(v[0], np.float32(0)),
    "Sigmoid": lambda v, a: 1 / (1 + np.exp(-v[0])),
    "Softmax": lambda v, a: softmax(v[0], a.get("axis", -1)),
}


class NumPy:
    """Its products are those of the BLAS that NumPy comes with, on as many threads as that takes by itself."""

    def __init__(self, options, shape_of):
        import onnx
        import onnx.numpy_helper
        graph = onnx.load(options.model).graph
        absent = sorted({node.op_type for node in graph.node} - set(OPERATORS))
        if absent:
            raise SystemExit(f"network_peer: not written for NumPy: {', '.join(absent)}")
        self.constants = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
        entry = next(one for one in graph.input if one.name not in self.constants)
        dims = [d.dim_value for d in entry.type.tensor_type.shape.dim]
        shape = shape_of(dims, options.batch, options.extent)
        self.input = entry.name, np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        self.nodes = [(OPERATORS[node.op_type], list(node.input), node.output[0],
                       {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}) for node in graph.node]
        self.output = graph.output[0].name
        self.version = f"NumPy {np.__version__}"

    def run(self):
        values = {**self.constants, self.input[0]: self.input[1]}
        for function, inputs, output, attributes in self.nodes:
            values[output] = function([values[name] for name in inputs], attributes)
        return values[self.output]
