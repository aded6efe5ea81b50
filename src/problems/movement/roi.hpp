// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/rooms.hpp"
#include "problems/structure.hpp"

namespace morton::problems {

/// Parts of images, each pooled to OH x OW. A row of `rois` has their corners x1 y1 x2 y2.
///
/// roi_align: dst[R,C,OH,OW] = the mean, or the largest, of points of src[n,C,H,W] that are
/// interpolated, n = batch[R] and the corners rois[R,Q]. Where there is no image n it is 0.
///
/// roi_max_pool: dst[R,C,OH,OW] = the largest element of src[n,C,H,W] in each part, n and the
/// corners being rois[R,Q]; or where the first such element is. 0 (or -1) of a part without any.

/// Of roi_align.
struct RoiAlignStructure {
  enum class Pool : std::uint8_t { mean = 0, largest = 1 };
  /// SHIFT: corners are half an element further, which is the centre of one.
  enum class Corners : std::uint8_t { as_given = 0, shifted = 1 };
  Pool pool = Pool::mean;  ///< LARGEST
  Corners corners = Corners::shifted;
  std::int64_t samples = 0;  ///< SAMPLES along a side of a bin; 0: as many as it has elements
  float scale = 1.0F;        ///< SCALE, of the corners

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("LARGEST", self.pool);
    field("SHIFT", self.corners);
    field("SAMPLES", self.samples);
    field("SCALE", self.scale);
  }

  /// More points along a side of a bin are not taken.
  static constexpr std::int64_t kMostSamples = 4096;

  /// One side of a part: where its points are.
  struct Side {
    double start = 0.0;
    double bin = 0.0;
    std::int64_t samples = 0;
    [[nodiscard]] double point(std::int64_t o, std::int64_t s) const {
      return start + static_cast<double>(o) * bin +
             (static_cast<double>(s) + 0.5) * bin / static_cast<double>(samples);
    }
  };
  /// The side from `first` to `last`, pooled to `count`.
  [[nodiscard]] Side side(double first, double last, std::int64_t count) const {
    const double offset = corners == Corners::shifted ? 0.5 : 0.0;
    Side result;
    result.start = first * static_cast<double>(scale) - offset;
    double length = last * static_cast<double>(scale) - offset - result.start;
    if (corners == Corners::as_given) length = std::fmax(length, 1.0);
    result.bin = length / static_cast<double>(count);
    // A bin that is no number has points that lie nowhere, so that one says the same as many.
    const double most =
        std::isnan(result.bin) ? 1.0 : std::fmin(std::ceil(result.bin), kMostSamples);
    result.samples = samples > 0 ? samples : static_cast<std::int64_t>(std::max(most, 0.0));
    return result;
  }
  /// The two elements beside a point and the weight of the second; `first` is -1 outside.
  struct Between {
    std::int64_t first = -1;
    std::int64_t second = -1;
    double weight = 0.0;
  };
  [[nodiscard]] static Between between(double point, std::int64_t extent) {
    if (!(point >= -1.0 && point <= static_cast<double>(extent))) return {};
    const double inside = std::max(point, 0.0);
    const auto low = static_cast<std::int64_t>(inside);
    if (low >= extent - 1) return {extent - 1, extent - 1, 0.0};
    return {low, low + 1, inside - static_cast<double>(low)};
  }
};

/// Of roi_max_pool.
struct RoiMaxPoolStructure {
  /// PLACE: the element's number in src in place of its value, -1 where there is none.
  enum class Result : std::uint8_t { value = 0, place = 1 };
  float scale = 1.0F;  ///< SCALE, of the corners
  Result result = Result::value;

  template <typename Self, typename Field>
  static void fields(Self& self, Field field) {
    field("SCALE", self.scale);
    field("PLACE", self.result);
  }

  /// The elements of bin `o` of `count` along a side, from `first` to before `end`.
  struct Bin {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };
  /// A NaN is the largest number; the first one stays.
  [[nodiscard]] static bool is_larger(double value, double largest) {
    return value > largest || (std::isnan(value) && !std::isnan(largest));
  }
  /// Corners beyond this are taken for it.
  static constexpr double kFarthest = 1048576.0;
  [[nodiscard]] Bin bin(double from, double to, std::int64_t o, std::int64_t count,
                        std::int64_t extent) const {
    const auto corner = [&](double value) {
      const double scaled = std::round(static_cast<double>(static_cast<float>(value) * scale));
      return static_cast<std::int64_t>(std::fmin(std::fmax(scaled, -kFarthest), kFarthest));
    };
    const std::int64_t start = corner(from);
    const std::int64_t length = std::max<std::int64_t>(corner(to) - start + 1, 1);
    const auto clamped = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at + start, 0, extent);
    };
    return {clamped(o * length / count), clamped(((o + 1) * length + count - 1) / count)};
  }
};

}  // namespace morton::problems
