# SPDX-License-Identifier: Apache-2.0
"""What random graphs consist of: for each operator a function that adds a node of it to a Builder, with operands that
mostly fit. graph_builder.py leaves out what ONNX Runtime refuses."""

import numpy as np
from graph_builder import NAMES
from onnx import TensorProto, helper

OPERATORS = {}  # name -> (how often, function)
REALS = ("f32",)
WHOLE = ("i64", "i32")
ANY = ("f32", "i64", "i32", "bool", "u8", "i8", "f16")


def operator(*names, weight=1.0):
    """The function adds nodes of these operators. It is told the name where there are several."""
    def add(function):
        for name in names:
            chosen = (lambda b, name=name: function(b, name)) if len(names) > 1 else function
            OPERATORS[name] = (weight / len(names) ** 0.5, chosen)
        return function
    return add


def axis_of(b, name, least=0):
    """An axis of the value, counted from either end."""
    rank = b.at(name).ndim
    if rank <= least:
        return 0
    axis = b.between(least, rank - 1)
    return axis - rank if b.chance(0.4) else axis


def axes_of(b, name):
    rank = b.at(name).ndim
    axes = b.rng.permutation(rank)[:b.between(0, rank)]
    return [int(axis) - rank if b.chance(0.4) else int(axis) for axis in axes]


# Elementwise.

@operator("Abs", "Neg", "Sign", weight=2)
def _(b, op):
    b.node(op, [b.value(("f32", "i64", "i32"))])


@operator("Asinh", "Atan", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Reciprocal", "Round", "Sigmoid", "Sin", "Sinh",
          "Softplus", "Softsign", "Tan", "Tanh", "Relu", "HardSwish", "Mish", weight=7)
def _(b, op):
    b.node(op, [b.value(REALS)])


def within(b, low, high, least=0):
    """A value of reals between these."""
    return b.value(REALS, least, fits=lambda array: array.size == 0 or (array.min() >= low and array.max() <= high),
                   fresh=lambda shape: b.rng.uniform(low, high, shape).astype(np.float32))


@operator("Acos", "Asin", "Atanh", weight=1.5)
def _(b, op):
    b.node(op, [within(b, -0.99, 0.99)])


@operator("Log", "Sqrt", weight=1.5)
def _(b, op):
    b.node(op, [within(b, 0.01, 100)])


@operator("Acosh")
def _(b):
    b.node("Acosh", [within(b, 1, 50)])


@operator("Elu", "Selu", "Celu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", weight=3)
def _(b, op):
    given = {} if b.chance(0.4) else {"alpha": round(float(b.rng.uniform(0.05, 2)), 3)}
    b.node(op, [b.value(REALS)], **given)


@operator("Shrink")
def _(b):
    b.node("Shrink", [b.value(REALS)], lambd=round(float(b.rng.uniform(0, 1)), 2), bias=b.pick((0.0, 0.25)))


@operator("Gelu")
def _(b):
    b.node("Gelu", [b.value(REALS)], approximate=b.pick(("none", "tanh")))


@operator("IsInf", "IsNaN")
def _(b, op):
    b.node(op, [b.value(REALS)])


@operator("Identity")
def _(b):
    b.node("Identity", [b.value(ANY)])


@operator("Clip", weight=1.5)
def _(b):
    x = b.value(("f32", "i64", "i32", "i8", "u8"))
    dtype = b.at(x).dtype
    ends = sorted(b.numbers({"i": "i8", "u": "u8"}.get(dtype.kind, "f32"), (2,)).astype(dtype))
    low, high = (b.operand(np.asarray(end, dtype)) if b.chance(0.8) else None for end in ends)
    b.node("Clip", [x, low, high])


@operator("Add", "Sub", "Mul", "Div", weight=8)
def _(b, op):
    x = b.value(("f32", "f32", "i64", "i32"))
    y = b.beside(x)
    b.node(op, [x, y] if b.chance(0.7) else [y, x])


@operator("Min", "Max", weight=2)
def _(b, op):
    x = b.value(("f32", "i64", "i32", "u8"))
    b.node(op, [x] + [b.beside(x) for _ in range(b.between(0, 3))])


@operator("Sum", "Mean", weight=1.5)
def _(b, op):
    x = b.value(REALS)
    b.node(op, [x] + [b.beside(x) for _ in range(b.between(0, 3))])


@operator("Pow")
def _(b):
    x = b.value(("f32", "i32", "i64"))
    real = b.at(x).dtype.kind == "f"
    y = b.constant(np.asarray(b.pick((2, 3, 0, 1, 0.5, -1) if real else (0, 1, 2, 3)), b.at(x).dtype))
    if real and b.chance(0.3):  # whole numbers have no powers below 0
        y = b.beside(x)
    b.node("Pow", [x, y])


@operator("Mod")
def _(b):
    x = b.value(("f32", "i64", "i32"))
    b.node("Mod", [x, b.beside(x)], fmod=1 if b.at(x).dtype.kind == "f" or b.chance(0.5) else 0)


@operator("PRelu")
def _(b):
    x = b.value(REALS, 1)
    b.node("PRelu", [x, b.fresh("f32", tuple(1 if b.chance(0.5) else n for n in b.at(x).shape[1:]))])


@operator("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", weight=2.5)
def _(b, op):
    x = b.value(("f32", "i64", "i32"))
    b.node(op, [x, b.beside(x)])


@operator("And", "Or", "Xor", weight=1.5)
def _(b, op):
    x = b.value(("bool",))
    b.node(op, [x, b.beside(x)])


@operator("Not")
def _(b):
    b.node("Not", [b.value(("bool",))])


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot")
def _(b, op):
    x = b.value(("i32", "i64", "u8", "i8"))
    b.node(op, [x] if op == "BitwiseNot" else [x, b.beside(x)])


@operator("BitShift", weight=0.5)
def _(b):
    x = b.value(("u8",))
    shift = b.operand(b.rng.integers(0, 8, b.at(x).shape).astype(np.uint8))
    b.node("BitShift", [x, shift], direction=b.pick(("LEFT", "RIGHT")))


@operator("Where", weight=2)
def _(b):
    x = b.value(("f32", "i64", "i32", "bool", "u8"))
    b.node("Where", [b.beside(x, "bool"), x, b.beside(x)])


@operator("Cast", weight=3)
def _(b):
    x = b.value(("f32", "i64", "i32", "bool", "u8", "f16"))
    to = b.pick(("f32", "f32", "i64", "i32", "bool", "u8", "i8", "f16", "f64"))
    array = b.at(x)
    # Reals beyond the whole type are left open by ONNX.
    if array.dtype.kind == "f" and to in ("i64", "i32", "u8", "i8", "bool"):
        ends = (0, 255) if to == "u8" else (-128, 127)
        if not np.isfinite(array).all() or (array.size and (array.min() < ends[0] or array.max() > ends[1])):
            return
    numbers = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16, "i64": TensorProto.INT64,
               "i32": TensorProto.INT32, "bool": TensorProto.BOOL, "u8": TensorProto.UINT8, "i8": TensorProto.INT8}
    b.node("Cast", [x], to=numbers[to])


# Reductions.

@operator("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
          "ReduceLogSumExp", "ReduceSumSquare", weight=6)
def _(b, op):
    x = within(b, 0.01, 100) if op == "ReduceLogSum" else \
        b.value(("f32", "f32", "i64", "i32") if op in ("ReduceSum", "ReduceMax", "ReduceMin") else REALS,
                fits=lambda array: op != "ReduceMean" or array.size > 0)  # the mean of nothing is left open
    axes = axes_of(b, x)
    keep = {"keepdims": b.between(0, 1)}
    if b.graph.opset >= (13 if op == "ReduceSum" else 18):
        if b.chance(0.2):
            keep["noop_with_empty_axes"] = b.between(0, 1)
        b.node(op, [x, b.places(np.array(axes, np.int64)) if axes or b.chance(0.2) else None], **keep)
    else:
        b.node(op, [x], **keep, **({"axes": axes} if axes else {}))


@operator("ArgMax", "ArgMin", weight=2)
def _(b, op):
    x = b.value(("f32", "i32"), 1)
    b.node(op, [x], axis=axis_of(b, x), keepdims=b.between(0, 1), select_last_index=b.between(0, 1))


@operator("CumSum")
def _(b):
    x = b.value(("f32", "i64", "i32"), 1)
    b.node("CumSum", [x, b.places(np.asarray(axis_of(b, x), np.int64))], exclusive=b.between(0, 1), reverse=b.between(0, 1))


@operator("TopK")
def _(b):
    x = b.value(("f32", "f32", "i64", "i32"), 1, fits=lambda array: 0 not in array.shape)
    axis = axis_of(b, x)
    k = b.between(1, b.at(x).shape[axis])
    b.node("TopK", [x, b.places(np.array([k], np.int64))], 2, axis=axis, largest=b.between(0, 1), sorted=1)


# Movement.

@operator("Reshape", weight=3)
def _(b):
    x = b.value(ANY)
    left, shape = b.at(x).size, []
    for _ in range(b.between(0, 4)):
        divisors = [n for n in range(1, min(left, 20) + 1) if left % n == 0] or [1]
        shape.append(b.pick(divisors))
        left //= shape[-1] or 1
    shape.append(left)
    if b.chance(0.3):
        shape[b.between(0, len(shape) - 1)] = -1
    b.node("Reshape", [x, b.places(np.array(shape, np.int64))])


@operator("Transpose", weight=4)
def _(b):
    x = b.value(ANY)
    perm = [int(i) for i in b.rng.permutation(b.at(x).ndim)]
    b.node("Transpose", [x], **({"perm": perm} if perm and b.chance(0.9) else {}))


@operator("Flatten")
def _(b):
    x = b.value(ANY, 1)
    b.node("Flatten", [x], axis=axis_of(b, x))


@operator("Squeeze")
def _(b):
    x = b.value(ANY, 1, fits=lambda array: 1 in array.shape)
    ones = [i for i, n in enumerate(b.at(x).shape) if n == 1]
    axes = [int(i) for i in b.rng.permutation(ones)[:b.between(1, len(ones))]]
    b.node("Squeeze", [x, b.places(np.array(axes, np.int64)) if b.chance(0.8) else None])


@operator("Unsqueeze")
def _(b):
    x = b.value(ANY, 0, 4)
    rank = b.at(x).ndim + 1
    axis = b.between(0, rank - 1)
    b.node("Unsqueeze", [x, b.places(np.array([axis - rank if b.chance(0.4) else axis], np.int64))])


@operator("Concat", weight=3)
def _(b):
    x = b.value(ANY, 1)
    axis = axis_of(b, x)
    others = []
    for _ in range(b.between(0, 3)):
        shape = list(b.at(x).shape)
        shape[axis] = b.between(0 if b.chance(0.1) else 1, 5)
        same = [name for name, array in b.graph.values.items() if array.dtype == b.at(x).dtype
                and array.ndim == len(shape)
                and all(m == n for i, (m, n) in enumerate(zip(array.shape, shape)) if i != axis % len(shape))]
        others.append(b.pick(same) if b.chance(0.6) else b.fresh(kind_of(b, x), tuple(shape)))
    b.node("Concat", [x, *others] if b.chance(0.5) else [*others, x], axis=axis)


def kind_of(b, name):
    from graph_builder import NAMES
    return NAMES[b.at(name).dtype]


@operator("Split", weight=2)
def _(b):
    x = b.value(ANY, 1)
    axis = axis_of(b, x)
    length = b.at(x).shape[axis]
    parts = b.between(1, min(3, max(length, 1)))
    cuts = sorted(b.between(0, length) for _ in range(parts - 1))
    sizes = np.diff([0, *cuts, length]).astype(np.int64)
    if b.graph.opset >= 18 and b.chance(0.3):
        b.node("Split", [x], parts, axis=axis, num_outputs=parts)
    else:
        b.node("Split", [x, b.places(sizes)], parts, axis=axis)


@operator("Slice", weight=3)
def _(b):
    x = b.value(ANY, 1)
    shape = b.at(x).shape
    axes = [int(i) for i in b.rng.permutation(len(shape))[:b.between(1, len(shape))]]
    steps = [b.pick((1, 1, 1, 2, 3, -1, -2)) for _ in axes]
    starts, ends = [], []
    for axis, step in zip(axes, steps):
        begin, end = sorted((b.between(-1, shape[axis]), b.between(-1, shape[axis] + 2)))
        if step < 0:
            begin, end = end, begin
            if b.chance(0.3):
                end = -2**63 if b.chance(0.5) else -shape[axis] - 1
        elif b.chance(0.2):
            end = 2**63 - 1
        starts.append(begin)
        ends.append(end)
    whole = [b.places(np.array(part, np.int64)) for part in (starts, ends, axes, steps)]
    # ONNX Runtime takes the largest number for the beginning where a step goes backwards.
    if any(step < 0 and end >= 2**31 - 1 for step, end in zip(b.at(whole[3]), b.at(whole[1]))):
        return
    b.node("Slice", [x, *whole[:b.pick((3, 4, 4)) if axes != sorted(axes) or len(axes) < len(shape) else 4]])


@operator("Expand", weight=1.5)
def _(b):
    x = b.value(ANY, 0, 4)
    shape = [b.between(1, 4) if n == 1 else n for n in b.at(x).shape]
    if b.chance(0.3):
        shape.insert(0, b.between(1, 3))
    b.node("Expand", [x, b.places(np.array(shape, np.int64))])


@operator("Tile")
def _(b):
    x = b.value(ANY, 1, 4)
    b.node("Tile", [x, b.operand(np.array([b.pick((1, 1, 2, 3)) for _ in b.at(x).shape], np.int64))])


@operator("Pad", weight=2)
def _(b):
    x = b.value(("f32", "f32", "i64", "i32", "u8", "bool"), 1)
    mode = b.pick(("constant", "constant", "reflect", "edge") + (("wrap",) if b.graph.opset >= 19 else ()))
    shape = b.at(x).shape
    most = [2 if mode == "constant" else max(min(n - 1, 2), 0) for n in shape] * 2
    pads = [b.between(-1 if mode == "constant" and b.chance(0.3) else 0, top) for top in most]
    fill = None
    if mode == "constant" and b.chance(0.5):
        fill = b.operand(np.asarray(b.numbers(kind_of(b, x), ())))
    b.node("Pad", [x, b.operand(np.array(pads, np.int64)), fill], mode=mode)


def indices(b, shape, bound, kind="i64"):
    """Whole numbers from -bound to bound - 1, or from 0 on."""
    least = -bound if b.chance(0.4) else 0
    array = b.rng.integers(least, bound, shape) if bound > 0 else np.zeros(shape)
    return b.places(np.asarray(array, np.int64 if kind == "i64" else np.int32))


@operator("Gather", weight=2.5)
def _(b):
    x = b.value(ANY, 1)
    axis = axis_of(b, x)
    b.node("Gather", [x, indices(b, b.shape(0, 2), b.at(x).shape[axis], b.pick(("i64", "i32")))], axis=axis)


@operator("GatherElements", weight=1.5)
def _(b):
    x = b.value(ANY, 1)
    axis = axis_of(b, x)
    shape = [b.between(1, max(n, 1)) for n in b.at(x).shape]
    b.node("GatherElements", [x, indices(b, tuple(shape), b.at(x).shape[axis])], axis=axis)


def nd_indices(b, shape, depth):
    """Places in the first dimensions of a tensor of this shape."""
    ahead = b.shape(1, 2)[:2]
    array = np.stack([b.rng.integers(-n if b.chance(0.3) else 0, n, ahead) for n in shape[:depth]], -1)
    return array.astype(np.int64)


@operator("GatherND", weight=1.5)
def _(b):
    x = b.value(ANY, 1, fits=lambda array: 0 not in array.shape)
    shape = b.at(x).shape
    b.node("GatherND", [x, b.places(nd_indices(b, shape, b.between(1, len(shape))))])


@operator("ScatterND", weight=1.5)
def _(b):
    x = b.value(("f32", "f32", "i64", "i32"), 1, fits=lambda array: 0 not in array.shape)
    shape = b.at(x).shape
    depth = b.between(1, len(shape))
    places = nd_indices(b, shape, depth)
    how = b.pick(("none", "add", "mul", "max", "min")) if b.graph.opset >= 18 else "none"
    if how == "none":  # which of two updates of one place holds is left open
        _, first = np.unique((places % shape[:depth]).reshape(-1, depth), axis=0, return_index=True)
        places = places.reshape(-1, depth)[first]
    updates = b.fresh(kind_of(b, x), places.shape[:-1] + shape[depth:])
    b.node("ScatterND", [x, b.places(places), updates], **({"reduction": how} if b.graph.opset >= 16 else {}))


@operator("ScatterElements", weight=1.5)
def _(b):
    x = b.value(("f32", "f32", "i64", "i32"), 1, fits=lambda array: 0 not in array.shape)
    shape = b.at(x).shape
    axis = axis_of(b, x)
    small = [b.between(1, n) for n in shape]
    how = b.pick(("none", "add", "mul", "max", "min")) if b.graph.opset >= 18 else "none"
    places = b.rng.integers(0, shape[axis], small)
    if how == "none":
        places = np.argsort(b.rng.random(shape), axis)[tuple(slice(n) for n in small)]
    if b.chance(0.3):
        places = np.where(b.rng.random(places.shape) < 0.5, places - shape[axis], places)
    updates = b.fresh(kind_of(b, x), tuple(small))
    b.node("ScatterElements", [x, b.places(places.astype(np.int64)), updates], axis=axis,
           **({"reduction": how} if b.graph.opset >= 16 else {}))


@operator("DepthToSpace")
def _(b):
    size = b.between(2, 3)
    channels = size * size * b.between(1, 2)
    x = b.value(REALS, 4, 4, lambda array: array.shape[1] == channels) if b.chance(0.5) else \
        b.fresh("f32", (b.between(1, 2), channels, b.between(1, 4), b.between(1, 4)), 0)
    b.node("DepthToSpace", [x], blocksize=size, mode=b.pick(("DCR", "CRD")))


@operator("SpaceToDepth")
def _(b):
    size = b.between(2, 3)
    b.node("SpaceToDepth", [b.fresh("f32", (b.between(1, 2), b.between(1, 3), size * b.between(1, 3),
                                            size * b.between(1, 3)), 0)], blocksize=size)


@operator("Trilu")
def _(b):
    x = b.value(("f32", "i64", "bool"), 2)
    k = b.places(np.asarray(b.between(-3, 3), np.int64)) if b.chance(0.6) else None
    b.node("Trilu", [x, k], upper=b.between(0, 1))


@operator("OneHot")
def _(b):
    depth = b.between(1, 6)
    x = b.operand(b.rng.integers(-depth - 1, depth + 2, b.shape(1, 3)).astype(np.int64))
    values = b.operand(b.numbers(b.pick(("f32", "i64")), (2,)))
    b.node("OneHot", [x, b.operand(np.asarray(depth, np.int64)), values],
           axis=b.between(-1, b.at(x).ndim))


@operator("EyeLike", weight=0.5)
def _(b):
    b.node("EyeLike", [b.value(("f32", "i64"), 2, 2)], k=b.between(-2, 2))


@operator("Shape", "Size")
def _(b, op):
    b.node(op, [b.value(ANY)])


@operator("ConstantOfShape", weight=0.5)
def _(b):
    shape = b.operand(np.array(b.shape(0, 3), np.int64))
    value = np.asarray(b.numbers(b.pick(("f32", "i64", "i32", "bool")), (1,)))
    b.node("ConstantOfShape", [shape], value=helper.make_tensor(
        "value", helper.np_dtype_to_tensor_dtype(value.dtype), [1], value))


@operator("Range", weight=0.5)
def _(b):
    dtype = b.pick((np.int64, np.int32, np.float32))
    b.node("Range", [b.operand(np.asarray(n, dtype)) for n in (b.between(-3, 3), b.between(0, 12), b.pick((1, 2, 3, -1)))])


@operator("ReverseSequence", weight=0.7)
def _(b):
    x = b.value(("f32", "i64"), 2, fits=lambda array: 0 not in array.shape)
    batch = b.between(0, 1)
    shape = b.at(x).shape
    lengths = b.rng.integers(0, shape[1 - batch] + 1, shape[batch]).astype(np.int64)
    b.node("ReverseSequence", [x, b.places(lengths)], batch_axis=batch, time_axis=1 - batch)


@operator("CenterCropPad", weight=0.5)
def _(b):
    x = b.value(("f32", "i64"), 1, 4)
    axes = sorted(int(i) for i in b.rng.permutation(b.at(x).ndim)[:b.between(1, b.at(x).ndim)])
    b.node("CenterCropPad", [x, b.operand(np.array([b.between(1, 9) for _ in axes], np.int64))], axes=axes)


@operator("Resize", weight=2)
def _(b):
    x = planes(b, 2)
    rank = b.at(x).ndim
    mode = b.pick(("nearest", "nearest", "linear", "linear", "cubic"))
    given = {"mode": mode, "coordinate_transformation_mode": b.pick(
        ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))}
    if mode == "nearest":
        given["nearest_mode"] = b.pick(("round_prefer_floor", "floor", "ceil", "round_prefer_ceil"))
    if mode == "cubic":
        given["cubic_coeff_a"] = b.pick((-0.75, -0.5))
        given["exclude_outside"] = b.between(0, 1)
    if b.graph.opset >= 18 and mode != "nearest" and b.chance(0.3):
        given["antialias"] = 1
    if b.chance(0.5):
        b.node("Resize", [x, None, b.operand(np.array([1.0, 1.0] + [b.pick((0.5, 1.5, 2.0, 3.0, 1.0)) for _ in range(rank - 2)],
                                                      np.float32))], **given)
    else:
        sizes = list(b.at(x).shape[:2]) + [b.between(1, 12) for _ in range(rank - 2)]
        b.node("Resize", [x, None, None, b.operand(np.array(sizes, np.int64))], **given)


# Products, windows, normalisations.

def planes(b, dimensions=None, channels=None):
    """Pictures in channels: [N, C, ...]."""
    dimensions = dimensions or b.pick((1, 2, 2, 2, 3))
    fits = lambda array: 0 not in array.shape and (channels is None or array.shape[1] == channels)  # noqa: E731
    if b.chance(0.7):
        found = [name for name, array in b.graph.values.items() if array.dtype == np.float32
                 and array.ndim == dimensions + 2 and fits(array)]
        if found:
            return b.pick(found)
    sides = {1: (1, 40), 2: (1, 11), 3: (1, 6)}[dimensions]
    shape = (b.between(1, 3), channels or b.pick((1, 2, 3, 4, 6, 8)), *(b.between(*sides) for _ in range(dimensions)))
    return b.fresh("f32", shape, 0)


def window(b, sides, most=4):
    """Attributes of a window that moves over these sides."""
    size = [b.between(1, min(most, n + 1)) for n in sides]
    given = {"kernel_shape": size}
    if b.chance(0.5):
        given["strides"] = [b.between(1, 3) for _ in sides]
    way = b.rng.random()
    if way < 0.4:
        given["pads"] = [b.between(0, n - 1) for n in size * 2]
    elif way < 0.55:
        # ONNX Runtime pads by less than nothing where a window is smaller than its stride.
        same = all(n >= step for n, step in zip(size, given.get("strides", [1] * len(size))))
        given["auto_pad"] = b.pick(("SAME_UPPER", "SAME_LOWER", "VALID")) if same else "VALID"
    return given


@operator("Conv", weight=5)
def _(b):
    x = planes(b)
    shape = b.at(x).shape
    groups = b.pick([n for n in range(1, shape[1] + 1) if shape[1] % n == 0])
    filters = groups * b.between(1, 3)
    given = window(b, shape[2:])
    if b.chance(0.3):
        given["dilations"] = [b.between(1, 2) for _ in shape[2:]]
    w = b.fresh("f32", (filters, shape[1] // groups, *given["kernel_shape"]), 0.8)
    b.node("Conv", [x, w, b.fresh("f32", (filters,), 0.8) if b.chance(0.5) else None], group=groups, **given)


@operator("ConvTranspose", weight=2)
def _(b):
    x = planes(b)
    shape = b.at(x).shape
    groups = b.pick([n for n in range(1, shape[1] + 1) if shape[1] % n == 0])
    each = b.between(1, 2)
    given = window(b, shape[2:], 3)
    if b.chance(0.2):
        given["dilations"] = [b.between(1, 2) for _ in shape[2:]]
    if "strides" in given and b.chance(0.3):
        given["output_padding"] = [b.between(0, n - 1) for n in given["strides"]]
    w = b.fresh("f32", (shape[1], each, *given["kernel_shape"]), 0.8)
    b.node("ConvTranspose", [x, w, b.fresh("f32", (groups * each,), 0.8) if b.chance(0.5) else None], group=groups, **given)


@operator("MaxPool", "AveragePool", "LpPool", weight=4)
def _(b, op):
    x = planes(b)
    given = window(b, b.at(x).shape[2:])
    if b.chance(0.25):
        given["ceil_mode"] = 1
    if op == "AveragePool":
        given["count_include_pad"] = b.between(0, 1)
    if op == "LpPool":
        given["p"] = b.between(1, 3)
    # ONNX Runtime places windows with gaps by auto_pad as if they had none.
    if b.chance(0.2) and "auto_pad" not in given and (op == "MaxPool" or b.graph.opset >= 19):
        given["dilations"] = [b.between(1, 2) for _ in given["kernel_shape"]]
    outputs = 2 if op == "MaxPool" and b.chance(0.2) else 1
    b.node(op, [x], outputs, **given)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", weight=1.5)
def _(b, op):
    b.node(op, [planes(b)])


@operator("MatMul", weight=4)
def _(b):
    x = b.value(("f32", "f32", "f32", "i32"), 1, 4, lambda array: 0 not in array.shape)
    shape = b.at(x).shape
    ahead = [1 if b.chance(0.3) else n for n in shape[:-2]]
    y = b.fresh(kind_of(b, x), (*ahead[b.between(0, len(ahead)):], shape[-1], b.pick((1, 2, 3, 5, 8, 16, 17))) if b.chance(0.9)
                else (shape[-1],))
    b.node("MatMul", [x, y])


@operator("Gemm", weight=3)
def _(b):
    x = b.value(REALS, 2, 2, lambda array: 0 not in array.shape)
    given = {"transA": b.between(0, 1), "transB": b.between(0, 1)}
    if b.chance(0.4):
        given["alpha"], given["beta"] = b.pick((1.0, 0.5, -2.0)), b.pick((1.0, 0.25, 2.0))
    m, k = b.at(x).shape[::-1] if given["transA"] else b.at(x).shape
    n = b.pick((1, 2, 3, 7, 10, 16))
    y = b.fresh("f32", (n, k) if given["transB"] else (k, n), 0.8)
    c = b.fresh("f32", b.pick(((), (n,), (1, n), (m, 1), (m, n))), 0.8) if b.chance(0.7) else None
    b.node("Gemm", [x, y, c], **given)


@operator("Einsum", weight=1.5)
def _(b):
    size = {letter: b.between(1, 5) for letter in "bijk"}
    equation = b.pick(("ij,jk->ik", "bij,bjk->bik", "ij,ij->ij", "ij->ji", "ij->i", "bij,bkj->bik", "i,j->ij", "ii->i",
                       "ij,j", "bij->bi", "ij,jk,ki->i"))
    shapes = [tuple(size[letter] for letter in part) for part in equation.split("->")[0].split(",")]
    b.node("Einsum", [b.fresh("f32", shape, 0.3) for shape in shapes], equation=equation)


@operator("BatchNormalization", weight=2)
def _(b):
    x = planes(b)
    channels = (b.at(x).shape[1],)
    parts = [b.fresh("f32", channels, 0.9) for _ in range(3)]
    parts.append(b.given(b.rng.uniform(0.1, 3, channels).astype(np.float32), b.chance(0.9)))
    b.node("BatchNormalization", [x, *parts], epsilon=b.pick((1e-5, 1e-3)))


@operator("InstanceNormalization")
def _(b):
    x = planes(b)
    channels = (b.at(x).shape[1],)
    b.node("InstanceNormalization", [x, b.fresh("f32", channels), b.fresh("f32", channels)], epsilon=b.pick((1e-5, 1e-2)))


@operator("LayerNormalization", weight=2)
def _(b):
    if b.graph.opset < 17:
        return
    x = b.value(REALS, 1, fits=lambda array: 0 not in array.shape)
    axis = axis_of(b, x)
    shape = b.at(x).shape[axis:]
    b.node("LayerNormalization", [x, b.fresh("f32", shape), b.fresh("f32", shape) if b.chance(0.7) else None], axis=axis)


@operator("RMSNormalization")
def _(b):
    x = b.value(REALS, 1, fits=lambda array: 0 not in array.shape)
    axis = axis_of(b, x)
    b.node("RMSNormalization", [x, b.fresh("f32", b.at(x).shape[axis:])], axis=axis)


@operator("GroupNormalization")
def _(b):
    x = planes(b)
    channels = b.at(x).shape[1]
    groups = b.pick([n for n in range(1, channels + 1) if channels % n == 0])
    count = (channels if b.graph.opset >= 21 else groups,)
    b.node("GroupNormalization", [x, b.fresh("f32", count), b.fresh("f32", count)], num_groups=groups)


@operator("LRN")
def _(b):
    b.node("LRN", [planes(b, 2)], size=b.pick((1, 3, 5)), alpha=b.pick((1e-4, 0.5)), beta=b.pick((0.75, 0.5)), bias=b.pick((1.0, 2.0)))


@operator("LpNormalization")
def _(b):
    x = b.value(REALS, 1, fits=lambda array: 0 not in array.shape)
    b.node("LpNormalization", [x], axis=axis_of(b, x), p=b.between(1, 2))


@operator("MeanVarianceNormalization", weight=0.5)
def _(b):
    b.node("MeanVarianceNormalization", [planes(b, 2)])


@operator("Softmax", "LogSoftmax", "Hardmax", weight=3)
def _(b, op):
    x = b.value(REALS, 1, fits=lambda array: 0 not in array.shape)
    b.node(op, [x], axis=axis_of(b, x))


@operator("Dropout", weight=0.5)
def _(b):
    b.node("Dropout", [b.value(REALS)], b.between(1, 2))


@operator("LSTM", "GRU", "RNN", weight=2)
def _(b, op):
    length, batch, size, hidden = b.between(1, 5), b.between(1, 3), b.between(1, 6), b.between(1, 6)
    direction = b.pick(("forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    given = {"hidden_size": hidden, "direction": direction}
    if op == "GRU" and b.chance(0.5):
        given["linear_before_reset"] = 1
    inputs = [b.fresh("f32", (length, batch, size), 0), b.fresh("f32", (ways, gates * hidden, size), 0.9),
              b.fresh("f32", (ways, gates * hidden, hidden), 0.9)]
    inputs.append(b.fresh("f32", (ways, 2 * gates * hidden), 0.9) if b.chance(0.6) else None)
    inputs.append(b.operand(b.rng.integers(1, length + 1, batch).astype(np.int32)) if b.chance(0.3) else None)
    inputs.append(b.fresh("f32", (ways, batch, hidden)) if b.chance(0.4) else None)
    if op == "LSTM" and b.chance(0.3):
        inputs.append(b.fresh("f32", (ways, batch, hidden)))
    b.node(op, inputs, 3 if op == "LSTM" else 2, **given)


@operator("GridSample")
def _(b):
    x = planes(b, 2)
    n = b.at(x).shape[0]
    grid = b.operand(b.rng.uniform(-1.2, 1.2, (n, b.between(1, 4), b.between(1, 4), 2)).astype(np.float32))
    modes = ("linear", "nearest") if b.graph.opset >= 20 else ("bilinear", "nearest")
    b.node("GridSample", [x, grid], mode=b.pick(modes), padding_mode=b.pick(("zeros", "border", "reflection")),
           align_corners=b.between(0, 1))


@operator("Det", weight=0.3)
def _(b):
    n = b.between(1, 3)
    b.node("Det", [b.fresh("f32", (*b.shape(0, 1), n, n), 0)])


@operator("NonZero")
def _(b):
    b.node("NonZero", [b.value(("f32", "i64", "bool"), 1)])


@operator("Compress")
def _(b):
    x = b.value(("f32", "i64"), 1, fits=lambda array: 0 not in array.shape)
    axis = axis_of(b, x)
    b.node("Compress", [x, b.fresh("bool", (b.at(x).shape[axis],))], axis=axis)


@operator("Unique", weight=0.5)
def _(b):
    x = b.value(("i64", "f32"), 1, 1)
    b.node("Unique", [x], b.between(1, 4), sorted=1)


@operator("NonMaxSuppression", weight=0.5)
def _(b):
    boxes = np.sort(b.rng.uniform(0, 1, (1, b.between(1, 12), 2, 2)), 2).reshape(1, -1, 4).astype(np.float32)
    scores = b.rng.permutation(boxes.shape[1]).astype(np.float32).reshape(1, 1, -1)
    b.node("NonMaxSuppression", [b.operand(boxes, 0.2), b.operand(scores, 0.2), b.operand(np.array(b.between(1, 9), np.int64)),
                                 b.operand(np.array(0.5, np.float32)), b.operand(np.array(1.5, np.float32))])


# Quantised.

def scale_of(b, shape=()):
    return b.operand(b.rng.choice((0.0625, 0.125, 0.05, 0.1, 0.02), shape).astype(np.float32), 0.9)


def zero_of(b, kind, shape=()):
    return b.operand(b.numbers(kind, shape) // 4 if kind == "i8" else b.numbers(kind, shape), 0.9)


@operator("QuantizeLinear", weight=2)
def _(b):
    x = b.value(REALS)
    kind = b.pick(("u8", "i8"))
    axis, shape = 0, ()
    if b.at(x).ndim > 0 and b.chance(0.4):
        axis = axis_of(b, x)
        shape = (b.at(x).shape[axis],)
    zero = zero_of(b, kind, shape) if b.chance(0.7) or shape else None
    b.node("QuantizeLinear", [x, scale_of(b, shape), zero], axis=axis)


@operator("DequantizeLinear", weight=2)
def _(b):
    x = b.value(("u8", "i8"))
    axis, shape = 0, ()
    if b.at(x).ndim > 0 and b.chance(0.4):
        axis = axis_of(b, x)
        shape = (b.at(x).shape[axis],)
    b.node("DequantizeLinear", [x, scale_of(b, shape), zero_of(b, kind_of(b, x), shape) if b.chance(0.7) else None], axis=axis)


@operator("DynamicQuantizeLinear")
def _(b):
    b.node("DynamicQuantizeLinear", [b.value(REALS, fits=lambda array: array.size > 0 and np.isfinite(array).all())], 3)


def right_codes(b, left, kind, shape):
    """Of a product of codes. On processors without VNNI ONNX Runtime adds up u8 by i8 in 16 bits, which i8 of 7 bits fit."""
    codes = b.numbers(kind, shape)
    return b.operand(codes // 2 if left == "u8" and kind == "i8" else codes, 0.8)


@operator("MatMulInteger", weight=1.5)
def _(b):
    x = b.value(("u8", "i8"), 2, 3, lambda array: 0 not in array.shape)
    kind = b.pick(("u8", "i8"))
    y = right_codes(b, kind_of(b, x), kind, (b.at(x).shape[-1], b.pick((1, 3, 8, 17))))
    zeros = [zero_of(b, kind_of(b, x)) if b.chance(0.6) else None, zero_of(b, kind) if b.chance(0.5) else None]
    b.node("MatMulInteger", [x, y, *zeros])


@operator("QLinearMatMul")
def _(b):
    x = b.value(("u8", "i8"), 2, 3, lambda array: 0 not in array.shape)
    kind = kind_of(b, x)
    y = b.fresh(kind, (b.at(x).shape[-1], b.pick((1, 3, 8, 17))), 0.8)
    b.node("QLinearMatMul", [x, scale_of(b), zero_of(b, kind), y, scale_of(b), zero_of(b, kind), scale_of(b), zero_of(b, kind)])


def coded_planes(b, kind):
    return b.fresh(kind, (b.between(1, 2), b.pick((1, 2, 4)), b.between(2, 8), b.between(2, 8)), 0)


@operator("ConvInteger")
def _(b):
    x = coded_planes(b, "u8")
    given = window(b, b.at(x).shape[2:], 3)
    w = b.fresh("u8", (b.between(1, 4), b.at(x).shape[1], *given["kernel_shape"]), 0.9)
    b.node("ConvInteger", [x, w, zero_of(b, "u8") if b.chance(0.6) else None, zero_of(b, "u8") if b.chance(0.4) else None], **given)


@operator("QLinearConv", weight=1.5)
def _(b):
    kind = b.pick(("u8", "i8"))
    x = coded_planes(b, kind)
    given = window(b, b.at(x).shape[2:], 3)
    filters = b.between(1, 4)
    w = b.fresh(kind, (filters, b.at(x).shape[1], *given["kernel_shape"]), 0.9)
    bias = b.operand(b.rng.integers(-500, 500, filters).astype(np.int32), 1) if b.chance(0.5) else None
    b.node("QLinearConv", [x, scale_of(b), zero_of(b, kind), w, scale_of(b), zero_of(b, kind), scale_of(b), zero_of(b, kind), bias],
           **given)


# ONNX Runtime's own.

@operator("com.microsoft.Gelu", "com.microsoft.QuickGelu", "com.microsoft.BiasGelu", "com.microsoft.FastGelu")
def _(b, op):
    op = op.rsplit(".", 1)[1]
    # ONNX Runtime's sigmoid is 1.4e-7 off, which large numbers multiply.
    x = within(b, -2, 2, 1)
    bias = [b.fresh("f32", b.at(x).shape[-1:])] if op == "BiasGelu" or (op == "FastGelu" and b.chance(0.5)) else []
    b.node(op, [x, *bias], domain="com.microsoft")


@operator("com.microsoft.FusedMatMul")
def _(b):
    x = b.value(REALS, 2, 3, lambda array: 0 not in array.shape)
    given = {"transA": b.between(0, 1), "transB": b.between(0, 1), "alpha": b.pick((1.0, 0.5))}
    shape = b.at(x).shape
    k, n = shape[-2] if given["transA"] else shape[-1], b.between(1, 8)
    b.node("FusedMatMul", [x, b.fresh("f32", shape[:-2] + ((n, k) if given["transB"] else (k, n)))], domain="com.microsoft", **given)


@operator("com.microsoft.SkipLayerNormalization")
def _(b):
    x = b.value(REALS, 3, 3, lambda array: 0 not in array.shape)
    shape = b.at(x).shape
    b.node("SkipLayerNormalization", [x, b.fresh("f32", shape, 0), b.fresh("f32", shape[-1:]), b.fresh("f32", shape[-1:])],
           domain="com.microsoft", epsilon=1e-5)
