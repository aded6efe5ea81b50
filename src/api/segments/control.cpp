// SPDX-License-Identifier: Apache-2.0
#include "api/segments/control.hpp"

#include <array>

#include "api/segments/turns.hpp"
#include "base/error.hpp"
#include "ops/core/bodies.hpp"
#include "ops/core/node_view.hpp"

namespace morton::api {
namespace {

/// Throws UnsupportedError for a body with values that are absent or no tensors.
void require_tensors(const Node& node, const std::string& name, const Graph& body) {
  const auto refuse = [&](const std::string& what) {
    throw UnsupportedError(node.op + " '" + node.name + "': its body '" + name + "' " + what +
                           ", which it cannot where the host carries it out");
  };
  for (const TensorId id : body.outputs) {
    if (id == kNoTensor) refuse("gives a value that is absent");
    if (!body.tensor(id).form.is_tensor()) refuse("gives a list or an optional value");
  }
  for (const TensorId id : body.inputs) {
    if (!body.tensor(id).form.is_tensor()) refuse("takes a list or an optional value");
  }
}

/// An If: the host reads the condition, and one branch runs.
class Branches : public Control {
 public:
  Branches(const Node& node, Message why, SegmentContext& context, int depth)
      : context_(context), node_(node), why_(std::move(why)) {
    std::size_t first = 1;
    for (const auto& [name, body] : node.bodies) {
      Branch& branch = branches_[name == "then_branch" ? 1 : 0];
      branch.segment = std::make_unique<Segment>(*body.graph, context, depth);
      branch.first_captured = first;
      first += body.captured;
    }
  }

  std::vector<Tensor> run(const std::vector<const Tensor*>& inputs) override {
    const Tensor& condition = *inputs[0];
    if (condition.size() != 1) {
      throw ModelError("If '" + node_.name + "': its condition has " +
                       std::to_string(condition.size()) + " values");
    }
    context_.wait(node_.name, why_);
    const Branch& branch = branches_[condition.at(0) != 0.0 ? 1 : 0];
    const Graph& graph = branch.segment->graph();
    Values given;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      given[graph.tensor(graph.inputs[i]).name] = *inputs[branch.first_captured + i];
    }
    Values results = branch.segment->run(given);
    std::vector<Tensor> outputs;
    for (const TensorId id : graph.outputs) outputs.push_back(results.at(graph.tensor(id).name));
    return outputs;
  }

 private:
  struct Branch {
    std::unique_ptr<Segment> segment;
    std::size_t first_captured = 0;  ///< of the node's inputs
  };

  SegmentContext& context_;
  Node node_;
  Message why_;
  std::array<Branch, 2> branches_;  ///< else, then
};

}  // namespace

bool is_host_control(const Graph& graph, const Node& node) {
  if (node.op == "Scan") return NodeView(graph, node).opset() >= kScanWithoutBatch;
  return node.op == "If" || node.op == "Loop";
}

std::unique_ptr<Control> make_control(const Graph& graph, const Node& node, const Message& why,
                                      SegmentContext& context, int depth) {
  for (const auto& [name, body] : node.bodies) require_tensors(node, name, *body.graph);
  if (node.op == "If") return std::make_unique<Branches>(node, why, context, depth);
  LoopParts parts = node.op == "Loop" ? loop_parts(graph, node) : scan_as_loop(graph, node);
  return std::make_unique<Turns>(std::move(parts), why, context, depth);
}

}  // namespace morton::api
