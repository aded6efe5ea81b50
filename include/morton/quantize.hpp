// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "morton/dataset.hpp"
#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/model.hpp"

namespace morton {

/// How a model's layers become layers of 8 bits (docs/quantization.md).
struct QuantizeOptions {
  /// As EvaluationOptions has them.
  std::vector<float> mean, deviation;
  /// Examples from which the ranges of activations are found, spread evenly over the data.
  std::int64_t examples = 512;
  /// Which part of the values that a tensor takes its 256 steps cover: all of them; all but a share
  /// at both ends (`percentile`); or as many as keep most of the distribution (least relative
  /// entropy, TensorRT's way).
  enum class Range : std::uint8_t { min_max, percentile, entropy } range = Range::min_max;
  /// Percent of the values inside, above 50 and up to 100; nothing: 99.99. Only for that range.
  std::optional<double> percentile{};
  /// Names of layers that stay as they are.
  std::set<std::string> in_float;
  /// How many further layers stay as they are, fewer than there are: those that lose most.
  std::int64_t worst_in_float = 0;
  /// Whether biases make up for the mean error that rounded weights and inputs cause.
  enum class Biases : std::uint8_t { correct, leave } biases = Biases::correct;
  /// Told which share of the examples is done (0 to 1). May be empty.
  std::function<void(double)> progress;
};

/// What happened to one layer.
struct QuantizedLayer {
  std::string node;
  std::string op;
  bool is_quantized = true;
  std::string why_not;  ///< where it stays in f32
  /// Its result, behind its Relu or Clip, with its own input, weights and result rounded, beside
  /// the exact one: 10 log10 of the squares' ratio, in decibels. Some 6 for each bit; infinite
  /// where nothing was lost.
  double signal_to_noise_db = 0.0;
  std::int64_t weight_bytes_before = 0, weight_bytes_after = 0;
};

/// What `quantize` made, and what that cost in exactness.
struct QuantizedModel {
  Model model;  ///< ONNX's QuantizeLinear and DequantizeLinear around layers in f32
  /// In the model's order, behind them those that cannot be of 8 bits.
  std::vector<QuantizedLayer> layers;
  /// Of the weights of all these layers; those that layers share count once.
  std::int64_t weight_bytes_before = 0, weight_bytes_after = 0;
  std::int64_t examples = 0;  ///< that were looked at
  /// The first output of the model beside that of the f32 model, on the same examples, likewise.
  /// NaN where the two cannot be compared: they are not f32, or are of other extents.
  double output_signal_to_noise_db = 0.0;
};

/// Quantises Conv, Gemm and MatMul with constant weights after training: weights to i8 with a scale
/// for each channel, activations to u8. The model has one f32 input [batch, ...] and opset 13 or
/// later. Throws UsageError for other models, for names in `in_float` that are no layer's, where no
/// layer would be of 8 bits, and for data that do not fit; ModelError where an activation is not
/// finite.
[[nodiscard]] MORTON_API QuantizedModel quantize(const Model& model, const Device& device,
                                                 const Dataset& data,
                                                 const QuantizeOptions& options = {});

}  // namespace morton
