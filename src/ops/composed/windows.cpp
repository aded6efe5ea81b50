// SPDX-License-Identifier: Apache-2.0
//
// Constants of signal processing, made when the model is planned.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/type_number.hpp"

namespace morton::ops {
namespace {

/// A window or a filter bank of more numbers is taken for damage.
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;

double number_of(const NodeView& node, std::size_t i, const char* what) {
  const Tensor& value = node.value(i);
  if (value.size() != 1) {
    node.fail(std::string(what) + " has " + std::to_string(value.size()) + " numbers, expected 1");
  }
  return value.at(0);
}

/// A sum of cosines: numbers[j] times the cosine of j whole turns over the window.
struct CosineSum {
  double constant, once, twice;
};

std::vector<TensorId> expand_window(Expansion& expansion, const CosineSum& sum) {
  const NodeView& node = expansion.node();
  const double size = number_of(node, 0, "the size");
  if (!(size >= 0.0) || size > static_cast<double>(kMostNumbers)) {
    node.fail("the size is " + std::to_string(size) + ", expected 0 to " +
              std::to_string(kMostNumbers));
  }
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t turn = node.flag("periodic", 1) ? count : count - 1;
  Tensor window = Tensor::allocate(type_attribute(node, "output_datatype", DType::f32), {count});
  for (std::int64_t i = 0; i < count; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) /
                         static_cast<double>(std::max<std::int64_t>(turn, 1));
    window.set(i, sum.constant + sum.once * std::cos(angle) + sum.twice * std::cos(2.0 * angle));
  }
  return {expansion.constant(std::move(window))};
}

/// ONNX's definition is that of TensorFlow's linear_to_mel_weight_matrix on whole bins.
std::vector<std::int64_t> edges_of_bands(const NodeView& node, std::int64_t bands,
                                         std::int64_t length) {
  const double rate = number_of(node, 2, "sample_rate");
  const auto mel = [](double hertz) { return 2595.0 * std::log10(1.0 + hertz / 700.0); };
  const double lowest = mel(number_of(node, 3, "lower_edge_hertz"));
  const double highest = mel(number_of(node, 4, "upper_edge_hertz"));
  const double step = (highest - lowest) / static_cast<double>(bands + 2);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double hertz =
        700.0 * (std::pow(10.0, (lowest + static_cast<double>(i) * step) / 2595.0) - 1.0);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(edge >= 0.0) || edge > static_cast<double>(length / 2)) {
      node.fail("band " + std::to_string(i) + " begins at " + std::to_string(hertz) +
                " Hz, outside of the " + std::to_string(length / 2 + 1) + " bins at sample rate " +
                std::to_string(rate));
    }
    edges.push_back(static_cast<std::int64_t>(edge));
  }
  return edges;
}

std::vector<TensorId> expand_mel(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const double bands_asked = number_of(node, 0, "num_mel_bins");
  const double length_asked = number_of(node, 1, "dft_length");
  if (!(bands_asked >= 1.0) || !(length_asked >= 1.0) ||
      bands_asked * length_asked > static_cast<double>(kMostNumbers)) {
    node.fail("a matrix of " + std::to_string(bands_asked) + " bands for a transform of " +
              std::to_string(length_asked) + " numbers");
  }
  const auto bands = static_cast<std::int64_t>(bands_asked);
  const auto length = static_cast<std::int64_t>(length_asked);
  const std::vector<std::int64_t> edges = edges_of_bands(node, bands, length);
  Tensor matrix = Tensor::allocate(type_attribute(node, "output_datatype", DType::f32),
                                   {length / 2 + 1, bands});
  for (std::int64_t i = 0; i < bands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t low = edges[at], middle = edges[at + 1], high = edges[at + 2];
    for (std::int64_t j = low; j < middle; ++j) {
      matrix.set(j * bands + i, static_cast<double>(j - low) / static_cast<double>(middle - low));
    }
    for (std::int64_t j = middle; j < std::max(high, middle + 1); ++j) {
      const double fall =
          high > middle ? static_cast<double>(high - j) / static_cast<double>(high - middle) : 1.0;
      matrix.set(j * bands + i, fall);
    }
  }
  return {expansion.constant(std::move(matrix))};
}

template <std::vector<TensorId> (*kExpand)(Expansion&)>
Operator window_row(std::string_view name) {
  return {.name = name,
          .inputs = {.planned = {0}},
          .attributes = {"output_datatype", "periodic"},
          .since_opset = 17,
          .expand = kExpand,
          .takes_epilogue = false};
}

std::vector<TensorId> expand_hann(Expansion& expansion) {
  return expand_window(expansion, {0.5, -0.5, 0.0});
}

std::vector<TensorId> expand_hamming(Expansion& expansion) {
  return expand_window(expansion, {25.0 / 46.0, -21.0 / 46.0, 0.0});
}

std::vector<TensorId> expand_blackman(Expansion& expansion) {
  return expand_window(expansion, {0.42, -0.5, 0.08});
}

template <std::vector<TensorId> (*kExpand)(Expansion&)>
Operator filters_row(std::string_view name) {
  return {.name = name,
          .inputs = {.least = 5, .most = 5, .planned = {0, 1, 2, 3, 4}},
          .attributes = {"output_datatype"},
          .since_opset = 17,
          .expand = kExpand,
          .takes_epilogue = false};
}

}  // namespace

const OperatorTable& windows_operators() {
  static const OperatorTable kTable{
      window_row<expand_hann>("HannWindow"),
      window_row<expand_hamming>("HammingWindow"),
      window_row<expand_blackman>("BlackmanWindow"),
      filters_row<expand_mel>("MelWeightMatrix"),
  };
  return kTable;
}

}  // namespace morton::ops
