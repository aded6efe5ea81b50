// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

/// A kernel has an argument for each side operand, and a register or more for each step.
constexpr int kMostSides = 6;
constexpr std::size_t kMostSteps = 16;
/// Behind sums of bytes: scaled and rounded to codes, added to other codes, and rounded again.
constexpr std::size_t kMostStepsOfBytes = 20;

/// A producer that an elementwise node may join, and which of the node's inputs it computes.
struct Candidate {
  NodeId producer;
  std::size_t input = 0;
};

bool sums_bytes(const Node& node) {
  return node.op == "MatMulInteger" || node.op == "BorderedConvInteger";
}

/// Whether kernels of `first`, which computes with `own`, store `type`. Those of products store
/// what they compute with, of 8-bit products what follows a sum of 32 bits too.
bool stores(const Node& first, DType own, DType type) {
  constexpr std::array kBehindSums{DType::u8, DType::i8, DType::i32, DType::f32};
  return own == type ||
         (sums_bytes(first) && std::ranges::find(kBehindSums, type) != kBehindSums.end());
}

bool may_join(const Graph& graph, const Node& node, std::size_t input, const Node& first) {
  if (!operator_of(first).takes_epilogue || first.outputs.size() != 1) return false;
  const TensorId value = node.inputs[input];
  if (graph.consumers(value).size() != 1 || graph.is_result(value)) return false;
  // An elementwise step can renew a state in place; a product with an epilogue cannot.
  const bool elementwise = operator_of(first).chain != nullptr;
  if (graph.is_update(node.outputs[0]) && !elementwise) return false;
  if (graph.tensor(value).shape != graph.tensor(node.outputs[0]).shape) return false;
  const DType own = graph.tensor(value).dtype;
  if (!elementwise && !stores(first, own, graph.tensor(node.outputs[0]).dtype)) return false;
  const auto reads = std::count(node.inputs.begin(), node.inputs.end(), value);
  const std::size_t sides = static_cast<std::size_t>(first.epilogue.input_count) - 1 +
                            (node.inputs.size() - static_cast<std::size_t>(reads));
  const std::size_t steps = first.epilogue.steps.size() + whole_chain(graph, node).steps.size();
  return sides <= kMostSides && steps <= (sums_bytes(first) ? kMostStepsOfBytes : kMostSteps);
}

/// The best producer to join: one that makes f32 of bytes, which the node then reads itself; else
/// one that does more than elementwise work, of those one whose elements take the most bytes; else
/// the first.
std::optional<Candidate> find_producer(const Graph& graph, const Node& node) {
  std::optional<Candidate> best;
  bool best_is_elementwise = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    const NodeId producer = graph.producer(node.inputs[i]);
    if (!producer || !may_join(graph, node, i, graph.node(producer))) continue;
    if (decodes_bytes(graph, graph.node(producer))) return Candidate{producer, i};
    const bool elementwise = operator_of(graph.node(producer)).chain != nullptr;
    const auto size_at = [&](std::size_t input) {
      return size_of(graph.tensor(node.inputs[input]).dtype);
    };
    const bool is_wider = best && !elementwise && size_at(i) > size_at(best->input);
    if (!best || (!elementwise && best_is_elementwise) || is_wider) {
      best = Candidate{producer, i};
      best_is_elementwise = elementwise;
    }
  }
  return best;
}

/// Whether a node that makes f32 of bytes is better read with its sole reader, which could also
/// join what a later node computes: then sums of bytes in front of the former are stored as bytes.
bool leaves_bytes(const Graph& graph, NodeId n) {
  const Node& node = graph.node(n);
  if (!decodes_bytes(graph, node)) return false;
  const NodeId reader = sole_reader(graph, node.outputs[0]);
  if (!reader || operator_of(graph.node(reader)).chain == nullptr) return false;
  const Node& next = graph.node(reader);
  if (next.outputs.size() != 1) return false;
  bool joins_later = false, joins_this = false;
  for (std::size_t i = 0; i < next.inputs.size(); ++i) {
    if (next.inputs[i] == kNoTensor) continue;
    const NodeId producer = graph.producer(next.inputs[i]);
    if (!producer || !may_join(graph, next, i, graph.node(producer))) continue;
    joins_this = joins_this || producer == n;
    joins_later = joins_later || n < producer;
  }
  return joins_this && joins_later;
}

/// The chain of an elementwise node, with `input` in the place of every other input that is the
/// same tensor.
Chain chain_reading_once(const Graph& graph, const Node& node, std::size_t input) {
  Chain chain = whole_chain(graph, node);
  const auto point_at = [&](ScalarRef& ref) {
    const bool same =
        ref.kind == ScalarRef::Kind::input && node.inputs[ref.place()] == node.inputs[input];
    if (same) ref.index = static_cast<int>(input);
  };
  for (ScalarStep& step : chain.steps) {
    for (ScalarRef& ref : step.arguments) point_at(ref);
  }
  point_at(chain.result);
  return chain;
}

/// `first` with `node` behind it. Its operands and sides come first, then the node's other inputs.
Node joined(const Graph& graph, const Node& first, const Node& node, std::size_t input) {
  const Chain chain = chain_reading_once(graph, node, input);
  const std::vector<bool> read = inputs_read(chain, node.inputs.size());
  std::vector<int> first_numbers(static_cast<std::size_t>(first.epilogue.input_count));
  std::iota(first_numbers.begin(), first_numbers.end(), 0);
  Node result = first;
  result.outputs = node.outputs;
  int next = first.epilogue.input_count;
  std::vector<int> own_numbers(node.inputs.size(), 0);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == node.inputs[input] || !read[i]) continue;
    own_numbers[i] = next++;
    result.inputs.push_back(node.inputs[i]);
  }
  result.epilogue =
      chain.after(first.epilogue, static_cast<int>(input), first_numbers, own_numbers);
  result.fused.push_back(node.name);
  result.fused.insert(result.fused.end(), node.fused.begin(), node.fused.end());
  return result;
}

}  // namespace

int fuse_epilogues(Graph& graph, const PassOptions& /*options*/) {
  int fused = 0;
  for (NodeId n(0); has_node(graph, n);) {
    const Node& node = graph.node(n);
    const bool elementwise = operator_of(node).chain != nullptr && node.outputs.size() == 1;
    const bool joins = elementwise && !leaves_bytes(graph, n);
    const auto found = joins ? find_producer(graph, node) : std::nullopt;
    if (!found) {
      n = n.moved(1);
      continue;
    }
    // The joined node stands where the elementwise one stood: there all of its inputs are known.
    graph.node(n) = joined(graph, graph.node(found->producer), node, found->input);
    remove_node(graph, found->producer);
    n = n.moved(-1);  // where the joined node stands now: it may join another
    ++fused;
  }
  return fused;
}

}  // namespace morton::passes
