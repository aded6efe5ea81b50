#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fuzz/corpus anew: small files of each kind, with which fuzzing begins. Equal at every run.

Usage: tests/fuzz/make_corpus.py"""

import ctypes
import gzip
import io
import json
import pathlib
import shutil
import struct
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CORPUS = pathlib.Path(__file__).parent / "corpus"
ROOT = CORPUS.parents[2]


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    # What ends so is text to no check of the repository.
    if not name.endswith((".npy", ".npz", ".png", ".jpg", ".gz")):
        name += ".bin"
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def png(width, height, kind, row, interlaced=0):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, interlaced)
    palette = chunk(b"PLTE", bytes(range(48))) if kind == 3 else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for _ in range(height)), 9)) + chunk(b"IEND", b""))


def jpeg(width, height, channels, flags=0):
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    packed, size = ctypes.c_void_p(), ctypes.c_ulong()
    pixels = bytes(i * 7 % 256 for i in range(width * height * channels))
    grey, rgb, half = 6, 0, 2
    turbo.tjCompress2(ctypes.c_void_p(turbo.tjInitCompress()), pixels, width, 0, height, grey if channels == 1 else rgb,
                      ctypes.byref(packed), ctypes.byref(size), 3 if channels == 1 else half, 80, flags)
    return ctypes.string_at(packed, size.value)


def model(name, nodes, inputs, outputs, weights=(), domains=(("", 13),)):
    def port(name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(nodes, "g", [port(*i) for i in inputs], [port(*o) for o in outputs],
                              [numpy_helper.from_array(value, name) for name, value in weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid(*d) for d in domains], producer_name="")
    made.ir_version = 8
    return made.SerializeToString()


def ramp(*shape):
    return (np.arange(np.prod(shape), dtype=np.float32) % 5 - 2).reshape(shape)


def arrays():
    for kind in ("<f4", "<i8", "|u1", "<f2", "|b1"):
        write("npy", kind[1:] + ".npy", npy(np.ones((2, 3), kind)))
    write("npy", "fortran.npy", npy(np.asfortranarray(ramp(3, 2)), (2, 0)))
    write("npy", "scalar.npy", npy(np.float32(1), (3, 0)))
    for name, save in (("stored", np.savez), ("packed", np.savez_compressed)):
        file = io.BytesIO()
        save(file, x=ramp(2, 3), y=np.arange(3))
        # The date within is that of the file.
        write("npz", name + ".npz", file.getvalue())
    for name, dims in (("images", (2, 3, 4)), ("labels", (6,))):
        head = struct.pack(">BBBB", 0, 0, 8, len(dims)) + b"".join(struct.pack(">I", d) for d in dims)
        write("idx", name, head + bytes(int(np.prod(dims))))
    write("idx", "packed.gz", gzip.compress(head + bytes(6), mtime=0))


def safetensors():
    def file(header, content):
        text = json.dumps(header, separators=(",", ":")).encode()
        return struct.pack("<Q", len(text)) + text + content
    one = {"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}
    write("safetensors", "one", file(one, bytes(16)))
    write("safetensors", "texts", file({"__metadata__": {"a": "b"}, **one,
                                       "h": {"dtype": "F16", "shape": [], "data_offsets": [16, 18]}}, bytes(18)))
    write("safetensors", "empty", file({"e": {"dtype": "I64", "shape": [0], "data_offsets": [0, 0]}}, b""))
    facts = {"format": "morton checkpoint 1", "digest": "0" * 32, "step": "12", "rate": "0.5", "parameters": '["w"]'}
    write("checkpoint", "facts", file({"__metadata__": facts, **one}, bytes(16)))


def pictures():
    for name, content in (("grey.png", png(3, 2, 0, b"\1\2\3")), ("rgb.png", png(2, 2, 2, bytes(6))),
                          ("palette.png", png(2, 2, 3, b"\1\2")), ("alpha.png", png(2, 2, 6, bytes(8)))):
        write("pictures", name, content)
    progressive = 16384
    exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    colour = jpeg(17, 9, 3)
    write("pictures", "grey.jpg", jpeg(8, 8, 1))
    write("pictures", "turned.jpg", colour[:2] + exif + colour[2:])
    write("pictures", "progressive.jpg", jpeg(9, 8, 3, progressive))


def texts():
    write("labels", "lines", "zero\none\r\nzwölf\n\n\x1b[31mred\n")
    for i, text in enumerate(("8MiB", "200ms", "1x3x224x224", "input:1x3x8x8,y:2", "gemm=gemm.naive",
                              "gemm.tile:TILE_M=8,TILE_N=4", "cosine:warmup=5,least=0.01", "plateau:patience=3,factor=0.5",
                              "step:every=10steps,factor=0.1", "flip=0.5,shift=2", "C_4_2_C", "NCHW4c",
                              "min(N, 4) * ceil_div(C, 4) + H % 2")):
        write("options", f"{i:02}", text)
    mark = "\n===\n"
    net = json.dumps({"layers": [{"layer": "AffineLayer", "weights": "w.json", "biases": "b.json"},
                                 {"layer": "SigmoidLayer"}], "size": 2})
    write("r17", "affine", mark.join((
        net, '{"rows": 2, "cols": 3, "data_type": "csv", "file": "w.csv"}', "1,2,3\n4,5e-1,-6\n",
        '{"rows": 2, "cols": 1, "data_type": "binary", "file": "b.bin"}', "\0" * 8)))
    write("catalogue", "library", json.dumps({"sources": [{
        "codename": "blocked", "function": "f", "source": "lib.cl", "restrictions": {
            "flop": 2, "arglist": "lh", "scale": {"rows": 1, "cols": 4},
            "a": {"representation": "R", "colAlign": 4, "rowAlign": 4},
            "b": {"representation": "C_4_4_C", "colAlign": 4, "rowAlign": 4},
            "r": {"representation": "C_4_4_C", "colAlign": 4, "rowAlign": 4}}}]}) +
        "\n=== source\nkernel void f(uint l, uint h, global float* a) {}\n")


def tuning():
    shipped = json.loads((ROOT / "src/kernels/tuned/pocl_x86_64.json").read_text())
    shipped["records"] = shipped["records"][:2]
    write("tuning", "shipped", json.dumps(shipped))


def tensors():
    for kind in (np.float32, np.int64, np.uint8, np.float16, np.bool_):
        write("tensor_proto", kind.__name__, numpy_helper.from_array(np.ones((2, 2), kind), "t").SerializeToString())
    typed = helper.make_tensor("t", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    write("tensor_proto", "typed", typed.SerializeToString())
    both = helper.make_sequence("s", 1, [typed, typed]) if hasattr(helper, "make_sequence") else None
    if both is not None:
        write("tensor_proto", "list", both.SerializeToString())


def models():
    node, x = helper.make_node, [("x", ["N", 2, 6, 6])]
    layers = [node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
              node("Relu", ["c"], ["r"]), node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2]),
              node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "v", "b"], ["g"], transB=1), node("Softmax", ["g"], ["y"])]
    write("onnx", "layers", model("layers", layers, x, [("y", ["N", 4])],
                                  [("w", ramp(3, 2, 3, 3)), ("v", ramp(4, 12)), ("b", ramp(4))]))
    shapes = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "a", "e"], ["t"]), node("Concat", ["t", "m"], ["n"], axis=0),
              node("Reshape", ["x", "n"], ["r"]), node("Transpose", ["r"], ["q"], perm=[1, 0]),
              node("ReduceMean", ["q"], ["y"], axes=[0], keepdims=0)]
    write("onnx", "shapes", model("shapes", shapes, x, [("y", ["N"])],
                                  [(n, np.array(v, np.int64)) for n, v in (("a", [0]), ("e", [1]), ("m", [-1]))]))
    body = helper.make_graph([node("Add", ["v", "v"], ["w"]), node("Identity", ["c"], ["d"])], "body",
                             [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                              helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("v", TensorProto.FLOAT, [2])],
                             [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("w", TensorProto.FLOAT, [2])])
    write("onnx", "loop", model("loop", [node("Loop", ["k", "", "x"], ["y"], body=body)], [("x", [2])], [("y", [2])],
                                [("k", np.array(3, np.int64))]))
    codes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             node("MatMul", ["d", "w"], ["y"])]
    write("onnx", "codes", model("codes", codes, [("x", [2, 3])], [("y", [2, 2])],
                                 [("s", np.float32(0.1)), ("z", np.uint8(3)), ("w", ramp(3, 2))]))
    picks = [node("TopK", ["x", "k"], ["v", "i"]), node("Gather", ["v", "n"], ["g"], axis=1), node("NonZero", ["g"], ["z"]),
             node("Cast", ["z"], ["y"], to=1)]
    write("onnx", "picks", model("picks", picks, [("x", [2, 5])], [("y", [2, "M"])],
                                 [("k", np.array([3], np.int64)), ("n", np.array([1, 0], np.int64))]))
    twice = helper.make_function("local", "Twice", ["a"], ["c"], [node("Add", ["a", "a"], ["c"])], [helper.make_opsetid("", 13)])
    made = onnx.ModelProto.FromString(model("functions", [node("Twice", ["x"], ["y"], domain="local")], [("x", [2])],
                                            [("y", [2])], domains=(("", 13), ("local", 1))))
    made.functions.append(twice)
    write("onnx", "functions", made.SerializeToString())
    write("onnx", "recurrent", model("recurrent", [node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2)],
                                     [("x", [3, 1, 2])], [("y", [3, 1, 1, 2])], [("w", ramp(1, 8, 2)), ("r", ramp(1, 8, 2))]))


def external_data():
    def tensor(name, offset, location="weights.bin"):
        made = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[2, 4], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", location), ("offset", str(offset)), ("length", "32")):
            made.external_data.add(key=key, value=value)
        return made
    node = helper.make_node
    made = onnx.ModelProto.FromString(model("external", [node("Add", ["x", "a"], ["s"]), node("Mul", ["s", "b"], ["y"])],
                                            [("x", [2, 4])], [("y", [2, 4])]))
    made.graph.initializer.extend([tensor("a", 0), tensor("b", 64, "part/more.bin")])
    write("external_data", "two_files", made.SerializeToString())
    made.graph.initializer[1].external_data[0].value = "link.bin"
    write("external_data", "link", made.SerializeToString())


def data_sets():
    mark = b"\n===\n"
    head = struct.pack(">IIII", 0x803, 2, 3, 4)
    write("dataset", "idx", b"i" + head + bytes(24) + mark + struct.pack(">II", 0x801, 2) + b"\0\1")
    names = "".join(f"class {i}\n" for i in range(10)).encode()
    write("dataset", "cifar", b"c" + names + mark + b"\3" + bytes(3072))
    file = io.BytesIO()
    np.savez(file, x=np.zeros((2, 1, 2, 2), np.uint8), y=np.array([0, 1]))
    write("dataset", "arrays", b"z" + file.getvalue())
    rgb = png(2, 2, 2, bytes(6))
    write("dataset", "pictures", b"p" + rgb + mark + jpeg(2, 2, 3) + mark + rgb)


def logs():
    columns = "step,epoch,loss,accuracy,validation_loss,validation_accuracy,learning_rate,images_per_second,seconds\n"
    lines = "".join(f"{i},1,0.5,,,,0.1,20.0,{i}.000\n" for i in (6, 7, 8))
    objects = "".join('{"step":%d,"epoch":1,"loss":0.5}\n' % i for i in (6, 7, 8))
    write("training_log", "both", columns + lines + "\n===\n" + objects)
    write("training_log", "cut", columns + lines[:20] + "\n===\n" + objects[:40])


def trees():
    ml = (("", 13), ("ai.onnx.ml", 3))
    shape = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                 nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.5, 0.0, 0.0], nodes_truenodeids=[1, 0, 0],
                 nodes_falsenodeids=[2, 0, 0], nodes_hitrates=[1.0, 1.0, 1.0], nodes_missing_value_tracks_true=[0, 0, 0])
    regressor = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, target_treeids=[0, 0],
                                 target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, -1.0], **shape)
    write("trees", "regressor", model("t", [regressor], [("x", ["N", 2])], [("y", ["N", 1])], domains=ml))
    classifier = helper.make_node("TreeEnsembleClassifier", ["x"], ["l", "s"], domain="ai.onnx.ml", class_treeids=[0, 0],
                                  class_nodeids=[1, 2], class_ids=[0, 1], class_weights=[1.0, 1.0],
                                  classlabels_int64s=[3, 7], post_transform="SOFTMAX", **shape)
    write("trees", "classifier", model("t", [classifier], [("x", ["N", 2])],
                                       [("l", ["N"], TensorProto.INT64), ("s", ["N", 2])], domains=ml))
    svm = helper.make_node("SVMClassifier", ["x"], ["l", "s"], domain="ai.onnx.ml", coefficients=[1.0, -1.0],
                           kernel_params=[0.5, 0.0, 3.0], kernel_type="RBF", rho=[0.1], support_vectors=[1.0, 0.0, 0.0, 1.0],
                           vectors_per_class=[1, 1], classlabels_ints=[0, 1])
    write("trees", "svm", model("t", [svm], [("x", ["N", 2])], [("l", ["N"], TensorProto.INT64), ("s", ["N", 2])], domains=ml))
    linear = helper.make_node("LinearClassifier", ["x"], ["l", "s"], domain="ai.onnx.ml", coefficients=[1.0, 0.0, 0.0, 1.0],
                              intercepts=[0.0, 1.0], classlabels_strings=["a", "b"], post_transform="LOGISTIC")
    write("trees", "linear", model("t", [linear], [("x", ["N", 2])], [("l", ["N"], TensorProto.STRING), ("s", ["N", 2])],
                                   domains=ml))
    scaled = [helper.make_node("Scaler", ["x"], ["a"], domain="ai.onnx.ml", offset=[1.0, 0.0], scale=[2.0, 1.0]),
              helper.make_node("Normalizer", ["a"], ["y"], domain="ai.onnx.ml", norm="L2")]
    write("trees", "scaled", model("t", scaled, [("x", ["N", 2])], [("y", ["N", 2])], domains=ml))


def scripts():
    for target in ("plan", "compiled"):
        for i in range(4):
            write(target, f"edit_{i}", bytes((i, i * 7, i, 0, 0, 3, 0, 0, 0, 0)))


if __name__ == "__main__":
    shutil.rmtree(CORPUS, ignore_errors=True)
    for make in (arrays, safetensors, pictures, texts, tuning, tensors, models, external_data, data_sets, logs, trees,
                 scripts):
        make()
    files = [f for f in CORPUS.rglob("*") if f.is_file()]
    print(f"{len(files)} files, {sum(f.stat().st_size for f in files)} bytes")
