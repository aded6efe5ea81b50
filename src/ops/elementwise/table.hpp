// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {

/// One elementwise operator: what tells it from the others of its table.
struct ElementwiseRow {
  std::string_view name;          ///< ONNX's name
  std::int64_t since_opset;       ///< first opset whose definition the row states
  std::vector<DType> (*types)();  ///< element types that devices compute: `real_types`, ...
  Chain (*chain)(const NodeView& node);
  /// What few operators have; each is described at `Operator`.
  struct Rest {
    std::vector<std::string_view> attributes{};
    std::vector<std::size_t> parameters{};
    void (*gradient)(Gradient& gradient) = nullptr;  ///< null: the chain's own derivative
  } rest{};
};

/// The number of inputs that all operators of a table have.
struct InputCount {
  std::size_t least = 1;
  std::size_t most = 1;
};
inline constexpr InputCount kOneInput{1, 1};
inline constexpr InputCount kTwoInputs{2, 2};
inline constexpr InputCount kAnyInputs{1, 64};

/// The operators that the rows state, in their order.
[[nodiscard]] OperatorTable elementwise_table(InputCount inputs,
                                              const std::vector<ElementwiseRow>& rows);

/// The chain of a row whose operator is one primitive: v -> op(v), or (v, s1) -> op(v, s1).
template <ScalarOp kOp>
[[nodiscard]] Chain step(const NodeView& /*node*/) {
  return single_step(kOp);
}

/// The same with the two inputs exchanged: (v, s1) -> op(s1, v).
template <ScalarOp kOp>
[[nodiscard]] Chain swapped_step(const NodeView& /*node*/) {
  Chain chain;
  chain.input_count = 2;
  chain.append(kOp, {ScalarRef::input(1), ScalarRef::input(0)});
  return chain;
}

}  // namespace morton::ops
