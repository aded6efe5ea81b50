// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/tools/probe.hpp"

namespace morton {

/// Probes beside the peaks, each asked for by its name. None keeps anything. Every figure was
/// checked: numbers and bytes came out as they must. All throw DeviceError.

/// In which order a device begins the work-groups of a launch. Each has one work-item, which takes
/// the next ticket of a counter.
struct WorkGroupOrder {
  enum class Kind : std::uint8_t {
    dimension_0,  ///< ids of dimension 0 run fastest
    dimension_1,
    stripes_0,  ///< several pieces at once; in each, ids of dimension 0 run fastest
    stripes_1,
    none,  ///< none of these
  };
  struct Repetition {
    std::vector<std::int64_t> tickets;  ///< 0 began first; of group (i, j) at i + j * groups[0]
    Kind kind = Kind::none;
    std::int64_t pieces = 0;   ///< walked in order, along the dimension of the order
    double displacement = 0.;  ///< how far a ticket is from that order on average, of all groups
  };
  static constexpr std::int64_t kMostGroups = 256;  ///< in each dimension
  std::array<std::int64_t, 2> groups{33, 33};
  std::vector<Repetition> repetitions;
};

/// R17, section 12.4. Each of `groups` is 1 to kMostGroups; throws UsageError.
[[nodiscard]] MORTON_API WorkGroupOrder probe_order(const Device& device,
                                                    const std::array<std::int64_t, 2>& groups,
                                                    const ProbeOptions& options = {});

/// How long a load takes that waits for the one before it, at places in a random order.
struct LatencyPoint {
  enum class Where : std::uint8_t { device, host } where = Where::device;
  std::int64_t stride_bytes = 0;  ///< between neighbouring places
  std::int64_t footprint_bytes = 0;
  Measured ns;
};
/// Footprints that follow each other and whose loads take about the same, as those of one cache do.
struct LatencyPlateau {
  LatencyPoint::Where where = LatencyPoint::Where::device;
  std::int64_t least_bytes = 0, most_bytes = 0;
  double ns = 0.0;
};
/// What probe_latency measured.
struct LatencyCurves {
  std::vector<LatencyPoint> points;      ///< by place, then stride, then footprint
  std::vector<LatencyPlateau> plateaus;  ///< of strides of 64 bytes
  std::vector<std::string> notes;
};
/// C18, figures 3 and 4: one work-item, and one thread of the host.
[[nodiscard]] MORTON_API LatencyCurves probe_latency(const Device& device,
                                                     const ProbeOptions& options = {});

/// Elements that are loaded once, each followed by so many multiply-adds.
struct IntensityPoint {
  std::string type;  ///< "f32", "f16", "i32" or "i8"; integers wrap
  std::int64_t element_bytes = 0;
  std::int64_t multiply_adds = 0;
  std::int64_t bytes = 0;  ///< that a launch loads
  Measured gigabytes_per_second;
  /// Arithmetic for each byte that is loaded; a multiply-add is two operations.
  [[nodiscard]] double operations_per_byte() const {
    return 2.0 * static_cast<double>(multiply_adds) / static_cast<double>(element_bytes);
  }
  /// 10^9 operations in a second; a multiply-add is two.
  [[nodiscard]] double gflops() const {
    return gigabytes_per_second.median * operations_per_byte();
  }
};
/// What probe_intensity measured.
struct IntensityCurves {
  std::vector<IntensityPoint> points;  ///< by type, then intensity
  std::vector<std::string> notes;
};
/// C18, figures 5 to 10.
[[nodiscard]] MORTON_API IntensityCurves probe_intensity(const Device& device,
                                                         const ProbeOptions& options = {});

/// Bytes that go to the device, from it, or from one of its buffers to another one.
struct MeasuredCopy {
  enum class Way : std::uint8_t {
    to_device,    ///< from ordinary memory, as `pageable` of MeasuredTransfer
    from_device,  ///< likewise
    by_driver,    ///< clEnqueueCopyBuffer
    by_kernel,    ///< a kernel that copies, again and again
  } way = Way::to_device;
  std::int64_t bytes = 0;  ///< each is counted once
  Measured gibibytes_per_second;
};
/// What probe_copies measured.
struct MeasuredCopies {
  std::vector<MeasuredCopy> copies;  ///< by size, then way
  std::vector<std::string> notes;
};
/// C18, figures 11 and 12.
[[nodiscard]] MORTON_API MeasuredCopies probe_copies(const Device& device,
                                                     const ProbeOptions& options = {});

/// A kernel with work-groups of one shape.
struct MeasuredGroup {
  /// Extents of dimensions 0 and 1, of which 0 goes along rows; 0 and 0: the driver chose.
  std::array<std::int64_t, 2> group{0, 0};
  Measured us;
};
/// What probe_groups measured of one kernel.
struct MeasuredGroups {
  std::string kernel;  ///< "stream" or "product"
  std::array<std::int64_t, 2> work_items{0, 0};
  std::vector<MeasuredGroup> groups;
  std::vector<std::string> left_out;  ///< shapes that the device does not take, and why
};
/// As C18, table 2, asks; a kernel that streams, and a product.
[[nodiscard]] MORTON_API std::vector<MeasuredGroups> probe_groups(const Device& device,
                                                                  const ProbeOptions& options = {});

/// A square of texels of four channels, read once by each launch.
struct MeasuredImageRead {
  std::string type;  ///< of a channel: "f32" or "f16"
  enum class Memory : std::uint8_t { image, buffer } memory = Memory::image;
  /// Texels that are read after each other: of a row, a column, or a tile of 8 x 8.
  enum class Order : std::uint8_t { rows, columns, tiles } order = Order::rows;
  std::int64_t width = 0;  ///< of the square, in texels
  Measured gigabytes_per_second;
};
/// What probe_images measured.
struct ImageReads {
  std::vector<MeasuredImageRead> reads;  ///< by type, width, memory, order
  std::vector<std::string> left_out;     ///< images that the device cannot read, and why
};
/// Reads of images beside those of buffers of the same texels. Throws DeviceError.
[[nodiscard]] MORTON_API ImageReads probe_images(const Device& device,
                                                 const ProbeOptions& options = {});

}  // namespace morton
