// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/rotation.hpp"

#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// a * c - b * s, or a * s + b * c.
TensorId turned(GraphWriter& writer, TensorId a, TensorId b, TensorId by_a, TensorId by_b,
                ScalarOp joined) {
  Chain chain;
  chain.input_count = 4;
  const ScalarRef first = chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(2)});
  const ScalarRef second = chain.append(ScalarOp::mul, {ScalarRef::input(1), ScalarRef::input(3)});
  chain.append(joined, {first, second});
  return writer.chain(chain, {a, b, by_a, by_b});
}

}  // namespace

TensorId rotated(GraphWriter& writer, TensorId x, const Rotation& rotation) {
  const Shape shape = writer.shape_of(x);
  const std::size_t last = shape.size() - 1;
  const std::int64_t half = writer.shape_of(rotation.cosine).back();
  const auto concat = [&](const std::vector<TensorId>& parts, std::size_t axis) {
    return writer.add("Concat", parts, {{"axis", static_cast<std::int64_t>(axis)}});
  };
  const TensorId part = part_along(writer, x, last, 0, 2 * half);
  TensorId result = kNoTensor;
  if (rotation.pairs == Rotation::Pairs::halves) {
    const TensorId a = part_along(writer, part, last, 0, half);
    const TensorId b = part_along(writer, part, last, half, 2 * half);
    result = concat({turned(writer, a, b, rotation.cosine, rotation.sine, ScalarOp::sub),
                     turned(writer, a, b, rotation.sine, rotation.cosine, ScalarOp::add)},
                    last);
  } else {
    Shape pairs = writer.shape_of(part);
    pairs.back() = half;
    pairs.push_back(2);
    const auto behind = [&](TensorId angle) {
      Shape with_one = writer.shape_of(angle);
      with_one.push_back(1);
      return writer.reshaped(angle, with_one);
    };
    const TensorId both = writer.reshaped(part, pairs);
    const TensorId a = part_along(writer, both, last + 1, 0, 1);
    const TensorId b = part_along(writer, both, last + 1, 1, 2);
    const TensorId cosine = behind(rotation.cosine);
    const TensorId sine = behind(rotation.sine);
    result = writer.reshaped(concat({turned(writer, a, b, cosine, sine, ScalarOp::sub),
                                     turned(writer, a, b, sine, cosine, ScalarOp::add)},
                                    last + 1),
                             writer.shape_of(part));
  }
  if (2 * half == shape.back()) return result;
  return concat({result, part_along(writer, x, last, 2 * half, shape.back())}, last);
}

}  // namespace morton::ops
