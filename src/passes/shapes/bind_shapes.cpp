// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/rooms.hpp"
#include "base/unknown_shape.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/list_inputs.hpp"

namespace morton::passes {
namespace {

/// Values of the open extents, by name.
class Symbols {
 public:
  /// The extent of an input whose shape is given. Exporters give one name to extents that differ:
  /// the first value is that of the name, and `notes` tells of the others.
  void take(const std::string& name, std::int64_t value, const Message& option) {
    const auto [found, added] = values_.emplace(name, Given{value, option});
    if (!added && found->second.value != value)
      notes_.push_back(contradiction(name, value, option));
  }
  /// The extent that the batch's option names; throws UsageError where a shape says another.
  void set(const std::string& name, std::int64_t value, const Message& option) {
    const auto [found, added] = values_.emplace(name, Given{value, option});
    if (added || found->second.value == value) return;
    throw UsageError(contradiction(name, value, option));
  }
  [[nodiscard]] const std::vector<Message>& notes() const { return notes_; }
  void set_default(const std::string& name, std::int64_t value) {
    values_.emplace(name, Given{value, {}});
  }
  [[nodiscard]] const std::int64_t* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second.value;
  }

 private:
  struct Given {
    std::int64_t value = 0;
    Message option;  ///< that says so
  };

  [[nodiscard]] Message contradiction(const std::string& name, std::int64_t value,
                                      const Message& option) const {
    const Given& first = values_.at(name);
    if (first.option == option) {
      return option + ": the extent '" + name + "' is both " + std::to_string(first.value) +
             " and " + std::to_string(value);
    }
    return option + ": the extent '" + name + "' is " + std::to_string(value) + " here, and " +
           std::to_string(first.value) + " in " + first.option;
  }

  std::map<std::string, Given> values_;
  std::vector<Message> notes_;
};

/// "image [batch, 1, 28, 28]".
std::string describe(const GraphTensor& tensor) {
  std::string text = tensor.name + " [";
  for (std::size_t d = 0; d < tensor.declared.size(); ++d) {
    const Dimension& dimension = tensor.declared[d];
    text += d > 0 ? ", " : "";
    text += dimension.symbol.empty() ? std::to_string(dimension.value) : dimension.symbol;
  }
  return text + "]";
}

/// Shapes that hold no open extent may stand in `shape` alone, as graphs made in memory have them.
std::vector<Dimension> declared_of(const GraphTensor& tensor) {
  if (!tensor.declared.empty()) return tensor.declared;
  std::vector<Dimension> dimensions;
  for (const std::int64_t extent : tensor.shape) dimensions.push_back({extent, ""});
  return dimensions;
}

void take_shape(const GraphTensor& tensor, const Shape& shape, Symbols& symbols) {
  const Message option = setting("shapes", tensor.name + ":" + to_string(shape));
  const auto dimensions = declared_of(tensor);
  if (dimensions.size() != shape.size()) {
    throw UsageError(option + ": the model declares " + std::to_string(dimensions.size()) +
                     " dimensions, " + describe(tensor));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) throw UsageError(option + ": extents must not be negative");
    if (!dimensions[d].symbol.empty()) {
      symbols.take(dimensions[d].symbol, shape[d], option);
    } else if (dimensions[d].value != shape[d]) {
      throw UsageError(option + ": dimension " + std::to_string(d) + " of the model is fixed to " +
                       std::to_string(dimensions[d].value) + ", " + describe(tensor));
    }
  }
}

/// `lists` are those of the inputs, whose shapes are no tensor's.
void take_shapes(const Graph& graph, const PassOptions& options, const std::set<std::string>& lists,
                 Symbols& symbols) {
  for (const auto& [name, shape] : options.shapes) {
    if (lists.contains(name)) continue;
    const auto is_named = [&name = name, &graph](TensorId id) {
      return graph.tensor(id).name == name;
    };
    const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(), is_named);
    if (found == graph.inputs.end()) {
      std::string known;
      for (const TensorId id : graph.inputs) {
        known += (known.empty() ? "" : ", ") + graph.tensor(id).name;
      }
      throw UsageError(setting("shapes", name) + ": the model has no such input (inputs: " + known +
                       ")");
    }
    take_shape(graph.tensor(*found), shape, symbols);
  }
}

/// The extent of a tensor that is its batch: the first, unless a model names another one so, as
/// those with inputs as columns do. Null for scalars.
const Dimension* batch_of(const std::vector<Dimension>& dimensions) {
  const auto named = std::find_if(dimensions.begin(), dimensions.end(),
                                  [](const Dimension& d) { return d.symbol == "batch"; });
  if (named != dimensions.end()) return &*named;
  return dimensions.empty() ? nullptr : &dimensions.front();
}

void take_batch(const Graph& graph, std::int64_t batch, Symbols& symbols) {
  const Message option = setting("batch", std::to_string(batch));
  if (batch < 0) throw UsageError(option + ": must be positive");
  bool fits = batch == 0;
  std::string inputs;
  for (const TensorId id : graph.inputs) {
    const GraphTensor& tensor = graph.tensor(id);
    const auto dimensions = declared_of(tensor);
    inputs += (inputs.empty() ? "" : ", ") + describe(tensor);
    const Dimension* extent = batch_of(dimensions);
    if (extent == nullptr) continue;
    if (extent->symbol.empty()) {
      fits = fits || extent->value == batch;
    } else if (batch > 0) {
      symbols.set(extent->symbol, batch, option);
      fits = true;
    } else {
      symbols.set_default(extent->symbol, 1);
    }
  }
  if (!fits) throw UsageError(option + ": no input of the model has an open batch: " + inputs);
}

/// The shape that is given for the input, or nullptr.
const Shape* given_shape(const GraphTensor& tensor, const PassOptions& options) {
  const auto found = options.shapes.find(tensor.name);
  return found == options.shapes.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<Message> notes_on_shapes(Graph graph, const PassOptions& options) {
  Symbols symbols;
  const std::set<std::string> lists = open_list_inputs(graph, options);
  take_shapes(graph, options, lists, symbols);
  return symbols.notes();
}

std::vector<Message> fix_extents(Graph& graph, const PassOptions& options) {
  Symbols symbols;
  for (const TensorId id : graph.inputs) {
    const GraphTensor& tensor = graph.tensor(id);
    if (!tensor.form.is_list || !options.shapes.contains(tensor.name)) continue;
    throw UsageError(setting("shapes", tensor.name) + ": is a list, which has no shape of its own");
  }
  take_shapes(graph, options, {}, symbols);
  if (options.batch != 0) take_batch(graph, options.batch, symbols);
  for (const std::vector<TensorId>& ports : {graph.inputs, graph.outputs}) {
    for (const TensorId id : ports) {
      GraphTensor& tensor = graph.tensor(id);
      const bool is_input = tensor.kind == GraphTensor::Kind::input;
      const Shape* given = is_input ? given_shape(tensor, options) : nullptr;
      for (std::size_t d = 0; d < tensor.declared.size(); ++d) {
        Dimension& extent = tensor.declared[d];
        const std::int64_t* value = given != nullptr ? &(*given)[d] : symbols.find(extent.symbol);
        if (!extent.symbol.empty() && value != nullptr) extent = {*value, ""};
      }
    }
  }
  return symbols.notes();
}

int bind_shapes(Graph& graph, const PassOptions& options) {
  Symbols symbols;
  const std::set<std::string> lists = open_list_inputs(graph, options);
  take_shapes(graph, options, lists, symbols);
  take_batch(graph, options.batch, symbols);
  int bound = 0;
  for (const TensorId id : graph.inputs) {
    GraphTensor& tensor = graph.tensor(id);
    const Shape* given = given_shape(tensor, options);
    Shape shape;
    for (const Dimension& dimension : declared_of(tensor)) {
      shape.push_back(dimension.value);
      if (dimension.symbol.empty()) continue;
      const std::int64_t* value =
          given != nullptr ? &(*given)[shape.size() - 1] : symbols.find(dimension.symbol);
      if (value == nullptr) {
        throw UnknownShape(describe(tensor) + ": the extent '" + dimension.symbol +
                           "' is open; give " + setting("batch") +
                           " for the first extent, or all of them with " +
                           setting("shapes", tensor.name + ":..."));
      }
      shape.back() = *value;
      ++bound;
    }
    const std::string what = describe(tensor);
    (void)element_count(shape, what.c_str());
    tensor.shape = std::move(shape);
  }
  return bound;
}

}  // namespace morton::passes
