// SPDX-License-Identifier: Apache-2.0
#include "api/quantization/quantize_check.hpp"

#include "api/quantization/layer_report.hpp"
#include "api/quantization/quantized_layers.hpp"
#include "base/error.hpp"

namespace morton::api {
namespace {

constexpr std::int64_t kOpsetOfChannelScales = 13;
constexpr double kUsualPercentile = 99.99;

}  // namespace

double percentile_of(const QuantizeOptions& options) {
  return options.percentile.value_or(kUsualPercentile);
}

void check_quantization(const Graph& graph, const QuantizeOptions& options) {
  if (graph.opset < kOpsetOfChannelScales) {
    throw UsageError("quantization: the model is of opset " + std::to_string(graph.opset) +
                     "; scales for each channel need 13 or later: convert the model");
  }
  if (options.percentile && options.range != QuantizeOptions::Range::percentile) {
    throw UsageError(setting("percentile") + ": is read with " + setting("range", "percentile") +
                     " alone");
  }
  const double percentile = percentile_of(options);
  if (!(percentile > 50.0) || percentile > 100.0) {
    throw UsageError(setting("percentile") + ": expected above 50 and up to 100");
  }
  if (options.worst_in_float < 0) throw UsageError(setting("worst_in_float") + ": below 0");
  if (!weight_layers(graph).empty()) return;
  std::string others;
  for (const QuantizedLayer& layer : layers_in_float(graph, {})) {
    others += "; '" + layer.node + "': " + layer.why_not;
  }
  throw UsageError("quantization: no Conv, Gemm or MatMul of the model has constant f32 weights" +
                   others);
}

}  // namespace morton::api
