// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/list_inputs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/list_length.hpp"
#include "base/unknown_shape.hpp"

namespace morton::passes {
namespace {

/// Shapes by place.
using Elements = std::map<std::int64_t, Shape>;

class ListInputs {
 public:
  ListInputs(Graph& graph, const PassOptions& options) : graph_(graph), options_(options) {
    for (const auto& [name, value] : options.values) take_given(name, value.shape());
    for (const auto& [name, shape] : options.shapes) take_given(name, shape);
  }

  std::set<std::string> open() {
    require_free_names();
    std::set<std::string> lists;
    for (const TensorId id : std::exchange(graph_.inputs, {})) {
      const ValueForm form = graph_.tensor(id).form;
      if (form.is_list) {
        lists.insert(graph_.tensor(id).name);
        open_list(id);
      } else if (form.is_optional) {
        open_optional(id);
      } else {
        graph_.inputs.push_back(id);
      }
    }
    graph_.nodes.insert(graph_.nodes.begin(), std::make_move_iterator(made_.begin()),
                        std::make_move_iterator(made_.end()));
    return lists;
  }

 private:
  void take_given(const std::string& name, const Shape& shape) {
    if (const auto element = as_list_element(name))
      elements_[element->list][element->place] = shape;
    given_[name] = shape;
  }

  /// Throws ModelError where a tensor of the model is called as an element of a list.
  void require_free_names() const {
    std::set<std::string> lists;
    for (const TensorId id : graph_.inputs) {
      if (graph_.tensor(id).form.is_list) lists.insert(graph_.tensor(id).name);
    }
    for (const GraphTensor& tensor : graph_.tensors) {
      const auto element = as_list_element(tensor.name);
      if (!element || !lists.contains(element->list)) continue;
      throw ModelError("input '" + element->list + "' is a list, and another tensor is called '" +
                       tensor.name + "', as the list's element " + std::to_string(element->place) +
                       " is; rename that tensor in the model");
    }
  }

  void open_optional(TensorId id) {
    const std::string name = graph_.tensor(id).name;
    const auto given = given_.find(name);
    if (given == given_.end()) return make(id, "Optional", {});
    fit(graph_.tensor(id), given->second);
    graph_.tensor(id).form = {};
    graph_.inputs.push_back(id);
  }

  void open_list(TensorId id) {
    const std::string name = graph_.tensor(id).name;
    const std::optional<std::int64_t> length = length_of(graph_.tensor(id));
    if (!length) return make(id, "Optional", {});
    require_list_length(*length, name);
    const auto given = elements_.find(name);
    std::vector<TensorId> elements;
    for (std::int64_t place = 0; place < *length; ++place) {
      GraphTensor element = graph_.tensor(id);
      element.name = element_name(name, place);
      element.form.is_list = element.form.is_optional = false;
      if (given != elements_.end() && given->second.contains(place)) {
        fit(element, given->second.at(place));
      } else {
        require_fixed(element);
      }
      element.form = {};
      elements.push_back(graph_.add_tensor(std::move(element)));
    }
    graph_.inputs.insert(graph_.inputs.end(), elements.begin(), elements.end());
    const char* op = elements.empty() ? "SequenceEmpty" : "SequenceConstruct";
    make(id, op, std::move(elements));
  }

  /// How many elements the options give it; nothing for an optional list that they do not name.
  [[nodiscard]] std::optional<std::int64_t> length_of(const GraphTensor& list) const {
    const auto own = options_.shapes.find(list.name);
    const auto given = elements_.find(list.name);
    const std::int64_t last = given == elements_.end() ? -1 : given->second.rbegin()->first;
    if (own != options_.shapes.end()) return stated_length(list, own->second, last);
    if (last < 0 && list.form.is_optional) return std::nullopt;
    if (last < 0) {
      throw UnknownShape(
          "input '" + list.name + "' is a list of tensors: say what it holds, with " +
          setting("shapes", element_name(list.name, 0) + ":...") + " for each element, or " +
          setting("shapes", list.name + ":0") + " for a list without elements");
    }
    require_list_length(last + 1, list.name);
    for (std::int64_t place = 0; place < last; ++place) {
      if (given->second.contains(place)) continue;
      throw UsageError("input '" + list.name + "' is a list: its element " + std::to_string(last) +
                       " is given, and element " + std::to_string(place) + " is not");
    }
    return last + 1;
  }

  static std::int64_t stated_length(const GraphTensor& list, const Shape& shape,
                                    std::int64_t last) {
    const Message option = setting("shapes", list.name + ":" + to_string(shape));
    if (shape.size() != 1 || shape[0] < 0) {
      throw UsageError(option + ": the input is a list of tensors; expected one number, how many " +
                       "elements it has");
    }
    if (last >= shape[0]) {
      throw UsageError(option + ": the list has no element " + std::to_string(last) +
                       ", which is given too");
    }
    return shape[0];
  }

  /// Gives the tensor a shape that the model leaves open. What contradicts the model is told when
  /// shapes are bound.
  void fit(GraphTensor& tensor, const Shape& shape) const {
    const bool is_shape = options_.shapes.contains(tensor.name);
    if (!tensor.form.any_shape && is_shape) return own_symbols(tensor);
    if (!tensor.form.any_shape) require_fit(tensor, shape);
    if (shape.size() > kMaxRank) {
      throw UsageError(setting("shapes", tensor.name + ":" + to_string(shape)) + ": at most " +
                       std::to_string(kMaxRank) + " dimensions are supported");
    }
    tensor.declared.clear();
    for (const std::int64_t extent : shape) tensor.declared.push_back({extent, {}});
  }

  /// Throws UsageError where the value that is given has another shape than the model declares.
  static void require_fit(const GraphTensor& tensor, const Shape& shape) {
    const auto fits = [](const Dimension& dimension, std::int64_t extent) {
      return !dimension.symbol.empty() || dimension.value == extent;
    };
    if (std::ranges::equal(tensor.declared, shape, fits)) return;
    throw UsageError("the value given for input '" + tensor.name + "' has shape " +
                     to_string(shape) + ", which the model does not allow");
  }

  /// Elements of one list differ, whatever name the model has for their extents.
  static void own_symbols(GraphTensor& tensor) {
    if (!as_list_element(tensor.name)) return;
    for (Dimension& dimension : tensor.declared) {
      if (dimension.symbol.empty() || dimension.symbol == "batch") continue;
      dimension.symbol = tensor.name + "." + dimension.symbol;
    }
  }

  /// Throws UsageError where the shape of an element that is not given is open.
  static void require_fixed(const GraphTensor& element) {
    const bool is_fixed = std::ranges::all_of(
        element.declared, [](const Dimension& dimension) { return dimension.symbol.empty(); });
    if (is_fixed && !element.form.any_shape) return;
    throw UnknownShape("input '" + element.name +
                       "': the model leaves the shape of a list's elements open; give " +
                       setting("shapes", element.name + ":..."));
  }

  /// `id` becomes what a node makes of the inputs.
  void make(TensorId id, const char* op, std::vector<TensorId> inputs) {
    graph_.tensor(id).kind = GraphTensor::Kind::activation;
    Node node;
    node.op = op;
    node.name = graph_.tensor(id).name;
    const auto has_name = [&](const Node& other) { return other.name == node.name; };
    while (std::ranges::any_of(graph_.nodes, has_name) || std::ranges::any_of(made_, has_name)) {
      node.name += "_input";
    }
    node.inputs = std::move(inputs);
    node.outputs = {id};
    node.opset = graph::kNewestOpset;
    made_.push_back(std::move(node));
  }

  Graph& graph_;
  const PassOptions& options_;
  std::map<std::string, Elements> elements_;  ///< that are given, by list
  std::map<std::string, Shape> given_;        ///< by name
  std::vector<Node> made_;
};

}  // namespace

std::set<std::string> open_list_inputs(Graph& graph, const PassOptions& options) {
  const bool has_any = std::ranges::any_of(
      graph.inputs, [&](TensorId id) { return !graph.tensor(id).form.is_tensor(); });
  return has_any ? ListInputs(graph, options).open() : std::set<std::string>();
}

}  // namespace morton::passes
