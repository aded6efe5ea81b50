// SPDX-License-Identifier: Apache-2.0
//
// Quantisation.
#include <optional>

#include "taking.hpp"

namespace morton::python {
namespace {

QuantizeOptions quantize_options(py::dict given) {
  QuantizeOptions options;
  using Range = QuantizeOptions::Range;
  using Biases = QuantizeOptions::Biases;
  take(given, "mean", options.mean);
  take(given, "deviation", options.deviation);
  take(given, "examples", options.examples);
  take_word<Range>(given, "range", options.range,
                   {{"min_max", Range::min_max},
                    {"percentile", Range::percentile},
                    {"entropy", Range::entropy}});
  take(given, "percentile", options.percentile);
  take(given, "in_float", options.in_float);
  take(given, "worst_in_float", options.worst_in_float);
  take_word<Biases>(given, "biases", options.biases,
                    {{"correct", Biases::correct}, {"leave", Biases::leave}});
  require_taken(given, "quantize");
  return options;
}

py::dict layer_facts(const QuantizedLayer& layer) {
  py::dict facts;
  facts["node"] = layer.node;
  facts["op"] = layer.op;
  facts["is_quantized"] = layer.is_quantized;
  facts["why_not"] = layer.why_not;
  facts["signal_to_noise_db"] = layer.signal_to_noise_db;
  facts["weight_bytes_before"] = layer.weight_bytes_before;
  facts["weight_bytes_after"] = layer.weight_bytes_after;
  return facts;
}

py::tuple quantize_model(const Model& model, const Device& device, const Dataset& data,
                         const py::kwargs& given) {
  require_own_process();
  const QuantizeOptions options = quantize_options(py::dict(**given));
  std::optional<QuantizedModel> made;
  {
    const py::gil_scoped_release released;
    made = quantize(model, device, data, options);
  }
  py::list layers;
  for (const QuantizedLayer& layer : made->layers) layers.append(layer_facts(layer));
  py::dict report;
  report["layers"] = layers;
  report["weight_bytes_before"] = made->weight_bytes_before;
  report["weight_bytes_after"] = made->weight_bytes_after;
  report["examples"] = made->examples;
  report["output_signal_to_noise_db"] = made->output_signal_to_noise_db;
  return py::make_tuple(made->model, report);
}

}  // namespace

void bind_quantizing(py::module_& module) {
  module.def(
      "quantize", &quantize_model, py::arg("model"), py::arg("device"), py::arg("data"),
      "Quantises a model after training (docs/quantization.md): the model, and a report, a "
      "dict whose `layers` say what happened to each. Options are those of C++'s "
      "QuantizeOptions: examples, mean, deviation, range (\"min_max\", \"percentile\", "
      "\"entropy\"), percentile, in_float, worst_in_float, biases (\"correct\", \"leave\").");
}

}  // namespace morton::python
