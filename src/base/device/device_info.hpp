// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/device/core_facts.hpp"
#include "base/files/json_reader.hpp"
#include "base/for_tools.hpp"
#include "morton/roofline_peaks.hpp"

namespace morton {

/// Every fact of an OpenCL device that any decision rests on, as plain data: it can be saved,
/// reviewed and planned for with no such device present.
struct DeviceInfo {
  enum class Kind : std::uint8_t { cpu, gpu, accelerator };
  /// What runs it, and the versions of OpenCL that it offers, as the driver writes them.
  struct Driver {
    std::string platform, platform_version;
    std::string version;  ///< the driver's own
    std::string device_version, opencl_c_version, profile;
  };
  /// What computes, and how much work one launch may hold.
  struct Compute {
    std::int64_t units = 1, clock_mhz = 0;
    /// Of NVIDIA's GPUs: 10 * major + minor, which says what PTX within OpenCL C they run; else 0.
    std::int64_t cuda_capability = 0;
    std::int64_t max_work_group_size = 1;
    std::array<std::int64_t, 3> max_work_item_sizes{1, 1, 1};
    std::int64_t preferred_vector_f32 = 1, native_vector_f32 = 1, native_vector_f16 = 0;
  };
  /// Sizes of its memories. The cache is that of global memory.
  struct Memory {
    std::int64_t global_bytes = 0, max_allocation_bytes = 0;
    std::int64_t cache_bytes = 0, cache_line_bytes = 0;
    std::int64_t local_bytes = 0, constant_buffer_bytes = 0;
    bool local_is_dedicated = false;          ///< false: emulated in global memory (Mali, CPUs)
    bool is_unified = false;                  ///< it shares the host's
    std::int64_t base_alignment_bytes = 128;  ///< of sub-buffers' addresses
  };
  struct Image {
    bool supported = false, from_buffer = false;
    std::int64_t max_width = 0, max_height = 0, buffer_max_texels = 0;
    std::int64_t pitch_alignment_texels = 0;
  };
  struct Features {
    std::string extensions;
    bool fp16 = false, fp64 = false;
    bool profiling = true, out_of_order = false, compiler = true;
    double timer_resolution_ns = 1.0;
  };

  std::string id;  ///< "P:D": index of the platform, index of the device in it
  std::string name, vendor;
  Kind kind = Kind::gpu;
  Driver driver;
  Compute compute;
  CoreFacts core;
  Memory memory;
  Image image;
  Features features;
  RooflinePeaks peaks;
  /// Names of the driver bugs known for it (device/open/quirks.cpp).
  std::vector<std::string> quirks;
};

/// Name of the quirk of drivers that cannot bear overlapping sub-buffers: the plan reads it.
inline constexpr std::string_view kOverlappingSubBuffers = "nvidia-overlapping-sub-buffers";

[[nodiscard]] std::string_view name_of(DeviceInfo::Kind kind);

/// The classes for which an entry may state what share of the peak it reaches. Those a device is
/// of, the most particular first: "cpu"; or, of a GPU (an accelerator counts as one),
/// "gpu_without_local_memory" where local memory is ordinary memory (Mali), "low_power_gpu" where
/// it shares the host's memory (Mali, Adreno), "gpu" always.
[[nodiscard]] std::vector<std::string_view> classes_of(const DeviceInfo& info);
/// All fields, without their groups, schema 1.
[[nodiscard]] Json to_json(const DeviceInfo& info);
/// Checked; throws ModelError naming the key. Unknown keys are errors, missing ones too, but for
/// facts of the core, which are guessed then (guessed_core).
[[nodiscard]] MORTON_FOR_TOOLS DeviceInfo device_info_from_json(const JsonReader& reader);
/// Likewise from the text of a description that has no file.
[[nodiscard]] MORTON_FOR_TOOLS DeviceInfo device_info_from_text(const std::string& text);
[[nodiscard]] Json to_json(const RooflinePeaks& peaks);
/// Checked as device_info_from_json does; footprints must be positive and go up, and so must the
/// host's products. "host" may be missing: then nobody measured it.
[[nodiscard]] RooflinePeaks peaks_from_json(const JsonReader& reader);
/// Most bytes of local memory that a work-group may take. NVIDIA's driver states 48 KiB, and
/// launches kernels with what an H200 has: 227 KiB, of which 220 were tried.
[[nodiscard]] std::int64_t local_memory_limit(const DeviceInfo& info);
/// What catalogue expressions see as `device.*`: numbers and booleans by their keys in JSON
/// ("device.compute_units", "device.is_cpu", "device.is_gpu", "device.fp16", ...); the three sizes
/// are "device.max_work_item_sizes0" to 2. Texts, peaks and quirks are not seen.
[[nodiscard]] MORTON_FOR_TOOLS Environment environment_of(const DeviceInfo& info);
/// What is assumed of a core that nobody described, with the sources set. Of a CPU: vectors as
/// OpenCL says they are native, 32 registers where they are of 16 floats or Arm's, else 16, caches
/// of 32 and 512 KiB. Of a GPU: 32 work-items in step, 64 registers.
[[nodiscard]] MORTON_FOR_TOOLS CoreFacts guessed_core(const DeviceInfo& info);
/// Rough peaks of a device that nobody measured, from its kind, clock and compute units; `source`
/// says that they are guessed.
[[nodiscard]] MORTON_FOR_TOOLS RooflinePeaks guessed_peaks(const DeviceInfo& info);
/// Device, driver and versions in one line: the key of caches and tuning data.
[[nodiscard]] MORTON_FOR_TOOLS std::string fingerprint(const DeviceInfo& info);

}  // namespace morton
