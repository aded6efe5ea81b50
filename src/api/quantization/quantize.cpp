// SPDX-License-Identifier: Apache-2.0
#include "morton/quantize.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "api/inside.hpp"
#include "api/quantization/calibration.hpp"
#include "api/quantization/layer_loss.hpp"
#include "api/quantization/layer_report.hpp"
#include "api/quantization/qdq_writer.hpp"
#include "api/quantization/quantize_check.hpp"
#include "api/quantization/quantized_layers.hpp"
#include "api/quantization/value_range.hpp"
#include "base/error.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite.hpp"

namespace morton {
using namespace api;
namespace {

using Codes = std::map<TensorId, Code>;

/// The dimension of a layer's results that has its channels.
std::size_t channel_of_result(const Node& node, const Tensor& result) {
  return node.op == "Conv" ? 1 : result.shape().size() - 1;
}

/// A layer's own result exactly and with input and weights rounded; then what stands behind its
/// activation, exactly and rounded too.
using Twins = std::array<TensorId, 4>;

class Quantizer {
 public:
  Quantizer(const Model& model, const Device& device, const Dataset& data,
            const QuantizeOptions& options)
      : options_(options),
        graph_(Inside::of(model)),
        calibration_(model, device, data, options,
                     options.range == QuantizeOptions::Range::min_max ? 4 : 5) {
    fold_batch_norms(graph_, {});
    remove_dead_code(graph_, {});
    // The names of folded nodes are for messages; a file has no place for them.
    for (Node& node : graph_.nodes) node.fused.clear();
    layers_ = weight_layers(graph_);
    losses_.resize(layers_.size());
    reasons_.resize(layers_.size());
    leave_in_float();
    require_some_layers();
  }

  QuantizedModel run() {
    find_codes();
    find_losses();
    leave_the_worst();
    Graph quantized = written();
    const double whole = output_decibels(quantized);
    QuantizedModel result{Inside::make(std::move(quantized)), {}};
    result.examples = calibration_.examples();
    result.output_signal_to_noise_db = whole;
    for (std::size_t i = 0; i < layers_.size(); ++i) result.layers.push_back(told_of(i));
    add_up_weights(layers_, result);
    for (QuantizedLayer& layer : layers_in_float(graph_, layers_)) {
      result.weight_bytes_before += layer.weight_bytes_before;
      result.weight_bytes_after += layer.weight_bytes_after;
      result.layers.push_back(std::move(layer));
    }
    return result;
  }

 private:
  [[nodiscard]] const Node& node_of(const WeightLayer& layer) const {
    return graph_.nodes[layer.node];
  }
  [[nodiscard]] bool is_rounded(std::size_t i) const { return reasons_[i].empty(); }

  void leave_in_float() {
    std::set<std::string> unknown = options_.in_float;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (unknown.erase(node_of(layers_[i]).name) > 0) reasons_[i] = "named";
    }
    if (unknown.empty()) return;
    std::string names;
    for (const WeightLayer& layer : layers_) {
      names += (names.empty() ? "'" : ", '") + node_of(layer).name + "'";
    }
    throw UsageError(setting("in_float", *unknown.begin()) + ": there is no such layer" +
                     (names.empty() ? "" : "; there are " + names));
  }

  /// Says before any work where no layer would be of 8 bits.
  void require_some_layers() const {
    const auto count = std::ranges::count_if(reasons_, &std::string::empty);
    if (count == 0) {
      throw UsageError(setting("in_float") + ": names every layer, so none would be of 8 bits");
    }
    if (options_.worst_in_float < count) return;
    throw UsageError(setting("worst_in_float", std::to_string(options_.worst_in_float)) +
                     ": expected fewer than the " + std::to_string(count) +
                     " layers that can be of 8 bits");
  }

  /// The tensors that are rounded, for the layers that are.
  [[nodiscard]] std::set<TensorId> rounded_tensors() const {
    std::set<TensorId> rounded;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (is_rounded(i)) rounded.insert({layers_[i].input, layers_[i].result});
    }
    return rounded;
  }

  void find_codes() {
    const std::set<TensorId> rounded = rounded_tensors();
    Graph graph = graph_;
    show(graph, rounded);
    std::map<TensorId, ValueCounts> counts;
    calibration_.walk(graph, [&](const BatchValues& values) {
      for (const TensorId id : rounded) {
        const std::string& name = graph_.tensor(id).name;
        if (counts[id].widen(values.at(name).as<float>())) continue;
        throw ModelError("quantization: '" + name + "' has values that are not finite");
      }
    });
    if (options_.range != QuantizeOptions::Range::min_max) {
      calibration_.walk(graph, [&](const BatchValues& values) {
        for (const TensorId id : rounded) {
          counts[id].count(values.at(graph_.tensor(id).name).as<float>());
        }
      });
    }
    for (const auto& [id, found] : counts) {
      codes_[id] = code_of(found.range(options_.range, percentile_of(options_)));
    }
    std::map<TensorId, TensorId> moved;  // what only was moved, and what it was before
    for (const Node& node : graph_.nodes) {
      if (!only_moves_values(node)) continue;
      const auto before = moved.find(node.inputs.front());
      const TensorId source = before != moved.end() ? before->second : node.inputs.front();
      moved[node.outputs.front()] = source;
      const auto from = codes_.find(source);
      const auto to = codes_.find(node.outputs.front());
      if (from != codes_.end() && to != codes_.end()) to->second = from->second;
    }
  }

  /// Each layer twice on its exact input: as it is, and with input, weights and result rounded.
  void find_losses() {
    Graph graph = graph_;
    QdqWriter writer(graph);
    std::map<std::size_t, Twins> twins;
    std::set<TensorId> shown;
    leave_room(writer);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!is_rounded(i)) continue;
      const WeightLayer& layer = layers_[i];
      Node twin = node_of(layer);
      const TensorId exact = twin.outputs.front();
      twin.name = passes::unused_node_name(graph, twin.name + "_rounded");
      twin.inputs[0] = writer.rounded(layer.input, codes_.at(layer.input));
      twin.inputs[1] = writer.rounded_weights(layer);
      const TensorId rounded =
          passes::add_activation(graph, graph.tensor(exact).name + "_of_rounded", DType::f32, {});
      twin.outputs = {rounded};
      graph.nodes.push_back(std::move(twin));
      const TensorId result =
          writer.rounded(with_activation(graph, layer, rounded), codes_.at(layer.result));
      twins[i] = {exact, rounded, layer.result, result};
      shown.insert(twins[i].begin(), twins[i].end());
    }
    writer.finish();
    show(graph, shown);
    calibration_.walk(graph, [&](const BatchValues& values) {
      const auto value = [&](TensorId id) { return values.at(graph.tensor(id).name); };
      for (const auto& [i, of_layer] : twins) {
        const auto [exact, rounded, result, rounded_result] = of_layer;
        losses_[i].add_errors(value(exact), value(rounded),
                              channel_of_result(node_of(layers_[i]), value(exact)));
        (void)losses_[i].add(value(result), value(rounded_result));
      }
    });
  }

  void leave_the_worst() {
    std::vector<std::size_t> rounded;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (is_rounded(i)) rounded.push_back(i);
    }
    std::ranges::stable_sort(rounded, std::ranges::less(),
                             [&](std::size_t i) { return losses_[i].decibels(); });
    const auto count = static_cast<std::size_t>(options_.worst_in_float);
    for (std::size_t i = 0; i < count; ++i) reasons_[rounded[i]] = "loses most";
  }

  /// The layer's bias, with what its rounding lacks on average; nothing where it needs none.
  [[nodiscard]] std::optional<std::vector<double>> bias_of(std::size_t i) const {
    const WeightLayer& layer = layers_[i];
    const bool corrects = options_.biases == QuantizeOptions::Biases::correct;
    if (!layer.takes_bias || (!layer.bias && !corrects)) return {};
    std::vector<double> bias(losses_[i].errors.size(), 0.0);
    for (std::size_t c = 0; c < bias.size(); ++c) {
      if (layer.bias) bias[c] = graph_.tensor(*layer.bias).data.at(static_cast<std::int64_t>(c));
      if (corrects) bias[c] += losses_[i].mean_error(c);
    }
    return bias;
  }

  /// For the biases of all layers: weights may be shared.
  void leave_room(QdqWriter& writer) const {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const WeightLayer& layer = layers_[i];
      const auto bias = is_rounded(i) ? bias_of(i) : std::nullopt;
      if (bias) writer.leave_room(layer, codes_.at(layer.input), *bias);
    }
  }

  [[nodiscard]] Graph written() const {
    Graph graph = graph_;
    QdqWriter writer(graph);
    leave_room(writer);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!is_rounded(i)) continue;
      const WeightLayer& layer = layers_[i];
      const TensorId weights = writer.rounded_weights(layer);
      graph.nodes[layer.node].inputs[1] = weights;
      if (const auto bias = bias_of(i)) {
        const TensorId rounded = writer.rounded_bias(layer, codes_.at(layer.input), *bias);
        std::vector<TensorId>& inputs = graph.nodes[layer.node].inputs;
        inputs.resize(std::max<std::size_t>(inputs.size(), 3), kNoTensor);
        inputs[2] = rounded;
      }
    }
    for (const TensorId id : rounded_tensors()) writer.round_everywhere(id, codes_.at(id));
    writer.finish();
    remove_dead_code(graph, {});
    return graph;
  }

  double output_decibels(const Graph& quantized) {
    const std::string& name = graph_.tensor(graph_.outputs.front()).name;
    std::vector<Tensor> exact;
    calibration_.walk(graph_, [&](const BatchValues& values) { exact.push_back(values.at(name)); });
    LayerLoss loss;
    std::size_t batch = 0;
    bool are_alike = true;
    calibration_.walk(quantized, [&](const BatchValues& values) {
      are_alike = loss.add(exact[batch++], values.at(name)) && are_alike;
    });
    return are_alike ? loss.decibels() : std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] QuantizedLayer told_of(std::size_t i) const {
    const WeightLayer& layer = layers_[i];
    const Tensor& weights = graph_.tensor(layer.weights).data;
    QuantizedLayer told;
    told.node = node_of(layer).name;
    told.op = node_of(layer).op;
    told.is_quantized = is_rounded(i);
    told.why_not = reasons_[i];
    told.signal_to_noise_db = losses_[i].decibels();
    told.weight_bytes_before = static_cast<std::int64_t>(weights.bytes());
    const std::int64_t scales = weights.shape()[layer.channel] * 5;  // an f32 and a zero point
    told.weight_bytes_after =
        told.is_quantized ? weights.size() + scales : told.weight_bytes_before;
    return told;
  }

  const QuantizeOptions& options_;
  Graph graph_;
  Calibration calibration_;
  std::vector<WeightLayer> layers_{};
  std::vector<LayerLoss> losses_{};
  std::vector<std::string> reasons_{};  ///< why a layer stays in f32; empty for the others
  Codes codes_{};
};

}  // namespace

QuantizedModel quantize(const Model& model, const Device& device, const Dataset& data,
                        const QuantizeOptions& options) {
  check_quantization(Inside::of(model), options);
  return Quantizer(model, device, data, options).run();
}

}  // namespace morton
