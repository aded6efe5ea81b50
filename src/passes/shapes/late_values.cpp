// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/late_values.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ops/core/node_view.hpp"
#include "ops/core/planned.hpp"

namespace morton::passes {
namespace {

/// A list of a real model's shape arithmetic is far shorter.
constexpr std::int64_t kMostNumbers = 256;

bool is_whole(DType type) { return type == DType::i64 || type == DType::i32; }

/// How a result follows from an input: it takes elements of it, or grows or shrinks with it.
enum class Use : std::uint8_t { moves, grows, shrinks, reads };

struct Rule {
  std::string_view op;
  Use first, others;
  bool is_positive = false;  ///< holds for numbers that are not negative
};

constexpr std::array kRules{
    Rule{"Identity", Use::moves, Use::reads},
    Rule{"Cast", Use::moves, Use::reads},
    Rule{"Reshape", Use::moves, Use::reads},
    Rule{"Squeeze", Use::moves, Use::reads},
    Rule{"Unsqueeze", Use::moves, Use::reads},
    Rule{"Flatten", Use::moves, Use::reads},
    Rule{"Transpose", Use::moves, Use::reads},
    Rule{"Gather", Use::moves, Use::reads},
    Rule{"Slice", Use::moves, Use::reads},
    Rule{"Concat", Use::moves, Use::moves},
    Rule{"Add", Use::grows, Use::grows},
    Rule{"Sum", Use::grows, Use::grows},
    Rule{"Min", Use::grows, Use::grows},
    Rule{"Max", Use::grows, Use::grows},
    Rule{"Sub", Use::grows, Use::shrinks},
    Rule{"Mul", Use::grows, Use::grows, true},
    Rule{"Div", Use::grows, Use::shrinks, true},
    Rule{"ReduceSum", Use::grows, Use::reads},
    Rule{"ReduceMin", Use::grows, Use::reads},
    Rule{"ReduceMax", Use::grows, Use::reads},
    Rule{"ReduceProd", Use::grows, Use::reads, true},
};

const Rule* rule_of(const Node& node) {
  const auto* found = std::ranges::find(kRules, node.op, &Rule::op);
  return found == kRules.end() ? nullptr : found;
}

Tensor tensor_of(DType type, const Shape& shape, const std::vector<std::int64_t>& numbers) {
  if (type == DType::i64) return Tensor::from(shape, std::span<const std::int64_t>(numbers));
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::size_t e = 0; e < numbers.size(); ++e) {
    tensor.set(static_cast<std::int64_t>(e), static_cast<double>(numbers[e]));
  }
  return tensor;
}

/// What the node makes of these numbers in the places of its inputs; nothing where the host cannot
/// say.
std::optional<std::vector<std::int64_t>> value_of(
    const Graph& graph, const Node& node, const std::vector<std::vector<std::int64_t>>& by_input) {
  Graph scratch;
  scratch.opset = graph.opset;
  Node copy = node;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    const GraphTensor& given = graph.tensor(node.inputs[i]);
    Tensor data = tensor_of(given.dtype, given.shape, by_input[i]);
    copy.inputs[i] = scratch.add_tensor(graph::constant_tensor(given.name, std::move(data)));
  }
  copy.outputs = {scratch.add_tensor({.name = "result"})};
  const std::vector<Tensor> values = planned_values(scratch, copy);
  if (values.size() != 1) return std::nullopt;
  return whole_numbers(values[0]);
}

}  // namespace

std::optional<LateNumbers> LateValues::numbers(TensorId id) const {
  if (id == kNoTensor) return std::nullopt;
  if (const auto found = late_.find(id); found != late_.end()) return found->second;
  const Tensor* known = graph_.tensor(id).planned();
  if (known == nullptr || !is_whole(known->dtype()) || known->size() > kMostNumbers) {
    return std::nullopt;
  }
  LateNumbers numbers;
  for (const std::int64_t value : whole_numbers(*known)) numbers.push_back({value, value});
  return numbers;
}

std::optional<LateNumbers> LateValues::moved(const Node& node) const {
  LateNumbers all;
  std::vector<std::vector<std::int64_t>> places;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    auto& of_input = places.emplace_back();
    const auto given = numbers(node.inputs[i]);
    if (node.inputs[i] == kNoTensor) continue;
    if (!given) return std::nullopt;
    const bool moves = (i == 0 ? rule_of(node)->first : rule_of(node)->others) == Use::moves;
    for (const LateNumber& number : *given) {
      if (!moves && !number.is_known()) return std::nullopt;
      of_input.push_back(moves ? static_cast<std::int64_t>(all.size()) : number.low);
      if (moves) all.push_back(number);
    }
  }
  const auto taken = value_of(graph_, node, places);
  if (!taken) return std::nullopt;
  LateNumbers result;
  for (const std::int64_t place : *taken) result.push_back(all[static_cast<std::size_t>(place)]);
  return result;
}

std::optional<LateNumbers> LateValues::computed(const Node& node) const {
  const Rule& rule = *rule_of(node);
  std::vector<std::vector<std::int64_t>> least;
  std::vector<std::vector<std::int64_t>> most;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    auto& low = least.emplace_back();
    auto& high = most.emplace_back();
    if (node.inputs[i] == kNoTensor) continue;
    const auto given = numbers(node.inputs[i]);
    if (!given) return std::nullopt;
    const Use use = i == 0 ? rule.first : rule.others;
    for (const LateNumber& number : *given) {
      const std::int64_t bound = node.op == "Div" && i == 1 ? 1 : 0;
      if (rule.is_positive && use != Use::reads && number.low < bound) return std::nullopt;
      if (use == Use::reads && !number.is_known()) return std::nullopt;
      low.push_back(use == Use::shrinks ? number.high : number.low);
      high.push_back(use == Use::shrinks ? number.low : number.high);
    }
  }
  const auto low = value_of(graph_, node, least);
  const auto high = value_of(graph_, node, most);
  if (!low || !high) return std::nullopt;
  LateNumbers result;
  for (std::size_t e = 0; e < low->size(); ++e) result.push_back({(*low)[e], (*high)[e]});
  return result;
}

void LateValues::pass_on(const Node& node) {
  const auto late = [&](TensorId id) { return id != kNoTensor && is_late(id); };
  if (late_.empty() || std::ranges::none_of(node.inputs, late)) return;
  if (node.outputs.size() != 1 || late(node.outputs[0]) || rule_of(node) == nullptr) return;
  const GraphTensor& result = graph_.tensor(node.outputs[0]);
  if (result.planned() != nullptr || !is_whole(result.dtype)) return;
  if (element_count(result.shape) > kMostNumbers) return;
  const bool moves = rule_of(node)->first == Use::moves;
  if (auto numbers = moves ? moved(node) : computed(node)) define(node.outputs[0], *numbers);
}

}  // namespace morton::passes
