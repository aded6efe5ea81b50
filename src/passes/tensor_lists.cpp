// SPDX-License-Identifier: Apache-2.0
#include "passes/tensor_lists.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::passes {
namespace {

/// A model of a few bytes may ask for any number.
constexpr std::size_t kLongestList = 100'000;

}  // namespace

void TensorLists::define(TensorId id, List list) {
  if (list.size() > kLongestList) {
    throw UnsupportedError("the list of tensors '" + out_.graph().tensor(id).name +
                           "' has more than " + std::to_string(kLongestList) + " elements");
  }
  if (id != kNoTensor) lists_[id] = std::move(list);
}

void TensorLists::pass_on(TensorId from, TensorId to) {
  if (to == kNoTensor) return;
  if (has(from)) {
    lists_[to] = lists_.at(from);
  } else if (empty_.contains(from)) {
    empty_.insert(to);
  } else {
    out_.copy(from, to);
  }
}

const TensorLists::List& TensorLists::list_of(const Node& node) const {
  if (has(node.inputs[0])) return at(node.inputs[0]);
  view(node).fail("its first input is no list of tensors");
}

std::size_t TensorLists::place_of(const Node& node, std::size_t i, std::size_t count) const {
  const std::vector<std::int64_t> values = view(node).value_integers(i);
  if (values.size() != 1) view(node).fail("its place is no single number");
  const auto length = static_cast<std::int64_t>(count);
  const std::int64_t place = values[0] < 0 ? values[0] + length : values[0];
  if (place < 0 || place >= length) {
    view(node).fail("its place is " + std::to_string(values[0]) + ", the list has " +
                    std::to_string(count) + " places");
  }
  return static_cast<std::size_t>(place);
}

bool TensorLists::write(const Node& node) {
  const auto result = [&] { return node.outputs[0]; };
  if (node.op == "SequenceEmpty") {
    define(result(), {});
  } else if (node.op == "SequenceConstruct") {
    define(result(), node.inputs);
  } else if (node.op == "SequenceInsert") {
    insert(node);
  } else if (node.op == "SequenceErase") {
    List list = list_of(node);
    if (list.empty()) view(node).fail("its list is empty");
    const bool is_last = !view(node).has_input(1);
    const std::size_t place = is_last ? list.size() - 1 : place_of(node, 1, list.size());
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
    define(result(), std::move(list));
  } else if (node.op == "SequenceAt") {
    const List& list = list_of(node);
    pass_on(list[place_of(node, 1, list.size())], result());
  } else if (node.op == "SequenceLength") {
    out_.copy(out_.number(static_cast<std::int64_t>(list_of(node).size())), result());
  } else if (node.op == "SplitToSequence") {
    split(node);
  } else if (node.op == "ConcatFromSequence") {
    join(node);
  } else if (node.op.starts_with("Optional")) {
    write_optional(node);
  } else if (node.op == "Identity" && (has(node.inputs[0]) || empty_.contains(node.inputs[0]))) {
    pass_on(node.inputs[0], result());
  } else {
    return false;
  }
  return true;
}

void TensorLists::insert(const Node& node) {
  List list = list_of(node);
  // Behind the last is a place too.
  const std::size_t place =
      view(node).has_input(2) ? place_of(node, 2, list.size() + 1) : list.size();
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), node.inputs[1]);
  define(node.outputs[0], std::move(list));
}

void TensorLists::split(const Node& node) {
  const NodeView read = view(node);
  const Shape shape = read.input(0).shape;
  const std::size_t axis =
      read.axis(read.integer("axis", 0), shape.size(), static_cast<std::int64_t>(shape.size()) - 1);
  std::vector<std::int64_t> parts(static_cast<std::size_t>(shape[axis]), 1);
  bool keeps = read.flag("keepdims", 1);
  if (read.has_input(1)) {
    keeps = true;
    parts = read.value_integers(1);
    if (read.input(1).shape.empty()) {
      const std::int64_t length = parts[0];
      if (length < 1) read.fail("its parts have " + std::to_string(length) + " elements");
      parts.assign(static_cast<std::size_t>(shape[axis] / length), length);
      if (shape[axis] % length != 0) parts.push_back(shape[axis] % length);
    }
  }
  const auto place = static_cast<std::int64_t>(axis);
  List list{node.inputs[0]};
  if (parts.size() != 1) {
    list = parts.empty() ? List{}
                         : out_.add_several("Split", {node.inputs[0], out_.list(parts)},
                                            parts.size(), {{"axis", place}});
  }
  if (!keeps) {
    for (TensorId& id : list) id = out_.add("Squeeze", {id, out_.list({place})});
  }
  define(node.outputs[0], std::move(list));
}

void TensorLists::join(const Node& node) {
  List list = list_of(node);
  if (list.empty()) view(node).fail("its list is empty");
  const std::int64_t axis = view(node).integer("axis", 0);
  if (view(node).flag("new_axis", 0)) {
    for (TensorId& id : list) id = out_.add("Unsqueeze", {id, out_.list({axis})});
  }
  out_.copy(list.size() == 1 ? list[0] : out_.add("Concat", list, {{"axis", axis}}),
            node.outputs[0]);
}

void TensorLists::write_optional(const Node& node) {
  const bool has_input = view(node).has_input(0);
  const bool is_there = has_input && !empty_.contains(node.inputs[0]);
  if (node.op == "OptionalHasElement") {
    out_.copy(out_.truth(is_there), node.outputs[0]);
  } else if (is_there) {
    pass_on(node.inputs[0], node.outputs[0]);
  } else if (node.op == "Optional") {
    empty_.insert(node.outputs[0]);
  } else {
    view(node).fail("its optional value is not there");
  }
}

void TensorLists::require_none(const Node& node) const {
  for (const TensorId id : node.inputs) {
    if (has(id))
      view(node).unsupported("reads a list of tensors, '" + out_.graph().tensor(id).name + "'");
    if (id != kNoTensor && empty_.contains(id)) {
      view(node).fail("reads the optional value '" + out_.graph().tensor(id).name +
                      "', which is not there");
    }
  }
}

void TensorLists::require_none(const Graph& graph) const {
  for (const TensorId id : graph.outputs) {
    if (!has(id) && !empty_.contains(id)) continue;
    throw UnsupportedError("output '" + graph.tensor(id).name + "' is " +
                           (has(id) ? "a list of tensors" : "an optional value that is not there") +
                           "; only tensors can be outputs");
  }
}

}  // namespace morton::passes
