// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "api/inside.hpp"
#include "device/probe/probe_intensity.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr std::int64_t kQuickIntensityFootprint = std::int64_t{32} << 20;
constexpr std::int64_t kUsualIntensityFootprint = std::int64_t{64} << 20;
constexpr std::int64_t kMostIntensityFootprint = std::int64_t{256} << 20;

std::int64_t intensity_footprint(const DeviceInfo& info, const ProbeOptions& options) {
  const std::int64_t wanted = is_quick(options)
                                  ? kQuickIntensityFootprint
                                  : std::clamp(2 * info.memory.cache_bytes,
                                               kUsualIntensityFootprint, kMostIntensityFootprint);
  return std::min(wanted, info.memory.max_allocation_bytes / 4);
}

}  // namespace

IntensityCurves probe_intensity(const Device& device, const ProbeOptions& options) {
  const auto opened = Inside::of(device);
  const DeviceInfo& info = opened->info();
  const std::int64_t footprint = intensity_footprint(info, options);
  const std::vector<std::int64_t> counts =
      is_quick(options) ? std::vector<std::int64_t>{0, 1, 4, 16, 64, 256}
                        : std::vector<std::int64_t>{0, 1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<IntensityType> types{IntensityType::f32, IntensityType::i32, IntensityType::i8};
  IntensityCurves curves;
  if (info.features.fp16) {
    types.insert(types.begin() + 1, IntensityType::f16);
  } else {
    curves.notes.emplace_back("f16 is left out: the device has no arithmetic on halves");
  }
  double done = 0.0;
  for (const IntensityType type : types) {
    IntensityProbe probe(opened, type, footprint);
    for (const std::int64_t count : counts) {
      tell(options, "intensity", done / static_cast<double>(types.size() * counts.size()));
      const Measured rate = measured(probe.measure(count, sampling_of(options)), Best::greatest);
      curves.points.push_back({name_of(type), bytes_of(type), count, probe.bytes_loaded(), rate});
      done += 1.0;
    }
  }
  if (footprint < 2 * info.memory.cache_bytes) {
    curves.notes.push_back(fmt::format(
        "launches go through {} MiB at most, which the cache of {} MiB that the driver states may "
        "hold: the slope may be that of a cache",
        footprint >> 20, info.memory.cache_bytes >> 20));
  }
  return curves;
}

}  // namespace morton
