// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_intensity_source.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Measures how fast a device loads elements while it computes so much with each.
///
/// Every element x is 0 to 3. Multiply-adds of x * 1 + 1 give x + N, so that a result is exact and
/// says how many of them ran; the factors are arguments, which no compiler knows.
class IntensityProbe {
 public:
  /// Memory of about `footprint_bytes`, filled. f16 needs info().features.fp16. Throws DeviceError.
  IntensityProbe(std::shared_ptr<OpenClDevice> device, IntensityType type,
                 std::int64_t footprint_bytes);

  /// GB/s loaded of each sample, with `multiply_adds` for each element. Ask for fewer first: where
  /// a launch takes long, later ones go through less of the memory. Throws DeviceError where a sum
  /// is not what it must be.
  [[nodiscard]] std::vector<double> measure(std::int64_t multiply_adds, const Sampling& sampling);
  /// Bytes that each launch of the last measurement loaded.
  [[nodiscard]] std::int64_t bytes_loaded() const { return measured_bytes_; }

 private:
  [[nodiscard]] std::int64_t bytes_of_launch() const;
  /// What each lane of each work-item must leave behind; of i8 its lowest byte counts.
  [[nodiscard]] std::vector<std::int32_t> expected_sums(std::int64_t multiply_adds) const;
  void check(std::int64_t multiply_adds);
  /// Element `lane` of the sums, as it lies in memory at `bytes`.
  [[nodiscard]] double sum_at(const std::vector<std::byte>& bytes, std::size_t at) const;

  std::shared_ptr<OpenClDevice> device_;
  IntensityForm form_;
  cl::CommandQueue queue_;
  std::int64_t work_items_ = 1, work_group_ = 1;
  std::int64_t turns_ = 1;  ///< of a launch; odd, so that the sum holds the multiply-adds
  std::int64_t measured_bytes_ = 0;
  cl::Buffer memory_, sums_;
};

}  // namespace morton::device
