// SPDX-License-Identifier: Apache-2.0
#include "ops/core/sides.hpp"

#include <algorithm>
#include <optional>

#include "base/algebra/typed_chain.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

/// The number that a scalar constant is. Only what is f32 in registers: a chain of nothing but
/// constants would have no other type.
std::optional<ScalarRef> as_constant(const GraphTensor& tensor) {
  if (tensor.kind != GraphTensor::Kind::constant || tensor.data.size() != 1) return std::nullopt;
  if (register_type(tensor.dtype) != DType::f32) return std::nullopt;
  return ScalarRef::constant(tensor.data.at(0));
}

/// Whether the side operand is what an elementwise kernel loads anyway.
bool is_source(const Graph& graph, const BoundProblem& bound, const Side& side) {
  const auto source = bound.operands.find("src0");
  if (source == bound.operands.end() || source->second.tensor != side.tensor) return false;
  const Shape& shape = graph.tensor(side.tensor).shape;
  return side.shape == shape && graph.tensor(bound.operands.at("dst").tensor).shape == shape;
}

/// What the chain reads in place of side operand `side`, `kept` being those that stay.
ScalarRef replacement(const Graph& graph, const BoundProblem& bound, const Side& side,
                      std::vector<Side>& kept) {
  if (const auto constant = as_constant(graph.tensor(side.tensor))) return *constant;
  if (is_source(graph, bound, side)) return ScalarRef::input(0);
  const auto same = std::find_if(kept.begin(), kept.end(), [&](const Side& other) {
    return other.tensor == side.tensor && other.shape == side.shape;
  });
  const auto number = static_cast<int>(same - kept.begin()) + 1;
  if (same == kept.end()) kept.push_back(side);
  return ScalarRef::input(number);
}

}  // namespace

void simplify_sides(const Graph& graph, BoundProblem& bound) {
  Chain& chain = bound.problem.epilogue;
  const auto inputs = static_cast<std::size_t>(chain.input_count);
  const std::vector<bool> read = inputs_read(chain, inputs);
  std::vector<Side> kept;
  std::vector<ScalarRef> now{ScalarRef::input(0)};
  for (std::size_t i = 1; i < inputs; ++i) {
    now.push_back(read[i] ? replacement(graph, bound, bound.sides[i - 1], kept)
                          : ScalarRef::input(0));
  }
  const auto replace = [&](ScalarRef& ref) {
    if (ref.kind == ScalarRef::Kind::input) ref = now[ref.place()];
  };
  for (ScalarStep& step : chain.steps) {
    for (ScalarRef& argument : step.arguments) replace(argument);
  }
  replace(chain.result);
  chain.input_count = static_cast<int>(kept.size()) + 1;
  bound.sides = std::move(kept);
}

}  // namespace morton::ops
