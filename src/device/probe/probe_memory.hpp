// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "device/probe/probe_sample.hpp"

namespace morton::device {

/// Measures how fast kernels read, write and copy memory that they go through again and again.
///
/// The footprint is the memory that all work-items together touch. On a CPU each compute unit has
/// one work-item and a part of the footprint of its own, in vectors of 64 bytes; elsewhere many
/// work-items walk the footprint side by side, in vectors of 16 bytes. Element e of the memory
/// holds e * factor modulo 2^32, so that sums are known: every figure is checked by them.
class MemoryProbe {
 public:
  enum class Access : std::uint8_t { read, write, copy, image_read };

  /// Memory for footprints up to `largest_bytes`, filled. Throws DeviceError.
  MemoryProbe(std::shared_ptr<OpenClDevice> device, std::int64_t largest_bytes);

  /// `wanted_bytes` rounded to a footprint that the device's compute units divide.
  [[nodiscard]] std::int64_t footprint_near(std::int64_t wanted_bytes) const;
  /// Whether that footprint can be had: within the memory, and for images within their limits.
  [[nodiscard]] bool can_measure(Access access, std::int64_t footprint_bytes) const;

  /// GB/s of each sample; a copy counts what it reads and what it writes, both of which are in the
  /// footprint. Throws DeviceError where the sums show that the work was not done.
  [[nodiscard]] std::vector<double> measure(Access access, std::int64_t footprint_bytes,
                                            const Sampling& sampling);

 private:
  struct Range {
    std::int64_t first = 0, vectors = 0;  ///< in vectors
  };
  void build();
  void fill();
  void make_image(std::int64_t texels);
  /// Enqueues `rounds` rounds (or loads of a work-item) and returns their milliseconds.
  [[nodiscard]] double run_ms(Access access, std::int64_t footprint_bytes, std::int64_t rounds);
  /// Vectors that `rounds` rounds touch.
  [[nodiscard]] std::int64_t touched(Access access, std::int64_t footprint_bytes,
                                     std::int64_t rounds) const;
  [[nodiscard]] std::int64_t least_rounds(Access access, std::int64_t footprint_bytes) const;
  void check(Access access, std::int64_t footprint_bytes, std::int64_t rounds);
  /// Sum of what the work-items of the last reading left behind.
  [[nodiscard]] std::uint32_t read_sum();
  /// Of a range that is read once, or as often as it takes to read all of it.
  [[nodiscard]] std::uint32_t sum_by_kernel(const Range& range);

  std::shared_ptr<OpenClDevice> device_;
  cl::CommandQueue queue_;
  /// How work-items go through the memory.
  struct Walk {
    bool parts = false;  ///< each work-item has a part of its own (CPUs)
    std::int64_t lanes = 1, work_items = 1, work_group = 1;
  } walk_;
  struct Kernels {
    std::shared_ptr<CachedProgram> program, image_program;
    cl::Kernel fill, read, write, copy, image_read;
  } kernels_;
  struct Memory {
    std::int64_t vectors = 0;
    std::uint32_t seed = 0;  ///< of the last writing
    cl::Buffer elements;
    cl::Buffer sums;  ///< one of each work-item
  } memory_;
  struct Image {
    cl::Image2D texels;
    std::int64_t width = 0;
  } image_;
};

}  // namespace morton::device
