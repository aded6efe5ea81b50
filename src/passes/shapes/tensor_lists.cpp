// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/tensor_lists.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/list_length.hpp"

namespace morton::passes {
namespace {

/// Of all lists together: a model of a few bytes may ask for any number.
constexpr std::size_t kMostListed = 2'000'000;

}  // namespace

void TensorLists::define(TensorId id, List list) {
  if (id == kNoTensor) return;
  const std::string& name = out_.graph().tensor(id).name;
  require_list_length(static_cast<std::int64_t>(list.size()), name);
  listed_ += list.size();
  if (listed_ > kMostListed) {
    throw UnsupportedError("the lists of tensors up to '" + name + "' have more than " +
                           std::to_string(kMostListed) + " elements together");
  }
  lists_[id] = std::move(list);
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

std::size_t TensorLists::place_of(const Node& node, std::size_t i, std::size_t count,
                                  std::size_t last) const {
  const std::vector<std::int64_t> values = view(node).value_integers(i);
  if (values.size() != 1) view(node).fail("its place is no single number");
  const std::int64_t place =
      values[0] < 0 ? values[0] + static_cast<std::int64_t>(count) : values[0];
  if (place < 0 || place > static_cast<std::int64_t>(last)) {
    view(node).fail("its place is " + std::to_string(values[0]) + ", the list has " +
                    std::to_string(count) + (count == 1 ? " element" : " elements"));
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
    const std::size_t place =
        is_last ? list.size() - 1 : place_of(node, 1, list.size(), list.size() - 1);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
    define(result(), std::move(list));
  } else if (node.op == "SequenceAt") {
    const List& list = list_of(node);
    if (list.empty()) view(node).fail("its list is empty");
    pass_on(list[place_of(node, 1, list.size(), list.size() - 1)], result());
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
      view(node).has_input(2) ? place_of(node, 2, list.size(), list.size()) : list.size();
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), node.inputs[1]);
  define(node.outputs[0], std::move(list));
}

std::vector<std::int64_t> TensorLists::parts_of(const Node& node, std::int64_t extent) const {
  const NodeView read = view(node);
  const std::string& name = out_.graph().tensor(node.outputs[0]).name;
  if (!read.has_input(1)) {
    require_list_length(extent, name);
    return std::vector<std::int64_t>(static_cast<std::size_t>(extent), 1);
  }
  std::vector<std::int64_t> parts = read.value_integers(1);
  if (read.input(1).shape.empty()) {
    const std::int64_t length = parts[0];
    if (length < 1) read.fail("its parts have " + std::to_string(length) + " elements");
    const std::int64_t count = extent / length;
    require_list_length(count, name);
    parts.assign(static_cast<std::size_t>(count), length);
    if (extent % length != 0) parts.push_back(extent % length);
  }
  std::int64_t left = extent;
  for (const std::int64_t part : parts) left = part < 0 || part > left ? -1 : left - part;
  if (left != 0) {
    read.fail("its parts are not " + std::to_string(extent) + " elements together");
  }
  return parts;
}

void TensorLists::split(const Node& node) {
  const NodeView read = view(node);
  const Shape shape = read.input(0).shape;
  const std::size_t axis =
      read.axis(read.integer("axis", 0), shape.size(), static_cast<std::int64_t>(shape.size()) - 1);
  const std::vector<std::int64_t> parts = parts_of(node, shape[axis]);
  const bool keeps = read.has_input(1) || read.flag("keepdims", 1);
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
  const List& list = list_of(node);
  if (list.empty()) view(node).fail("its list is empty");
  const std::int64_t axis = view(node).integer("axis", 0);
  const bool is_new = view(node).flag("new_axis", 0);
  out_.copy(is_new ? out_.stacked(list, axis) : out_.joined(list, axis), node.outputs[0]);
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

void TensorLists::write_outputs(Graph& graph) {
  for (const TensorId id : std::exchange(graph.outputs, {})) {
    if (has(id)) {
      write_output(graph, id);
    } else if (!empty_.contains(id)) {
      graph.outputs.push_back(id);
    }
  }
}

void TensorLists::write_output(Graph& graph, TensorId list) {
  const std::string name = graph.tensor(list).name;
  std::int64_t place = 0;
  for (const TensorId id : at(list)) {
    const std::string own = element_name(name, place++);
    if (has(id) || empty_.contains(id)) {
      throw UnsupportedError("output '" + own + "' of the list '" + name +
                             "' is no tensor; only lists of tensors can be outputs");
    }
    // An input's own element.
    const bool is_it = graph.tensor(id).name == own;
    if (!is_it && out_.has_tensor(own)) {
      throw ModelError("output '" + name + "' is a list, and another tensor is called '" + own +
                       "', as its element is; rename that tensor in the model");
    }
    graph.outputs.push_back(is_it ? id : out_.named_copy(id, own));
  }
}

}  // namespace morton::passes
