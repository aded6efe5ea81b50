// SPDX-License-Identifier: Apache-2.0
#include "formats/picture_resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace morton::formats {
namespace {

using Filter = PicturePreparation::Filter;

/// Weights are whole multiples of 2^-22: eight bits of a level, two to spare for their sum.
constexpr int kWeightBits = 22;

double reach_of(Filter filter) { return filter == Filter::bicubic ? 2.0 : 1.0; }

double weight_at(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::bilinear) return x < 1.0 ? 1.0 - x : 0.0;
  constexpr double kA = -0.5;  // Keys' cubic
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
  return 0.0;
}

/// The pixels that one pixel of the result is made of.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> taps_of(std::int64_t from, std::int64_t to, Filter filter) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double width = std::max(scale, 1.0);
  const double reach = reach_of(filter) * width;
  const double narrowing = 1.0 / width;
  std::vector<Taps> all(static_cast<std::size_t>(to));
  std::vector<double> weights;
  for (std::int64_t o = 0; o < to; ++o) {
    const double centre = (static_cast<double>(o) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - reach + 0.5), 0);
    const auto last = std::min(static_cast<std::int64_t>(centre + reach + 0.5), from);
    weights.clear();
    double sum = 0.0;
    for (std::int64_t i = 0; i < last - first; ++i) {
      const double x = static_cast<double>(i + first) - centre + 0.5;
      weights.push_back(weight_at(filter, x * narrowing));
      sum += weights.back();
    }
    Taps& taps = all[static_cast<std::size_t>(o)];
    taps.first = first;
    for (const double weight : weights) {
      const double scaled = weight * (sum != 0.0 ? 1.0 / sum : 1.0) * (1 << kWeightBits);
      taps.weights.push_back(static_cast<std::int32_t>(scaled + (scaled < 0.0 ? -0.5 : 0.5)));
    }
  }
  return all;
}

std::uint8_t level_of(std::int64_t sum) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255));
}

constexpr std::int64_t kHalf = std::int64_t{1} << (kWeightBits - 1);

/// Each row on its own: [H, W, C] to [H, width, C].
Tensor with_width(const Tensor& picture, std::int64_t width, Filter filter) {
  const Shape& shape = picture.shape();
  Tensor result = Tensor::allocate(DType::u8, {shape[0], width, shape[2]});
  const std::vector<Taps> all = taps_of(shape[1], width, filter);
  const auto channels = static_cast<std::size_t>(shape[2]);
  const std::uint8_t* row = picture.as<std::uint8_t>().data();
  std::uint8_t* to = result.as_mutable<std::uint8_t>().data();
  for (std::int64_t y = 0; y < shape[0]; ++y, row += shape[1] * shape[2]) {
    for (const Taps& taps : all) {
      const std::uint8_t* const from = row + taps.first * shape[2];
      for (std::size_t c = 0; c < channels; ++c) {
        std::int64_t sum = kHalf;
        const std::uint8_t* level = from + c;
        for (const std::int32_t weight : taps.weights) {
          sum += std::int64_t{*level} * weight;
          level += channels;
        }
        *to++ = level_of(sum);
      }
    }
  }
  return result;
}

/// Whole rows are added up: [H, W, C] to [height, W, C].
Tensor with_height(const Tensor& picture, std::int64_t height, Filter filter) {
  const Shape& shape = picture.shape();
  Tensor result = Tensor::allocate(DType::u8, {height, shape[1], shape[2]});
  const auto row = static_cast<std::size_t>(shape[1] * shape[2]);
  const std::uint8_t* const from = picture.as<std::uint8_t>().data();
  std::uint8_t* to = result.as_mutable<std::uint8_t>().data();
  std::vector<std::int64_t> sums(row);
  for (const Taps& taps : taps_of(shape[0], height, filter)) {
    std::ranges::fill(sums, kHalf);
    const std::uint8_t* line = from + static_cast<std::size_t>(taps.first) * row;
    for (const std::int32_t weight : taps.weights) {
      for (std::size_t x = 0; x < row; ++x) sums[x] += static_cast<std::int64_t>(line[x]) * weight;
      line += row;
    }
    to = std::ranges::transform(sums, to, level_of).out;
  }
  return result;
}

}  // namespace

Tensor resize_picture(const Tensor& picture, const PictureSize& size, Filter filter) {
  Tensor result = picture;
  if (size.width != result.shape()[1]) result = with_width(result, size.width, filter);
  if (size.height != result.shape()[0]) result = with_height(result, size.height, filter);
  return result;
}

}  // namespace morton::formats
