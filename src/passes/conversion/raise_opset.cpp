// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "ops/core/bodies.hpp"
#include "ops/core/operator.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/conversion/element_types.hpp"
#include "passes/conversion/raise_rules.hpp"
#include "passes/passes.hpp"

namespace morton::passes {
namespace {

class OpsetRaiser {
 public:
  OpsetRaiser(Graph& graph, std::int64_t opset, const KnownShapes& shapes,
              std::vector<std::string>& refused, std::string scope)
      : graph_(graph),
        opset_(opset),
        shapes_(shapes),
        refused_(refused),
        scope_(std::move(scope)),
        types_(element_types(graph)) {}

  void run() {
    const std::size_t count = graph_.nodes.size();
    for (std::size_t n = 0; n < count; ++n) {
      const NodeId id(static_cast<int>(n));
      raise_bodies(id);
      raise(id);
    }
    graph_.opset = opset_;
    for (Node& node : graph_.nodes) node.opset = 0;
    sort_topologically(graph_);
  }

 private:
  /// ONNX's own; other domains have versions of their own.
  static bool is_of_onnx(const Node& node) {
    const Operator* op = find_operator(node.op);
    return op != nullptr && op->home == Operator::Home::onnx;
  }

  /// A rule leads from older versions to the first one that Morton reads.
  static bool begins_with_a_rule(const Operator& op) {
    return std::ranges::any_of(raise_rules(), [&](const RaiseRule& rule) {
      return rule.op == op.name && rule.since == op.since_opset;
    });
  }

  void refuse(const Node& node, const std::string& why) {
    refused_.push_back("'" + node.name + "' (" + node.op + "): " + why);
  }

  void raise(NodeId id) {
    if (!is_of_onnx(graph_.node(id))) return;
    const Node& node = graph_.node(id);
    const std::int64_t from = node.opset == 0 ? graph_.opset : node.opset;
    if (from > opset_) return refuse(node, "is written in opset " + std::to_string(from));
    const Operator& op = *find_operator(node.op);
    if (from < op.since_opset && from < opset_ && !begins_with_a_rule(op)) {
      return refuse(node, "its form of opset " + std::to_string(from) +
                              " is not known (onnx.version_converter may change it)");
    }
    NodeRaise raise(graph_, id, types_, shapes_, scope_);
    for (const RaiseRule& rule : raise_rules()) {
      if (rule.since <= from || rule.since > opset_ || rule.op != graph_.node(id).op) continue;
      rule.apply(raise);
      if (!raise.refusal().empty()) return refuse(graph_.node(id), raise.refusal());
    }
  }

  void raise_bodies(NodeId id) {
    for (auto& [name, body] : graph_.node(id).bodies) {
      auto inside = std::make_shared<Graph>(*body.graph);
      const auto captured = captured_by(graph_.node(id), name);
      for (std::size_t i = 0; i < captured.size(); ++i) {
        const auto type = types_[captured[i]];
        if (type) inside->tensor(inside->inputs[body.formals() + i]).dtype = *type;
      }
      if (inside->opset == 0) inside->opset = graph_.opset;
      OpsetRaiser(*inside, opset_, {}, refused_, scope_ + graph_.node(id).name + "/" + name + "/")
          .run();
      body.graph = std::move(inside);
    }
  }

  Graph& graph_;
  std::int64_t opset_;
  const KnownShapes shapes_;
  std::vector<std::string>& refused_;
  const std::string scope_;
  ElementTypes types_;
};

}  // namespace

void raise_opset(Graph& graph, std::int64_t opset, const KnownShapes& shapes) {
  std::vector<std::string> refused;
  OpsetRaiser(graph, opset, shapes, refused, "").run();
  if (refused.empty()) return;
  std::string list;
  for (const std::string& one : refused) list += (list.empty() ? "" : "; ") + one;
  throw UnsupportedError(setting("opset", std::to_string(opset)) +
                         ": nodes have no form in that set: " + list);
}

}  // namespace morton::passes
