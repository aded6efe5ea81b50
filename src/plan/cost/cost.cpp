// SPDX-License-Identifier: Apache-2.0
#include "plan/cost/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "source/instance.hpp"

namespace morton::plan {
namespace {

/// The three peaks that every cost is made from.
struct Peaks {
  double gflops_f32 = 0.0, gigabytes_per_second = 0.0, launch_us = 0.0;
};

/// A peak of zero is unknown; a guess takes its place.
Peaks known_peaks(const DeviceInfo& device) {
  const RooflinePeaks& known = device.peaks;
  const Peaks peaks{known.gflops_f32, known.gigabytes_per_second, known.launch_us};
  const auto is_known = [](double peak) { return peak > 0.0; };
  if (is_known(peaks.gflops_f32) && is_known(peaks.gigabytes_per_second) &&
      is_known(peaks.launch_us)) {
    return peaks;
  }
  const RooflinePeaks guess = guessed_peaks(device);
  return {is_known(peaks.gflops_f32) ? peaks.gflops_f32 : guess.gflops_f32,
          is_known(peaks.gigabytes_per_second) ? peaks.gigabytes_per_second
                                               : guess.gigabytes_per_second,
          is_known(peaks.launch_us) ? peaks.launch_us : guess.launch_us};
}

/// What of the smaller part does not hide behind the larger one. Work-items of a CPU run one after
/// the other: half of it was the best fit of 1071 steps of 13 networks.
constexpr double kNotHidden = 0.1, kNotHiddenOnCpu = 0.5;

double work_groups(const LaunchSize& size) {
  double groups = 1.0;
  for (std::size_t i = 0; i < size.global.size(); ++i) {
    groups *= static_cast<double>(size.global[i] / size.local[i]);
  }
  return groups;
}

double overlapped_us(double arithmetic_us, double memory_us, double not_hidden) {
  return std::max(arithmetic_us, memory_us) + not_hidden * std::min(arithmetic_us, memory_us);
}

double host_product_us(const HostPeaks& host, double flop) {
  const HostProduct* below = &host.products.front();
  if (flop <= static_cast<double>(below->flop)) return below->us;
  for (const HostProduct& above : host.products) {
    if (flop <= static_cast<double>(above.flop)) {
      const double share =
          (flop - static_cast<double>(below->flop)) / static_cast<double>(above.flop - below->flop);
      return std::lerp(below->us, above.us, share);
    }
    below = &above;
  }
  return below->us * flop / static_cast<double>(below->flop);
}

}  // namespace

Environment entry_environment(const Entry& entry, const Problem& problem,
                              const Environment& tunables, const DeviceInfo& device,
                              std::int64_t elements_dst) {
  Environment environment = environment_of(problem);
  environment.merge(padded_extents(entry, problem, tunables));
  environment.insert(tunables.begin(), tunables.end());
  environment.merge(environment_of(device));
  environment["elements_dst"] = elements_dst;
  environment["products"] = entry.origin.batch_of.empty() ? 1 : problem.extents.at("B");
  add_part_sizes(problem, environment);
  return environment;
}

std::int64_t operations_of(const Expression& operations, const Entry& entry, const Problem& problem,
                           const Environment& names) {
  if (entry.padding.edges != Entry::Edges::pad) return operations.evaluate(names);
  Environment padded = names;
  for (const auto& [extent, value] : problem.extents) {
    padded[extent] = names.find(extent + "_pad")->second;
  }
  return operations.evaluate(padded);
}

std::int64_t largest_dimension(std::size_t dimension, const DeviceInfo& device) {
  constexpr std::int64_t kCompiledOnce = 65535;
  const bool is_counted = dimension == 0 && device.kind == DeviceInfo::Kind::gpu;
  return is_counted ? std::numeric_limits<std::int32_t>::max() : kCompiledOnce;
}

std::optional<Reason> beyond_limits(const LaunchNumbers& launch, const DeviceInfo& device) {
  using What = LaunchLimit::What;
  std::int64_t work_items = 1;
  for (std::size_t i = 0; i < launch.dimensions; ++i) {
    const std::int64_t local = launch.size.local[i];
    const std::int64_t global = launch.size.global[i];
    if (local < 1 || global < 1 || global % local != 0) {
      return LaunchLimit{What::no_multiple, i, global, local};
    }
    if (local > device.compute.max_work_item_sizes[i]) {
      return LaunchLimit{What::local_size, i, local, device.compute.max_work_item_sizes[i]};
    }
    const std::int64_t most = largest_dimension(i, device);
    if (global > most) return LaunchLimit{What::global_size, i, global, most};
    work_items *= local;
  }
  if (work_items > device.compute.max_work_group_size) {
    return LaunchLimit{What::work_group, 0, work_items, device.compute.max_work_group_size};
  }
  const std::int64_t local_bytes = local_memory_limit(device);
  if (launch.local_memory_bytes > local_bytes) {
    return LaunchLimit{What::local_memory, 0, launch.local_memory_bytes, local_bytes};
  }
  return std::nullopt;
}

LaunchNumbers launch_numbers(const Entry& entry, const Environment& environment) {
  LaunchNumbers launch;
  launch.dimensions = entry.launch.local.size();
  for (std::size_t i = 0; i < entry.launch.local.size(); ++i) {
    launch.size.local[i] = entry.launch.local[i].evaluate(environment);
    launch.size.global[i] = entry.launch.global[i].evaluate(environment);
  }
  launch.local_memory_bytes = entry.launch.local_memory_bytes.evaluate(environment);
  return launch;
}

LaunchSize launch_size(const Entry& entry, const Environment& environment,
                       const DeviceInfo& device) {
  const LaunchNumbers launch = launch_numbers(entry, environment);
  if (const auto limit = beyond_limits(launch, device)) throw UnsupportedError(print(*limit));
  return launch.size;
}

std::string peaks_text(const DeviceInfo& device) {
  const RooflinePeaks& known = device.peaks;
  const Peaks peaks = known_peaks(device);
  const bool all =
      known.gflops_f32 > 0.0 && known.gigabytes_per_second > 0.0 && known.launch_us > 0.0;
  const std::string host = host_is_measured(device)
                               ? fmt::format(", {:.1f} us a launch and a step on the host",
                                             known.host.launch_and_step_us)
                               : "";
  return fmt::format("{:.1f} GFLOP/s, {:.1f} GB/s, {:.1f} us a launch{}: {}{}", peaks.gflops_f32,
                     peaks.gigabytes_per_second, peaks.launch_us, host, known.source,
                     all ? "" : ", what is unknown guessed");
}

double work_items(const std::array<std::int64_t, 3>& global) {
  double items = 1.0;
  for (const std::int64_t extent : global) items *= static_cast<double>(extent);
  return items;
}

double timed_work_items(const LaunchSize& size, const DeviceInfo& device) {
  const auto in_a_group = static_cast<double>(size.local[0] * size.local[1] * size.local[2]);
  const auto in_step = static_cast<double>(device.core.lanes);
  return work_groups(size) * std::ceil(in_a_group / in_step) * in_step;
}

double busy_share(const LaunchSize& size, const DeviceInfo& device) {
  return std::min(1.0, work_groups(size) /
                           static_cast<double>(std::max<std::int64_t>(device.compute.units, 1)));
}

double full_share(double items, const DeviceInfo& device) {
  if (device.kind != DeviceInfo::Kind::gpu) return 1.0;
  constexpr double kEnoughInAUnit = 256.0;
  const auto units = static_cast<double>(std::max<std::int64_t>(device.compute.units, 1));
  return std::min(1.0, items / (kEnoughInAUnit * units));
}

double asked_share(const LaunchNumbers& launch, bool copies_meanwhile, const DeviceInfo& device) {
  // Little's law: 25 KiB under way fill a compute unit of an H200.
  constexpr double kBytesOfAnItem = 100.0;
  const double by_items = work_items(launch.size.global);
  if (!copies_meanwhile) return full_share(by_items, device);
  const double by_copies =
      work_groups(launch.size) * static_cast<double>(launch.local_memory_bytes) / kBytesOfAnItem;
  return full_share(std::max(by_items, by_copies), device);
}

double efficiency_of(const Entry& entry, const DeviceInfo& device) {
  for (const std::string_view name : classes_of(device)) {
    const auto found = entry.cost.efficiency.find(std::string(name));
    if (found != entry.cost.efficiency.end()) return found->second;
  }
  constexpr double kUnknown = 0.01;
  return kUnknown;
}

double best_pack_efficiency(const Catalogue& catalogue, const DeviceInfo& device) {
  double best = 0.0;
  for (const Entry& entry : catalogue.entries()) {
    if (entry.family != families::pack || packs_one_layout(entry)) continue;
    best = std::max(best, efficiency_of(entry, device));
  }
  // Without any there is nothing to compare, and planning a copy will say so.
  return best > 0.0 ? best : 1.0;
}

double moving_us(const Moved& moved, const DeviceInfo& device) {
  const double memory = memory_peak(device);
  const auto bandwidth = [&](double footprint) {
    const bool has_caches = device.kind == DeviceInfo::Kind::cpu && !device.peaks.bandwidth.empty();
    if (!has_caches) return memory;
    const double cached = bandwidth_at(device.peaks, static_cast<std::int64_t>(footprint));
    return cached > 0.0 ? cached : memory;
  };
  const double of_weights = bandwidth(std::max(moved.weights, moved.all_weights));
  // At no more than this share of memory's bandwidth caches hold too little to matter.
  constexpr double kOfMemory = 1.2;
  const double waits = of_weights <= kOfMemory * memory ? moved.waits : 0.0;
  // GB/s is 1e3 bytes a microsecond.
  return (moved.tensors / bandwidth(moved.tensors) + (moved.weights + waits) / of_weights) / 1e3;
}

double peak_us(double flop, const DeviceInfo& device) {
  // GFLOP/s is 1e3 operations a microsecond.
  return flop / (known_peaks(device).gflops_f32 * 1e3);
}

double step_cost_us(double flop, double efficiency, double memory_us, const DeviceInfo& device) {
  const double arithmetic = peak_us(flop, device) / efficiency;
  const bool is_cpu = device.kind == DeviceInfo::Kind::cpu;
  return overlapped_us(arithmetic, memory_us, is_cpu ? kNotHiddenOnCpu : kNotHidden) +
         launch_peak_us(device);
}

std::int64_t usual_workspace_bytes(const DeviceInfo& device) {
  constexpr std::int64_t kLeast = std::int64_t{64} << 20;
  const bool has_own = device.kind == DeviceInfo::Kind::gpu && !device.memory.is_unified;
  return has_own ? std::max(kLeast, device.memory.global_bytes / 256) : kLeast;
}

double memory_peak(const DeviceInfo& device) { return known_peaks(device).gigabytes_per_second; }

bool host_is_measured(const DeviceInfo& device) {
  const HostPeaks& host = device.peaks.host;
  return host.launch_and_step_us > 0.0 && !host.products.empty();
}

double launch_peak_us(const DeviceInfo& device) { return known_peaks(device).launch_us; }

double host_step_cost_us(double flop, double memory_us, const DeviceInfo& device) {
  const HostPeaks& host = device.peaks.host;
  const double around = std::max(0.0, host.launch_and_step_us - launch_peak_us(device));
  return around + overlapped_us(host_product_us(host, flop), memory_us, kNotHidden);
}

}  // namespace morton::plan
