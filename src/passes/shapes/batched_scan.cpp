// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/batched_scan.hpp"

#include <map>

namespace morton::passes {
namespace {

/// In front of the states stand the lengths of sequences.
constexpr std::size_t kFirstInput = 1;

std::int64_t batch_of(const NodeView& view, std::size_t end) {
  std::int64_t batch = 0;
  for (std::size_t i = kFirstInput; i < end; ++i) {
    const Shape& shape = view.input(i).shape;
    if (shape.empty()) view.fail("its input " + std::to_string(i) + " has no batch in front");
    if (i > kFirstInput && shape[0] != batch) {
      view.fail("its inputs have batches of " + std::to_string(batch) + " and " +
                std::to_string(shape[0]));
    }
    batch = shape[0];
  }
  if (batch == 0) view.unsupported("its batch is empty");
  return batch;
}

}  // namespace

void write_batched_scan(const Node& node, Splicing& out) {
  const NodeView view(out.graph(), node);
  if (view.has_input(0)) view.unsupported("its sequences have lengths of their own");
  const std::size_t end = kFirstInput + node.bodies.at("body").formals();
  const std::int64_t batch = batch_of(view, end);
  Node single = node;
  if (single.attributes.contains("directions")) {
    auto directions = single.attributes.extract("directions");
    directions.key() = "scan_input_directions";
    single.attributes.insert(std::move(directions));
  }
  const TensorId front = out.list({0});
  std::vector<std::vector<TensorId>> results(node.outputs.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    const TensorId first = out.list({b});
    const TensorId behind = out.list({b + 1});
    single.inputs.clear();
    for (std::size_t i = kFirstInput; i < end; ++i) {
      const TensorId part = out.add("Slice", {node.inputs[i], first, behind, front});
      single.inputs.push_back(out.add("Squeeze", {part, front}));
    }
    single.inputs.insert(single.inputs.end(),
                         node.inputs.begin() + static_cast<std::ptrdiff_t>(end), node.inputs.end());
    const std::vector<TensorId> made = out.add_like(single);
    for (std::size_t r = 0; r < made.size(); ++r) results[r].push_back(made[r]);
  }
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (node.outputs[r] != kNoTensor) out.copy(out.stacked(results[r], 0), node.outputs[r]);
  }
}

}  // namespace morton::passes
