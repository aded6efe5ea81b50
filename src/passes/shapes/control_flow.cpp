// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/control_flow.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/bodies.hpp"
#include "ops/core/operator.hpp"
#include "passes/shapes/batched_scan.hpp"

namespace morton::passes {
namespace {

/// Of all loops together: a model of a few bytes may ask for any number.
constexpr std::int64_t kMostTurns = 10'000;

std::string turn_name(std::int64_t number) { return "turn_" + std::to_string(number); }

}  // namespace

std::ptrdiff_t ControlFlow::write_out(std::size_t n) {
  const Operator* op = find_operator(graph_.nodes[n].op);
  const bool is_control = op != nullptr && op->host.is_control;
  if (!is_control && lists_.has_none()) return -1;
  const Node node = graph_.nodes[n];
  out_.begin(node);
  if (is_control) {
    const bool is_chosen = branches_.contains(node.name);
    if (!is_chosen && !loops_.contains(node.name)) check_supported(graph_, node);
    if (node.op == "If" && is_chosen) {
      write_choice(node, branches_.at(node.name));
      branches_.erase(node.name);
    } else if (node.op == "If") {
      write_if(node);
    } else if (node.op == "Loop") {
      write_loop(node);
    } else if (node.op == "Scan" && NodeView(graph_, node).opset() < kScanWithoutBatch) {
      write_batched_scan(node, out_);
    } else if (node.op == "Scan") {
      write_scan(node);
    } else if (node.op == "SequenceMap") {
      write_map(node);
    } else {
      (void)lists_.write(node);
    }
  } else if (!lists_.write(node)) {
    lists_.require_none(node);
    return -1;
  }
  return static_cast<std::ptrdiff_t>(out_.put_in_place_of(n));
}

std::size_t ControlFlow::write_outputs() {
  if (lists_.has_none()) return 0;
  out_.begin({.op = "Identity", .name = "outputs"});
  lists_.write_outputs(graph_);
  return out_.put_last();
}

void ControlFlow::take_turns(const Node& node, std::int64_t count) {
  turns_ += count;
  if (turns_ <= kMostTurns) return;
  NodeView(graph_, node)
      .wait("with it, the model's loops take more than " + std::to_string(kMostTurns) + " turns");
}

bool ControlFlow::condition(const Node& node, std::size_t i) const {
  const NodeView view(graph_, node);
  if (!view.has_input(i)) return true;
  const Tensor* value = graph_.tensor(node.inputs[i]).planned();
  if (value == nullptr) {
    view.wait("whether it goes on follows from data, '" + graph_.tensor(node.inputs[i]).name + "'");
  }
  if (value->size() != 1)
    view.fail("its condition has " + std::to_string(value->size()) + " values");
  return value->at(0) != 0.0;
}

void ControlFlow::write_if(const Node& node) {
  const auto branch = [&](const char* name) {
    return out_.body(node.bodies.at(name), captured_by(node, name), name);
  };
  if (graph_.tensor(node.inputs[0]).planned() != nullptr) {
    const std::vector<TensorId> results =
        branch(condition(node, 0) ? "then_branch" : "else_branch");
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      lists_.pass_on(results[i], node.outputs[i]);
    }
    return;
  }
  // It stands behind its branches, and chooses once their shapes are known.
  Branches both{branch("then_branch"), branch("else_branch")};
  Node choice = node;
  choice.bodies.clear();
  choice.inputs.resize(1);
  choice.inputs.insert(choice.inputs.end(), both.then.begin(), both.then.end());
  choice.inputs.insert(choice.inputs.end(), both.otherwise.begin(), both.otherwise.end());
  branches_[node.name] = std::move(both);
  out_.add(std::move(choice));
}

void ControlFlow::write_choice(const Node& node, const Branches& branches) {
  const NodeView view(graph_, node);
  const TensorId condition = out_.add("Reshape", {node.inputs[0], out_.list({})});
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    const std::pair ids{branches.then[i], branches.otherwise[i]};
    if (ids.first == kNoTensor || ids.second == kNoTensor) {
      view.unsupported(
          "its condition follows from data, and a branch gives a value that is absent");
    }
    if (lists_.has(ids.first) || lists_.has(ids.second)) {
      view.unsupported("its condition follows from data, and it gives lists of tensors");
    }
    if (late_.counts(ids.first) != late_.counts(ids.second)) {
      view.wait(
          "its condition follows from data, and so do extents of its results, each by itself");
    }
    const GraphTensor& then = graph_.tensor(ids.first);
    const GraphTensor& otherwise = graph_.tensor(ids.second);
    if (then.shape != otherwise.shape || then.dtype != otherwise.dtype) {
      view.wait("its condition follows from data, and its branches give " + to_string(then.shape) +
                " and " + to_string(otherwise.shape));
    }
    out_.copy(out_.add("Where", {condition, ids.first, ids.second}), node.outputs[i]);
  }
}

void ControlFlow::write_loop(const Node& node) {
  const NodeView view(graph_, node);
  const Body& body = node.bodies.at("body");
  const std::size_t states = body.formals() - 2;
  Turns& turns = loops_[node.name];
  turns.scans.resize(body.graph->outputs.size() - 1 - states);
  // Without a condition at first, the body's holds all the same, as in ONNX Runtime.
  bool goes_on = condition(node, 1);
  if (view.has_input(0)) {
    const std::vector<std::int64_t> most = view.value_integers(0);
    if (most.size() != 1)
      view.fail("its number of turns has " + std::to_string(most.size()) + " values");
    goes_on = goes_on && turns.number < most[0];
  }
  if (!goes_on) {
    finish_loop(node, turns);
    loops_.erase(node.name);
    return;
  }
  take_turns(node, 1);
  std::vector<TensorId> taken(node.inputs.begin() + 2,
                              node.inputs.begin() + static_cast<std::ptrdiff_t>(2 + states));
  taken.insert(taken.begin(),
               {out_.number(turns.number), view.has_input(1) ? node.inputs[1] : out_.truth(true)});
  const std::span<const TensorId> captured = captured_by(node, "body");
  taken.insert(taken.end(), captured.begin(), captured.end());
  const std::vector<TensorId> results = out_.body(body, taken, turn_name(turns.number++));
  Node rest = node;
  rest.inputs.resize(2);
  rest.inputs[1] = results[0];
  rest.inputs.insert(rest.inputs.end(), results.begin() + 1,
                     results.begin() + static_cast<std::ptrdiff_t>(1 + states));
  rest.inputs.insert(rest.inputs.end(), captured.begin(), captured.end());
  for (std::size_t s = 0; s < turns.scans.size(); ++s) {
    turns.scans[s].push_back(results[1 + states + s]);
  }
  out_.add(std::move(rest));
}

void ControlFlow::finish_loop(const Node& node, const Turns& turns) {
  const std::size_t states = node.bodies.at("body").formals() - 2;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    if (i < states) {
      lists_.pass_on(node.inputs[2 + i], node.outputs[i]);
      continue;
    }
    const std::vector<TensorId>& turn = turns.scans[i - states];
    if (turn.empty()) {
      NodeView(graph_, node)
          .unsupported("takes no turn, and the extents of output " + std::to_string(i) +
                       " follow from its turns");
    }
    out_.copy(out_.stacked(turn, 0), node.outputs[i]);
  }
}

void ControlFlow::write_scan(const Node& node) {
  const NodeView view(graph_, node);
  const Body& body = node.bodies.at("body");
  if (node.attributes.contains("directions")) {
    view.fail("attribute 'directions' is of operator set 8; scan_input_directions took its place");
  }
  const auto scans = static_cast<std::size_t>(view.integer("num_scan_inputs", 0));
  const std::size_t states = body.formals() - scans;
  const std::size_t results = body.graph->outputs.size() - states;
  const auto axes = scan_numbers(view, "scan_input_axes", scans);
  const auto from_back = scan_numbers(view, "scan_input_directions", scans);
  const auto result_axes = scan_numbers(view, "scan_output_axes", results);
  const auto results_from_back = scan_numbers(view, "scan_output_directions", results);
  std::vector<std::int64_t> places;
  std::int64_t turns = 0;
  for (std::size_t s = 0; s < scans; ++s) {
    const Shape shape = view.input(states + s).shape;
    places.push_back(static_cast<std::int64_t>(
        view.axis(axes[s], shape.size(), static_cast<std::int64_t>(shape.size()) - 1)));
    const std::int64_t extent = shape[static_cast<std::size_t>(places[s])];
    if (s > 0 && extent != turns) {
      view.fail("its scanned inputs have " + std::to_string(turns) + " and " +
                std::to_string(extent) + " elements along their axes");
    }
    turns = extent;
  }
  if (turns == 0) view.unsupported("scans inputs without elements");
  take_turns(node, turns);
  std::vector<TensorId> state(node.inputs.begin(),
                              node.inputs.begin() + static_cast<std::ptrdiff_t>(states));
  const std::span<const TensorId> captured = captured_by(node, "body");
  std::vector<TensorId> along;
  for (const std::int64_t place : places) along.push_back(out_.list({place}));
  std::vector<std::vector<TensorId>> given(results);
  for (std::int64_t t = 0; t < turns; ++t) {
    std::vector<TensorId> taken = state;
    for (std::size_t s = 0; s < scans; ++s) {
      const std::int64_t at = from_back[s] != 0 ? turns - 1 - t : t;
      const TensorId part = out_.add(
          "Slice", {node.inputs[states + s], out_.list({at}), out_.list({at + 1}), along[s]});
      taken.push_back(out_.add("Squeeze", {part, along[s]}));
    }
    taken.insert(taken.end(), captured.begin(), captured.end());
    const std::vector<TensorId> made = out_.body(body, taken, turn_name(t));
    std::copy_n(made.begin(), states, state.begin());
    for (std::size_t r = 0; r < results; ++r) given[r].push_back(made[states + r]);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i < states) {
      lists_.pass_on(state[i], node.outputs[i]);
    } else if (node.outputs[i] != kNoTensor) {
      auto& parts = given[i - states];
      if (results_from_back[i - states] != 0) std::ranges::reverse(parts);
      out_.copy(out_.stacked(parts, result_axes[i - states]), node.outputs[i]);
    }
  }
}

void ControlFlow::write_map(const Node& node) {
  const NodeView view(graph_, node);
  const Body& body = node.bodies.at("body");
  if (!lists_.has(node.inputs[0])) view.fail("its first input is no list of tensors");
  const std::size_t count = lists_.at(node.inputs[0]).size();
  take_turns(node, static_cast<std::int64_t>(count));
  const std::span<const TensorId> captured = captured_by(node, "body");
  std::vector<TensorLists::List> results(node.outputs.size());
  for (std::size_t e = 0; e < count; ++e) {
    std::vector<TensorId> taken;
    for (std::size_t i = 0; i < body.formals(); ++i) {
      const TensorId id = node.inputs[i];
      if (lists_.has(id) && lists_.at(id).size() != count) {
        view.fail("its lists have " + std::to_string(count) + " and " +
                  std::to_string(lists_.at(id).size()) + " elements");
      }
      taken.push_back(lists_.has(id) ? lists_.at(id)[e] : id);
    }
    taken.insert(taken.end(), captured.begin(), captured.end());
    const auto made = out_.body(body, taken, "element_" + std::to_string(e));
    for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(made[i]);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i] != kNoTensor) lists_.define(node.outputs[i], std::move(results[i]));
  }
}

}  // namespace morton::passes
