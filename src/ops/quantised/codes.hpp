// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// What operators on codes of 8 bits share. A code stands for the number
/// (code - zero point) * scale.

/// Throws ModelError unless input `i` is u8 or i8.
void require_codes(const NodeView& node, std::size_t i);
/// Throws ModelError unless input `i` is a scale: f32, one number or, where `lines` is given, one
/// for each of so many. Numbers that are known must be above 0 and finite.
void require_scale(const NodeView& node, std::size_t i, std::optional<std::int64_t> lines = {});
/// The same of a zero point, which is of `type` and may be absent.
void require_zero_point(const NodeView& node, std::size_t i, DType type,
                        std::optional<std::int64_t> lines = {});

/// The numbers that the codes of input `i` stand for, f32. Its scale and its zero point are the two
/// inputs behind it. All three are checked.
[[nodiscard]] TensorId decoded(Expansion& to, std::size_t i);
/// Codes of `type` for the numbers `value`. Input `i` is the scale, the one behind it the zero
/// point; both are checked.
[[nodiscard]] TensorId encoded(Expansion& to, TensorId value, std::size_t i, DType type);
/// The type of the zero point `i`, or `otherwise` where it is absent.
[[nodiscard]] DType code_type(const NodeView& node, std::size_t i, DType otherwise);

/// A chain and its operands, in the making. The first operand has the shape of the result.
class ChainWriter {
 public:
  explicit ChainWriter(GraphWriter& to) : to_(to) {}

  /// A tensor in this type; a constant of one element is a number of the chain.
  ScalarRef operand(TensorId id, DType type);
  /// A tensor in its own type; never a number of the chain.
  ScalarRef tensor(TensorId id);
  ScalarRef step(ScalarOp op, std::vector<ScalarRef> arguments) {
    return chain_.append(op, std::move(arguments));
  }
  ScalarRef convert(ScalarOp op, ScalarRef value, DType type) {
    return chain_.append_conversion(op, value, type);
  }
  /// `value` - `zero`, or `value` itself where that is the number 0.
  ScalarRef less_zero(ScalarRef value, ScalarRef zero);
  /// What is written next.
  [[nodiscard]] Chain& chain() { return chain_; }

  /// The chain's node; its result.
  [[nodiscard]] TensorId write();
  /// The same of sums, differences, products and quotients in f32. Of constants it is computed
  /// here, each step rounded to f32, and is a constant.
  [[nodiscard]] TensorId write_scales();

 private:
  [[nodiscard]] bool all_known() const;

  GraphWriter& to_;
  Chain chain_;
  std::vector<TensorId> operands_;
};

/// a * b / c in f32, rounded in this order; without c (kNoTensor) the product. Operands of one
/// element each, but one that may have more.
[[nodiscard]] TensorId scales_over(GraphWriter& to, TensorId a, TensorId b, TensorId c);
/// An input of one element, as a tensor without dimensions.
[[nodiscard]] TensorId single(Expansion& to, std::size_t i);
/// Such an input, or 0 of `type` where it is absent.
[[nodiscard]] TensorId zero_point(Expansion& to, std::size_t i, DType type);

}  // namespace morton::ops
