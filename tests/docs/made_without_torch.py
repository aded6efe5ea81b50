# SPDX-License-Identifier: Apache-2.0
"""Writes net.onnx and known.npz as docs/tutorials/from_pytorch_to_a_board.md exports them from PyTorch, with the
same layers and names, where there is no PyTorch. What PyTorch makes of the input is computed by NumPy."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

random = np.random.default_rng(1)
shapes = {"0.weight": (16, 3, 3, 3), "0.bias": (16,), "4.weight": (32, 16, 3, 3), "4.bias": (32,),
          "8.weight": (10, 32), "8.bias": (10,)}
values = {name: random.normal(0.0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
image = random.uniform(0.0, 1.0, (1, 3, 64, 64)).astype(np.float32)

nodes = [helper.make_node("Conv", ["image", "0.weight", "0.bias"], ["conv"], name="/0/Conv", pads=[1, 1, 1, 1]),
         helper.make_node("Relu", ["conv"], ["relu"], name="/2/Relu"),
         helper.make_node("MaxPool", ["relu"], ["pool"], name="/3/MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
         helper.make_node("Conv", ["pool", "4.weight", "4.bias"], ["conv2"], name="/4/Conv", pads=[1, 1, 1, 1]),
         helper.make_node("Relu", ["conv2"], ["relu2"], name="/5/Relu"),
         helper.make_node("GlobalAveragePool", ["relu2"], ["mean"], name="/6/GlobalAveragePool"),
         helper.make_node("Flatten", ["mean"], ["flat"], name="/7/Flatten"),
         helper.make_node("Gemm", ["flat", "8.weight", "8.bias"], ["logits"], name="/8/Gemm", transB=1),
         helper.make_node("Softmax", ["logits"], ["scores"], name="/9/Softmax", axis=1)]
graph = helper.make_graph(
    nodes, "torch_jit",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 64, 64])],
    [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])],
    [numpy_helper.from_array(value, name) for name, value in values.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 7
save(model, "net.onnx")


def conv(x, name):
    """A convolution of 3x3 with a border of one, and Relu."""
    weights, bias = values[f"{name}.weight"].astype(np.float64), values[f"{name}.bias"]
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    height, width = x.shape[1:]
    windows = np.stack([padded[:, i:i + height, j:j + width] for i in range(3) for j in range(3)])
    sums = np.einsum("oct,tchw->ohw", weights.reshape(*weights.shape[:2], 9), windows)
    return np.maximum(sums + bias[:, None, None], 0.0)


x = conv(image[0].astype(np.float64), "0")
x = x.reshape(16, 32, 2, 32, 2).max((2, 4))
x = conv(x, "4").mean((1, 2))
logits = values["8.weight"] @ x + values["8.bias"]
scores = np.exp(logits - logits.max())
np.savez("known.npz", image=image, scores=(scores / scores.sum()).astype(np.float32)[None])
