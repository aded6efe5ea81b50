// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "base/numbers/onnx_numbers.hpp"
#include "passes/conversion/conversion.hpp"
#include "passes/conversion/element_types.hpp"
#include "passes/conversion/float_nodes.hpp"
#include "passes/conversion/half_constants.hpp"
#include "passes/conversion/half_operators.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {
namespace {

class HalvesWriter {
 public:
  HalvesWriter(Graph& graph, const HalvesOptions& options)
      : graph_(graph),
        options_(options),
        types_(element_types(graph)),
        choices_(choose_halves(graph, types_, options)) {
    const Indexed<TensorId, bool> lists = lists_of(graph);
    for (const TensorId id : graph.tensors.ids()) {
      if (lists[id]) types_[id] = std::nullopt;
    }
    for (const GraphTensor& tensor : graph.tensors) names_.insert(tensor.name);
    for (const Node& node : graph.nodes) node_names_.insert(node.name);
    for (const TensorId id : graph.tensors.ids()) {
      if (types_[id]) graph.tensor(id).dtype = *types_[id];
    }
  }

  HalvesReport run() {
    find_shared_constants();
    if (options_.ports == HalvesOptions::Ports::convert) convert_inputs();
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      Node& node = nodes[n];
      switch (choices_[n].kind) {
        case HalfChoice::Kind::other:
          graph_.nodes.push_back(std::move(node));
          break;
        case HalfChoice::Kind::floats:
          report_.in_float.push_back({node.name, node.op, choices_[n].why});
          write_in_float(std::move(node));
          break;
        case HalfChoice::Kind::halves:
          ++report_.half_nodes;
          write_in_halves(std::move(node));
          break;
      }
    }
    if (options_.ports == HalvesOptions::Ports::convert) convert_constant_outputs();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_f32(TensorId id) const {
    return id != kNoTensor && id.index() < static_cast<int>(types_.size()) &&
           types_[id] == DType::f32;
  }
  [[nodiscard]] bool is_constant(TensorId id) const {
    return graph_.tensor(id).kind == GraphTensor::Kind::constant;
  }
  [[nodiscard]] bool keeps_port(TensorId id) const {
    return options_.ports == HalvesOptions::Ports::keep && graph_.is_result(id);
  }
  [[nodiscard]] bool reads_as_half(const Node& node, std::size_t input) const {
    const auto op = half_operator(node.op);
    return op && input < op->f32_from && is_f32(node.inputs[input]);
  }

  /// Constants that a node of f32 reads too, or that are results, stay beside their halves.
  void find_shared_constants() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const bool as_half = choices_[n].kind == HalfChoice::Kind::halves && reads_as_half(node, i);
        if (is_f32(node.inputs[i]) && !as_half) in_float_too_.insert(node.inputs[i]);
      }
    }
    for (const TensorId id : graph_.outputs) in_float_too_.insert(id);
  }

  void convert_inputs() {
    for (const TensorId id : graph_.inputs) {
      if (is_f32(id)) become_half(id);
    }
  }

  void convert_constant_outputs() {
    for (const TensorId id : graph_.outputs) {
      if (!is_f32(id) || !is_constant(id)) continue;
      graph_.tensor(id).data = converted(id);
      graph_.tensor(id).dtype = options_.type;
    }
  }

  void become_half(TensorId id) {
    graph_.tensor(id).dtype = options_.type;
    half_of_[id] = id;
  }

  static std::string free_name(const std::string& wanted, std::set<std::string>& names) {
    std::string name = wanted;
    for (int i = 2; !names.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  TensorId add(const std::string& name, DType type) {
    GraphTensor tensor;
    tensor.name = free_name(name, names_);
    tensor.dtype = type;
    return graph_.add_tensor(std::move(tensor));
  }

  [[nodiscard]] std::string name_as(TensorId id, DType type) const {
    return graph_.tensor(id).name + "_" + std::string(name_of(type));
  }

  void cast(TensorId from, TensorId to, DType type) {
    Node node;
    node.op = "Cast";
    node.name = free_name("Cast_" + graph_.tensor(to).name, node_names_);
    node.inputs = {from};
    node.outputs = {to};
    node.attributes["to"] = std::int64_t{*onnx_number_of(type)};
    graph_.nodes.push_back(std::move(node));
  }

  Tensor converted(TensorId id) {
    return converted(graph_.tensor(id).data, graph_.tensor(id).name);
  }

  /// Notes what halves do not hold, as of `name`.
  Tensor converted(const Tensor& data, const std::string& name) {
    HalfConstant half = half_constant(data, options_.type);
    const std::string type(name_of(options_.type));
    if (half.beyond > 0) {
      report_.notes.push_back("'" + name + "': " + std::to_string(half.beyond) +
                              " values are beyond the range of " + type +
                              " and became its largest");
    }
    if (half.is_lifted) {
      report_.notes.push_back("'" + name + "': its number is below those of " + type +
                              " and became the smallest");
    }
    return std::move(half.data);
  }

  TensorId as_half(TensorId id) {
    const auto known = half_of_.find(id);
    if (known != half_of_.end()) return known->second;
    TensorId half = id;
    if (!is_constant(id)) {
      half = add(name_as(id, options_.type), options_.type);
      cast(id, half, options_.type);
    } else if (in_float_too_.contains(id)) {
      half = graph_.add_tensor(
          graph::constant_tensor(free_name(name_as(id, options_.type), names_), converted(id)));
    } else {
      graph_.tensor(id).data = converted(id);
      graph_.tensor(id).dtype = options_.type;
    }
    half_of_[id] = half;
    return half;
  }

  /// `id` itself, unless it became halves.
  TensorId as_float(TensorId id) {
    const auto half = half_of_.find(id);
    if (half == half_of_.end() || half->second != id) return id;
    const auto known = float_of_.find(id);
    if (known != float_of_.end()) return known->second;
    const TensorId whole = add(name_as(id, DType::f32), DType::f32);
    cast(id, whole, DType::f32);
    float_of_[id] = whole;
    return whole;
  }

  void write_in_float(Node node) {
    std::map<TensorId, TensorId> to_cast;  // from what is computed to a port of halves
    for (TensorId& id : node.inputs) {
      if (is_f32(id)) id = as_float(id);
    }
    const bool converts = options_.ports == HalvesOptions::Ports::convert;
    for (TensorId& id : node.outputs) {
      if (!is_f32(id) || !converts || !graph_.is_result(id)) continue;
      const TensorId computed = add(name_as(id, DType::f32), DType::f32);
      to_cast[computed] = id;
      become_half(id);
      float_of_[id] = computed;
      id = computed;
    }
    graph_.nodes.push_back(std::move(node));
    for (const auto& [computed, port] : to_cast) cast(computed, port, options_.type);
  }

  void write_in_halves(Node node) {
    std::map<TensorId, TensorId> to_cast;  // from what is computed to a port of f32
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      TensorId& id = node.inputs[i];
      if (is_f32(id)) id = reads_as_half(node, i) ? as_half(id) : as_float(id);
    }
    for (TensorId& id : node.outputs) {
      if (!is_f32(id)) continue;
      if (!keeps_port(id)) {
        become_half(id);
        continue;
      }
      const TensorId computed = add(name_as(id, options_.type), options_.type);
      to_cast[computed] = id;
      half_of_[id] = computed;
      id = computed;
    }
    convert_attributes(node);
    graph_.nodes.push_back(std::move(node));
    for (const auto& [computed, port] : to_cast) cast(computed, port, DType::f32);
  }

  /// Those that say of what type the result is.
  void convert_attributes(Node& node) {
    if (node.op == "Cast" && integer_of(node, "to", 0) == *onnx_number_of(DType::f32)) {
      node.attributes["to"] = std::int64_t{*onnx_number_of(options_.type)};
    }
    if (node.op != "ConstantOfShape") return;
    const auto value = node.attributes.find("value");
    if (value == node.attributes.end()) {
      node.attributes["value"] = Tensor::allocate(options_.type, {1});
    } else if (std::get<Tensor>(value->second).dtype() == DType::f32) {
      value->second = converted(std::get<Tensor>(value->second), node.name);
    }
  }

  Graph& graph_;
  const HalvesOptions& options_;
  ElementTypes types_;  ///< as they were
  std::vector<HalfChoice> choices_;
  HalvesReport report_{};
  std::set<std::string> names_{}, node_names_{};
  std::set<TensorId> in_float_too_{};
  std::map<TensorId, TensorId> half_of_{};   ///< a tensor itself, where it became halves
  std::map<TensorId, TensorId> float_of_{};  ///< of those
};

}  // namespace

HalvesReport make_halves(Graph& graph, const HalvesOptions& options) {
  return HalvesWriter(graph, options).run();
}

}  // namespace morton::passes
