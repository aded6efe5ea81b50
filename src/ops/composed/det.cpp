// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

/// Halves are eliminated in f32.
std::vector<TensorId> expand_det(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Shape shape = node.input(0).shape;
  const DType type = node.input(0).dtype;
  const std::size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    node.fail("its input is " + to_string(shape) + ", expected square matrices");
  }
  const Shape batch(shape.begin(), shape.end() - 2);
  const std::int64_t size = shape.back();
  const auto cast = [&](TensorId value, DType to) {
    if (expansion.type_of(value) == to) return value;
    Chain chain;
    chain.append_conversion(ScalarOp::cast, ScalarRef::input(0), to);
    return expansion.chain(chain, {value});
  };
  const std::int64_t count = element_count(batch);
  if (size == 0) return {expansion.expanded(expansion.scalar(type, 1.0), batch)};
  const TensorId wide = cast(expansion.input(0), type == DType::f64 ? type : DType::f32);
  const TensorId whole =
      expansion.add("DeterminantPlace", {expansion.reshaped(wide, {count, size, size})});
  const TensorId first = expansion.sliced(whole, {0, 0}, {count, 1}, {1, 1});
  return {cast(expansion.reshaped(first, batch), type)};
}

}  // namespace

const Operator& operator_Det() {
  static const Operator kOperator{
      .name = "Det",
      .attributes = {},
      .since_opset = 11,
      .expand = expand_det,
      .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
  };
  return kOperator;
}

}  // namespace morton::ops
