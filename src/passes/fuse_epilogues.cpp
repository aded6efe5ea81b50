// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

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

/// Who computes and who reads each tensor, kept while nodes join: Graph::producer and
/// Graph::consumers look at every node, and a loop that is written out has thousands.
class Readers {
 public:
  explicit Readers(const Graph& graph) : of_(graph.tensors.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) add(graph.nodes[n], NodeId(n));
    for (const TensorId id : graph.outputs) of_[id].is_result = true;
    for (const StateUpdate& update : graph.updates) {
      of_[update.value].is_result = of_[update.value].is_update = true;
    }
  }

  void add(const Node& node, NodeId n) {
    for (const TensorId id : node.outputs) {
      if (id != kNoTensor) of_[id].producer = n;
    }
    count_inputs(node, n, 1);
  }
  void remove(const Node& node, NodeId n) { count_inputs(node, n, -1); }

  [[nodiscard]] NodeId producer(TensorId id) const { return of_[id].producer; }
  [[nodiscard]] bool is_result(TensorId id) const { return of_[id].is_result; }
  [[nodiscard]] bool is_update(TensorId id) const { return of_[id].is_update; }
  /// The one node that reads it, if one alone does.
  [[nodiscard]] NodeId only_reader(TensorId id) const {
    return of_[id].count == 1 ? NodeId(of_[id].sum) : NodeId();
  }

 private:
  struct Facts {
    NodeId producer;
    std::int64_t count = 0, sum = 0;  ///< of nodes that read it: how many, and of their numbers
    bool is_result = false, is_update = false;
  };

  /// Each tensor once.
  void count_inputs(const Node& node, NodeId n, std::int64_t sign) {
    for (auto input = node.inputs.begin(); input != node.inputs.end(); ++input) {
      if (*input == kNoTensor || std::find(node.inputs.begin(), input, *input) != input) continue;
      of_[*input].count += sign;
      of_[*input].sum += sign * n.index();
    }
  }

  Indexed<TensorId, Facts> of_;
};

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

bool may_join(const Graph& graph, const Readers& readers, const Node& node, std::size_t input,
              const Node& first) {
  if (!operator_of(first).takes_epilogue || first.outputs.size() != 1) return false;
  const TensorId value = node.inputs[input];
  if (!readers.only_reader(value) || readers.is_result(value)) return false;
  // An elementwise step can renew a state in place; a product with an epilogue cannot.
  const bool elementwise = operator_of(first).chain != nullptr;
  if (readers.is_update(node.outputs[0]) && !elementwise) return false;
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
std::optional<Candidate> find_producer(const Graph& graph, const Readers& readers,
                                       const Node& node) {
  std::optional<Candidate> best;
  bool best_is_elementwise = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    const NodeId producer = readers.producer(node.inputs[i]);
    if (!producer || !may_join(graph, readers, node, i, graph.node(producer))) continue;
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
bool leaves_bytes(const Graph& graph, const Readers& readers, NodeId n) {
  const Node& node = graph.node(n);
  if (!decodes_bytes(graph, node) || readers.is_result(node.outputs[0])) return false;
  const NodeId reader = readers.only_reader(node.outputs[0]);
  if (!reader || operator_of(graph.node(reader)).chain == nullptr) return false;
  const Node& next = graph.node(reader);
  if (next.outputs.size() != 1 || std::ranges::count(next.inputs, node.outputs[0]) != 1) {
    return false;
  }
  bool joins_later = false, joins_this = false;
  for (std::size_t i = 0; i < next.inputs.size(); ++i) {
    if (next.inputs[i] == kNoTensor) continue;
    const NodeId producer = readers.producer(next.inputs[i]);
    if (!producer || !may_join(graph, readers, next, i, graph.node(producer))) continue;
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
  Readers readers(graph);
  std::vector<bool> has_joined(graph.nodes.size());  // and goes, once all have been looked at
  for (NodeId n(0); has_node(graph, n);) {
    const Node& node = graph.node(n);
    const bool elementwise = operator_of(node).chain != nullptr && node.outputs.size() == 1;
    const bool joins = elementwise && !leaves_bytes(graph, readers, n);
    const auto found = joins ? find_producer(graph, readers, node) : std::nullopt;
    if (!found) {
      n = n.moved(1);  // what has joined stands before the node that it joined
      continue;
    }
    // The joined node stands where the elementwise one stood: there all of its inputs are known. It
    // may join another.
    const Node& first = graph.node(found->producer);
    Node both = joined(graph, first, node, found->input);
    readers.remove(first, found->producer);
    readers.remove(node, n);
    readers.add(both, n);
    graph.node(n) = std::move(both);
    has_joined[static_cast<std::size_t>(found->producer.index())] = true;
  }
  std::vector<Node> kept;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!has_joined[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  const auto fused = static_cast<int>(graph.nodes.size() - kept.size());
  graph.nodes = std::move(kept);
  return fused;
}

}  // namespace morton::passes
