// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "api/inside.hpp"
#include "device/probe/probe_latency.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

using Where = LatencyPoint::Where;

constexpr std::int64_t kLeastLatencyFootprint = 1 << 10;
constexpr std::int64_t kUsualLatencyFootprint = std::int64_t{64} << 20;
constexpr std::int64_t kMostLatencyFootprint = std::int64_t{256} << 20;
constexpr std::int64_t kPlateauStride = 64;
/// Times of a plateau are no further apart.
constexpr double kFlat = 1.25;

std::int64_t largest_latency_footprint(const DeviceInfo& info, const ProbeOptions& options) {
  const std::int64_t wanted =
      is_quick(options)
          ? kUsualLatencyFootprint
          : std::clamp(2 * info.memory.cache_bytes, kUsualLatencyFootprint, kMostLatencyFootprint);
  return std::min(wanted, info.memory.max_allocation_bytes / 4);
}

/// Runs of footprints whose times stay within kFlat of the least of them.
void add_plateaus(LatencyCurves& curves, Where where, std::size_t least_points) {
  std::vector<const LatencyPoint*> run;
  double least = 0.0;
  double most = 0.0;
  const auto close = [&] {
    if (run.size() >= least_points) {
      curves.plateaus.push_back({where, run.front()->footprint_bytes, run.back()->footprint_bytes,
                                 run[run.size() / 2]->ns.median});
    }
    run.clear();
  };
  for (const LatencyPoint& point : curves.points) {
    if (point.where != where || point.stride_bytes != kPlateauStride) continue;
    const double ns = point.ns.median;
    if (!run.empty() && std::max(most, ns) > kFlat * std::min(least, ns)) close();
    least = run.empty() ? ns : std::min(least, ns);
    most = run.empty() ? ns : std::max(most, ns);
    run.push_back(&point);
  }
  close();
}

}  // namespace

LatencyCurves probe_latency(const Device& device, const ProbeOptions& options) {
  const auto opened = Inside::of(device);
  const DeviceInfo& info = opened->info();
  const std::vector<std::int64_t> strides =
      is_quick(options) ? std::vector<std::int64_t>{16, 64, 1024}
                        : std::vector<std::int64_t>{16, 32, 64, 128, 256, 512, 1024};
  const std::int64_t largest = largest_latency_footprint(info, options);
  const std::int64_t factor = is_quick(options) ? 4 : 2;
  const Sampling sampling{sampling_of(options).samples, 3.0};
  LatencyProbe probe(opened);
  LatencyCurves curves;
  std::vector<LatencyPoint> of_host;
  double done = 0.0;
  for (const std::int64_t stride : strides) {
    for (std::int64_t bytes = kLeastLatencyFootprint; bytes <= largest; bytes *= factor) {
      tell(options, "latency", done / static_cast<double>(strides.size()));
      const LoadChain chain(bytes, stride);
      curves.points.push_back(
          {Where::device, stride, bytes, measured(probe.device_ns(chain, sampling), Best::least)});
      of_host.push_back({Where::host, stride, bytes,
                         measured(LatencyProbe::host_ns(chain, sampling), Best::least)});
    }
    done += 1.0;
  }
  curves.points.insert(curves.points.end(), of_host.begin(), of_host.end());
  const std::size_t least_points = is_quick(options) ? 2 : 3;
  add_plateaus(curves, Where::device, least_points);
  add_plateaus(curves, Where::host, least_points);
  if (largest < 2 * info.memory.cache_bytes) {
    curves.notes.push_back(fmt::format(
        "the largest footprint, {} MiB, is less than twice the cache of {} MiB that the driver "
        "states: the latency of memory may not be among these",
        largest >> 20, info.memory.cache_bytes >> 20));
  }
  return curves;
}

}  // namespace morton
