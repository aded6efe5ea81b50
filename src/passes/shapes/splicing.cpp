// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/splicing.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"

namespace morton::passes {
namespace {

/// A model of a few bytes may ask for any number.
constexpr std::size_t kMostNodes = 50'000;

}  // namespace

void Splicing::begin(const Node& node) {
  if (tensor_names_.empty()) {
    for (const GraphTensor& tensor : graph_.tensors) tensor_names_.insert(tensor.name);
    for (const Node& other : graph_.nodes) node_names_.insert(other.name);
  }
  prefix_ = node.name;
  made_.clear();
}

std::size_t Splicing::put_in_place_of(std::size_t n) {
  const std::size_t count = made_.size();
  const auto place = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(n);
  const auto behind = graph_.nodes.erase(place);
  graph_.nodes.insert(behind, std::make_move_iterator(made_.begin()),
                      std::make_move_iterator(made_.end()));
  made_.clear();
  return count;
}

std::size_t Splicing::put_last() {
  const std::size_t count = made_.size();
  std::ranges::move(made_, std::back_inserter(graph_.nodes));
  made_.clear();
  return count;
}

void Splicing::require_room(std::size_t nodes) const {
  if (graph_.nodes.size() + made_.size() + nodes <= kMostNodes) return;
  throw NeedsSegments("'" + prefix_ + "': written out, control flow makes more than " +
                      std::to_string(kMostNodes) + " nodes");
}

TensorId Splicing::add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes) {
  return add_several(op, std::move(inputs), 1, std::move(attributes))[0];
}

std::vector<TensorId> Splicing::add_several(std::string_view op, std::vector<TensorId> inputs,
                                            std::size_t outputs, Attributes attributes) {
  require_room(outputs);
  Node& node = new_node(op, std::move(inputs));
  node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(new_tensor({}, node.name));
  return node.outputs;
}

std::vector<TensorId> Splicing::add_like(const Node& node) {
  require_room(1);
  Node& made = new_node(node.op, node.inputs);
  made.attributes = node.attributes;
  made.bodies = node.bodies;
  for (const TensorId id : node.outputs) {
    made.outputs.push_back(id == kNoTensor ? kNoTensor : new_tensor({}, made.name));
  }
  return made.outputs;
}

Node& Splicing::new_node(std::string_view op, std::vector<TensorId> inputs) {
  Node& node = made_.emplace_back();
  node.op = op;
  node.name = unused(node_names_, prefix_ + "/" + node.op);
  node.inputs = std::move(inputs);
  node.opset = graph::kNewestOpset;
  return node;
}

void Splicing::add(Node node) { made_.push_back(std::move(node)); }

void Splicing::again(Node node, const std::vector<TensorId>& first) {
  std::ranges::copy(first, node.inputs.begin());
  add(std::move(node));
}

TensorId Splicing::constant(Tensor value) {
  return new_tensor(graph::constant_tensor({}, std::move(value)), prefix_ + "/constant");
}

TensorId Splicing::list(const std::vector<std::int64_t>& values) {
  return constant(Tensor::from({static_cast<std::int64_t>(values.size())},
                               std::span<const std::int64_t>(values)));
}

TensorId Splicing::number(std::int64_t value) {
  return constant(Tensor::from({}, std::span<const std::int64_t>(&value, 1)));
}

TensorId Splicing::truth(bool value) {
  TensorId& kept = value ? true_ : false_;
  if (kept != kNoTensor) return kept;
  Tensor tensor = Tensor::allocate(DType::boolean, {});
  tensor.set(0, value ? 1.0 : 0.0);
  return kept = constant(std::move(tensor));
}

void Splicing::copy(TensorId from, TensorId to) {
  if (to != kNoTensor) new_node("Identity", {from}).outputs = {to};
}

TensorId Splicing::named_copy(TensorId from, const std::string& name) {
  const TensorId to = new_tensor({}, name);
  copy(from, to);
  return to;
}

TensorId Splicing::joined(const std::vector<TensorId>& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts[0] : add("Concat", parts, {{"axis", axis}});
}

TensorId Splicing::stacked(std::vector<TensorId> parts, std::int64_t axis) {
  for (TensorId& id : parts) id = add("Unsqueeze", {id, list({axis})});
  return joined(parts, axis);
}

std::vector<TensorId> Splicing::body(const Body& body, std::span<const TensorId> inputs,
                                     const std::string& turn) {
  const Graph& inside = *body.graph;
  require_room(inside.nodes.size());
  Indexed<TensorId, TensorId> own(inside.tensors.size(), kNoTensor);
  for (std::size_t i = 0; i < inside.inputs.size(); ++i) own[inside.inputs[i]] = inputs[i];
  const std::string prefix = prefix_ + "/" + turn + "/";
  for (const TensorId id : inside.tensors.ids()) {
    const GraphTensor& tensor = inside.tensor(id);
    if (tensor.kind == GraphTensor::Kind::input) continue;
    own[id] = tensor.kind == GraphTensor::Kind::constant ? constant_of(inside, id)
                                                         : new_tensor(tensor, prefix + tensor.name);
  }
  const auto here = [&](TensorId id) { return id == kNoTensor ? kNoTensor : own[id]; };
  for (const Node& node : inside.nodes) {
    Node copied = node;
    copied.name = unused(node_names_, prefix + node.name);
    if (copied.opset == 0 && inside.opset != graph_.opset) copied.opset = inside.opset;
    std::ranges::transform(copied.inputs, copied.inputs.begin(), here);
    std::ranges::transform(copied.outputs, copied.outputs.begin(), here);
    made_.push_back(std::move(copied));
  }
  std::vector<TensorId> outputs;
  std::ranges::transform(inside.outputs, std::back_inserter(outputs), here);
  return outputs;
}

TensorId Splicing::new_tensor(GraphTensor tensor, const std::string& wish) {
  tensor.name = unused(tensor_names_, wish);
  return graph_.add_tensor(std::move(tensor));
}

std::string Splicing::unused(std::set<std::string>& names, const std::string& wish) {
  std::string name = wish;
  while (!names.insert(name).second) name = wish + "_" + std::to_string(++suffixes_[wish]);
  return name;
}

TensorId Splicing::constant_of(const Graph& body, TensorId id) {
  const auto [place, is_new] = constants_.emplace(std::pair(&body, id), kNoTensor);
  if (is_new) place->second = new_tensor(body.tensor(id), prefix_ + "/" + body.tensor(id).name);
  return place->second;
}

}  // namespace morton::passes
