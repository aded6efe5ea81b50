// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Measures how fast kernels read a square of texels of four channels, from an image (read_imagef)
/// or from a buffer that holds the same rows.
class ImageProbe {
 public:
  enum class Type : std::uint8_t { f32, f16 };
  enum class Memory : std::uint8_t { image, buffer };
  /// Which texels come after each other, on a CPU in a work-item, elsewhere in work-items that
  /// follow each other: those of a row, of a column, or of a tile of 8 x 8.
  enum class Order : std::uint8_t { rows, columns, tiles };

  /// Why the device cannot read such images; empty where it can.
  [[nodiscard]] static std::string why_not(const OpenClDevice& device, Type type,
                                           std::int64_t width);

  /// `width` is a power of two, 64 or more. Images need an empty why_not. Throws DeviceError.
  ImageProbe(std::shared_ptr<OpenClDevice> device, Type type, Memory memory, std::int64_t width);

  /// GB/s of each sample, each launch reading every texel once. Throws DeviceError where the sum of
  /// the texels is wrong.
  [[nodiscard]] std::vector<double> measure(Order order, const Sampling& sampling);
  [[nodiscard]] std::int64_t bytes() const;

 private:
  [[nodiscard]] std::string source_of(Order order) const;
  void check();

  std::shared_ptr<OpenClDevice> device_;
  Type type_;
  Memory memory_;
  std::int64_t width_;
  std::int64_t work_items_ = 1, work_group_ = 1;
  double expected_ = 0.0;  ///< sum of all channels of all texels
  cl::CommandQueue queue_;
  cl::Image2D image_;
  cl::Buffer buffer_, sums_;
};

}  // namespace morton::device
