// SPDX-License-Identifier: Apache-2.0
#include "autodiff/recomputation.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/shape.hpp"
#include "ops/core/operator.hpp"

namespace morton::autodiff {
namespace {

/// An input so much smaller than the result may be kept for its sake.
constexpr std::int64_t kSmall = 8;

class Recomputation {
 public:
  Recomputation(Graph& graph, std::size_t forward_nodes) : graph_(graph), forward_(forward_nodes) {}

  int run() {
    find_what_the_backward_pass_reads();
    choose();
    write();
    return static_cast<int>(producer_of_.size());
  }

 private:
  void find_what_the_backward_pass_reads() {
    for (std::size_t n = forward_; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      read_.insert(node.inputs.begin(), node.inputs.end());
    }
    // What shares its memory with a tensor that is read is there as well.
    for (std::size_t n = forward_; n-- > 0;) {
      const Node& node = graph_.nodes[n];
      if (operator_of(node).host.alias && read_.contains(node.outputs[0])) {
        read_.insert(node.inputs[0]);
      }
    }
  }

  [[nodiscard]] bool is_cheap(const Node& node) const {
    const Operator& op = operator_of(node);
    return node.outputs.size() == 1 && (op.host.alias || op.chain != nullptr) &&
           !graph_.is_result(node.outputs[0]);
  }

  [[nodiscard]] bool is_there(TensorId id, std::int64_t size) const {
    if (id == kNoTensor || !graph_.producer(id)) return true;
    return read_.contains(id) || element_count(graph_.tensor(id).shape) * kSmall <= size;
  }

  /// Nodes come after those that make their inputs, so an input that is chosen was chosen before.
  void choose() {
    for (std::size_t n = 0; n < forward_; ++n) {
      const Node& node = graph_.nodes[n];
      if (!is_cheap(node) || !read_.contains(node.outputs[0])) continue;
      // Another name for what stays where it is saves nothing.
      if (operator_of(node).host.alias && !producer_of_.contains(node.inputs[0])) continue;
      const std::int64_t size = element_count(graph_.tensor(node.outputs[0]).shape);
      const bool all =
          std::ranges::all_of(node.inputs, [&](TensorId id) { return is_there(id, size); });
      if (all) producer_of_.emplace(node.outputs[0], NodeId(n));
    }
  }

  /// The tensor as the backward pass reads it; what makes it anew goes to `nodes`.
  TensorId anew(TensorId id, std::vector<Node>& nodes) {
    const auto chosen = producer_of_.find(id);
    if (chosen == producer_of_.end()) return id;
    if (const auto made = made_.find(id); made != made_.end()) return made->second;
    Node node = graph_.node(chosen->second);
    for (TensorId& input : node.inputs) input = anew(input, nodes);
    GraphTensor copy = graph_.tensor(id);
    copy.name += "/anew";
    node.name += "/anew";
    node.copy = 1;
    node.outputs = {graph_.add_tensor(std::move(copy))};
    nodes.push_back(std::move(node));
    made_.emplace(id, nodes.back().outputs[0]);
    return nodes.back().outputs[0];
  }

  void write() {
    const auto first = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(forward_);
    std::vector<Node> nodes(graph_.nodes.begin(), first);
    for (std::size_t n = forward_; n < graph_.nodes.size(); ++n) {
      Node node = graph_.nodes[n];
      for (TensorId& input : node.inputs) input = anew(input, nodes);
      nodes.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes);
  }

  Graph& graph_;
  std::size_t forward_;
  std::set<TensorId> read_;                 ///< by the backward pass
  std::map<TensorId, NodeId> producer_of_;  ///< of what is computed anew: its node
  std::map<TensorId, TensorId> made_;
};

}  // namespace

int recompute(Graph& graph, std::size_t forward_nodes) {
  return Recomputation(graph, forward_nodes).run();
}

}  // namespace morton::autodiff
