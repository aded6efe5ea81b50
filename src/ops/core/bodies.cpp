// SPDX-License-Identifier: Apache-2.0
#include "ops/core/bodies.hpp"

#include <algorithm>

#include "ops/core/node_view.hpp"

namespace morton::ops {
namespace {

const Body& body_named(const NodeView& view, const char* name) {
  const auto found = view.node().bodies.find(name);
  if (found == view.node().bodies.end()) {
    view.fail("has no graph '" + std::string(name) + "'");
  }
  return found->second;
}

void require_bodies(const NodeView& view, std::size_t count) {
  if (view.node().bodies.size() == count) return;
  view.fail("has " + std::to_string(view.node().bodies.size()) + " graphs, expected " +
            std::to_string(count));
}

/// The node's own inputs, behind the first ones that only it has, must be the body's.
void require_formals(const NodeView& view, const Body& body, std::size_t first = 0) {
  const std::size_t own = view.node().inputs.size() - body.captured;
  if (own == first + body.formals()) return;
  view.fail("has " + std::to_string(own - std::min(own, first)) + " inputs, its body " +
            std::to_string(body.formals()));
}

void require_outputs(const NodeView& view, std::size_t most) {
  if (view.node().outputs.size() <= most) return;
  view.fail("has " + std::to_string(view.node().outputs.size()) + " outputs, its body gives " +
            std::to_string(most));
}

BodyWiring wiring_of_if(const NodeView& view) {
  require_bodies(view, 2);
  const Body& other = body_named(view, "else_branch");
  const Body& then = body_named(view, "then_branch");
  if (view.node().inputs.size() - other.captured - then.captured != 1) {
    view.fail("has no condition, or more inputs than that");
  }
  if (other.formals() + then.formals() > 0)
    view.fail("its branches have inputs; none are expected");
  if (other.graph->outputs.size() != then.graph->outputs.size()) {
    view.fail("its branches give " + std::to_string(then.graph->outputs.size()) + " and " +
              std::to_string(other.graph->outputs.size()) + " results");
  }
  require_outputs(view, then.graph->outputs.size());
  return {};
}

BodyWiring wiring_of_loop(const NodeView& view) {
  require_bodies(view, 1);
  const Body& body = body_named(view, "body");
  require_formals(view, body);
  const std::size_t outputs = body.graph->outputs.size();
  if (body.formals() < 2 || outputs + 1 < body.formals()) {
    view.fail("its body has " + std::to_string(body.formals()) + " inputs and " +
              std::to_string(outputs) +
              " outputs; expected a turn's number, a condition and states, and as many outputs");
  }
  require_outputs(view, outputs - 1);
  return {1, body.formals() - 2, 2};
}

BodyWiring wiring_of_scan(const NodeView& view) {
  require_bodies(view, 1);
  const Body& body = body_named(view, "body");
  const std::size_t first = view.opset() < kScanWithoutBatch ? 1 : 0;
  require_formals(view, body, first);
  const std::int64_t scans = view.integer("num_scan_inputs", 0);
  if (scans < 1 || static_cast<std::size_t>(scans) > body.formals()) {
    view.fail("num_scan_inputs is " + std::to_string(scans) + " of " +
              std::to_string(body.formals()) + " inputs");
  }
  for (std::size_t i = first; i < first + body.formals(); ++i) {
    (void)view.input_id(i);
  }
  const std::size_t states = body.formals() - static_cast<std::size_t>(scans);
  const std::size_t outputs = body.graph->outputs.size();
  if (outputs < states) {
    view.fail("its body has " + std::to_string(states) + " states and gives " +
              std::to_string(outputs) + " results");
  }
  require_outputs(view, outputs);
  return {0, states, 0, first};
}

}  // namespace

bool has_bodies(std::string_view op) {
  return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
}

std::span<const TensorId> captured_by(const Node& node, std::string_view name) {
  std::span<const TensorId> rest(node.inputs);
  // Those of the last body stand last.
  for (auto body = node.bodies.rbegin(); body != node.bodies.rend(); ++body) {
    const auto own = rest.last(body->second.captured);
    if (body->first == name) return own;
    rest = rest.first(rest.size() - own.size());
  }
  return {};
}

BodyWiring wiring_of(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  if (node.op == "If") return wiring_of_if(view);
  if (node.op == "Loop") return wiring_of_loop(view);
  if (node.op == "Scan") return wiring_of_scan(view);
  require_bodies(view, 1);
  const Body& body = body_named(view, "body");
  require_formals(view, body);
  require_outputs(view, body.graph->outputs.size());
  return {};
}

std::vector<std::int64_t> scan_numbers(const NodeView& view, const char* name, std::size_t count) {
  auto numbers = view.integers(name, std::vector<std::int64_t>(count, 0));
  if (numbers.size() != count) {
    view.fail(std::string(name) + " has " + std::to_string(numbers.size()) + " numbers, expected " +
              std::to_string(count));
  }
  return numbers;
}

}  // namespace morton::ops
