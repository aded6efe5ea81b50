// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "problems/order.hpp"

namespace morton::ops {

/// What ArgMax and ArgMin share.
using Extreme = FirstInOrder;

/// The places are i64.
[[nodiscard]] std::vector<TensorType> infer_arg(const NodeView& node);
/// The place of the extreme along one dimension. Where errors leave open which element that is, the
/// result is off by as much as another that may be it is away.
[[nodiscard]] ReferenceTensor reference_arg(const NodeView& node, const ReferenceTensor& source,
                                            Extreme extreme);
[[nodiscard]] BoundProblem lower_arg(const NodeView& node, Extreme extreme);

/// The operator `name` of ONNX.
template <Extreme kExtreme>
[[nodiscard]] Operator arg_operator(std::string_view name) {
  return {
      .name = name,
      .attributes = {"axis", "keepdims", "select_last_index"},
      .since_opset = 1,
      .infer = infer_arg,
      .reference =
          [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
            return reference_arg(node, inputs[0], kExtreme);
          },
      .lower = [](const NodeView& node) { return lower_arg(node, kExtreme); },
      .types = {DType::f32, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32,
                DType::i64, DType::u64},
  };
}

}  // namespace morton::ops
