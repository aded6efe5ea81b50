// SPDX-License-Identifier: Apache-2.0
//
// One result of any number of inputs.
#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/elementwise/table.hpp"

namespace morton::ops {
namespace {

/// The largest (`ScalarOp::max`) or the least (`min`) of the inputs; NaN where one of them is.
template <ScalarOp kOp>
Chain extreme_chain(const NodeView& node) {
  Chain chain;
  chain.input_count = static_cast<int>(node.input_count());
  for (int i = 1; i < chain.input_count; ++i) {
    const ScalarRef next = ScalarRef::input(i);
    const ScalarRef better = chain.append(kOp, {chain.result, next});
    if (!is_real(node.input(0).dtype)) continue;
    // The primitive keeps a NaN first argument only.
    const ScalarRef is_nan = chain.append(ScalarOp::is_nan, {next});
    chain.append(ScalarOp::select, {is_nan, next, better});
  }
  return chain;
}

/// All inputs added up.
Chain sum_chain(const NodeView& node) {
  Chain chain;
  chain.input_count = static_cast<int>(node.input_count());
  for (int i = 1; i < chain.input_count; ++i) {
    chain.append(ScalarOp::add, {chain.result, ScalarRef::input(i)});
  }
  return chain;
}

/// The sum of all inputs over their number.
Chain mean_chain(const NodeView& node) {
  Chain chain = sum_chain(node);
  const auto count = static_cast<double>(node.input_count());
  chain.append(ScalarOp::div, {chain.result, ScalarRef::constant(count)});
  return chain;
}

std::vector<ElementwiseRow> variadic_rows() {
  return {
      {"Max", 6, number_types, extreme_chain<ScalarOp::max>},
      {"Mean", 6, real_types, mean_chain},
      {"Min", 6, number_types, extreme_chain<ScalarOp::min>},
      {"Sum", 6, real_types, sum_chain},
  };
}

}  // namespace

const OperatorTable& variadic_operators() {
  static const OperatorTable kTable = elementwise_table(kAnyInputs, variadic_rows());
  return kTable;
}

}  // namespace morton::ops
