// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/policy/rejection.hpp"
#include "problems/problem.hpp"

namespace morton::plan {

/// Values of every name that an entry's expressions may use for a problem: extents, structure,
/// padded extents, tunables, device facts, `elements_dst`, and `products` of a batch (else 1).
[[nodiscard]] MORTON_FOR_TOOLS Environment entry_environment(const Entry& entry,
                                                             const Problem& problem,
                                                             const Environment& tunables,
                                                             const DeviceInfo& device,
                                                             std::int64_t elements_dst);

/// An entry's `flop` or `work` under entry_environment, on padded extents where it computes its
/// padding.
[[nodiscard]] MORTON_FOR_TOOLS std::int64_t operations_of(const Expression& operations,
                                                          const Entry& entry,
                                                          const Problem& problem,
                                                          const Environment& names);

/// Global and local size of a launch, three dimensions each.
struct LaunchSize {
  std::array<std::int64_t, 3> global{1, 1, 1};
  std::array<std::int64_t, 3> local{1, 1, 1};
};

/// What a launch asks of a device.
struct LaunchNumbers {
  LaunchSize size;
  std::size_t dimensions = 1;
  std::int64_t local_memory_bytes = 0;
};

/// The limit of the device that the launch is beyond, if there is one: multiples, work-group size,
/// local memory, at most 65,535 in a dimension (beyond that PoCL compiles again).
[[nodiscard]] std::optional<Reason> beyond_limits(const LaunchNumbers& launch,
                                                  const DeviceInfo& device);

/// Evaluates the entry's launch.
[[nodiscard]] LaunchNumbers launch_numbers(const Entry& entry, const Environment& environment);
/// Likewise within the device's limits. Throws UnsupportedError that says which it is beyond.
[[nodiscard]] MORTON_FOR_TOOLS LaunchSize launch_size(const Entry& entry,
                                                      const Environment& environment,
                                                      const DeviceInfo& device);

/// The best efficiency of the entries which pack from any format to any: elements a second, as a
/// share of the arithmetic peak. Which of them a copy gets is chosen when it is scheduled.
[[nodiscard]] double best_pack_efficiency(const Catalogue& catalogue, const DeviceInfo& device);

/// The bytes that a step moves.
struct Moved {
  /// What steps before it have just written, and what it writes; states of training, too.
  double tensors = 0.0;
  double weights = 0.0;  ///< constants
  /// As many bytes of constants as memory could have brought while a kernel waits for pieces of
  /// them.
  double waits = 0.0;
  /// Of the network's constants all together: each run reads them all before the same ones again.
  double all_weights = 0.0;
};

/// Time in microseconds to move them. On a CPU at the bandwidth of what caches hold of so much
/// (bandwidth_at), on others at the memory's. Caches let no kernel wait for pieces.
[[nodiscard]] MORTON_FOR_TOOLS double moving_us(const Moved& moved, const DeviceInfo& device);

/// Time in microseconds of a kernel that does `flop` operations at `efficiency` of the device's
/// arithmetic peak and moves bytes in `memory_us`: the larger of the two, a tenth of the smaller
/// one (a CPU: half of it), and a launch (ARCHITECTURE.md, "What the plan decides, and how").
[[nodiscard]] MORTON_FOR_TOOLS double step_cost_us(double flop, double efficiency, double memory_us,
                                                   const DeviceInfo& device);

/// Time in microseconds of `flop` operations at the device's arithmetic peak.
[[nodiscard]] MORTON_FOR_TOOLS double peak_us(double flop, const DeviceInfo& device);

/// Most bytes for a recipe's temporaries where nobody says: 64 MiB, and on a GPU with memory of its
/// own a 256th of that if it is more.
[[nodiscard]] std::int64_t usual_workspace_bytes(const DeviceInfo& device);

/// The device's memory bandwidth in GB/s, guessed where nobody measured it.
[[nodiscard]] double memory_peak(const DeviceInfo& device);

/// Time in microseconds from one small kernel to the next, guessed where nobody measured it.
[[nodiscard]] double launch_peak_us(const DeviceInfo& device);

/// The most work-items of a launch along a dimension: so many that PoCL does not compile a kernel
/// again; of GPUs along the first as many as can be counted.
[[nodiscard]] MORTON_FOR_TOOLS std::int64_t largest_dimension(std::size_t dimension,
                                                              const DeviceInfo& device);

/// Whether anybody measured what steps on the host cost beside this device.
[[nodiscard]] bool host_is_measured(const DeviceInfo& device);

/// Time in microseconds that a product of `flop` operations adds to a run when the host computes it
/// and moves bytes in `memory_us`: what waiting, mapping and going on cost, beyond a launch, and
/// the larger of the product's time and the memory's with a tenth of the smaller one. Between the
/// measured products times are interpolated; below the least they are its own. Only where
/// host_is_measured.
[[nodiscard]] double host_step_cost_us(double flop, double memory_us, const DeviceInfo& device);

/// "172.8 GFLOP/s, 10.0 GB/s, 20.0 us a launch: guessed from clock and compute units".
[[nodiscard]] std::string peaks_text(const DeviceInfo& device);

/// Work-items of a launch of this size.
[[nodiscard]] MORTON_FOR_TOOLS double work_items(const std::array<std::int64_t, 3>& global);

/// Work-items whose time the launch takes: a work-group fills whole sets of work-items in step.
[[nodiscard]] double timed_work_items(const LaunchSize& size, const DeviceInfo& device);

/// Share of the device's compute units that the launch has work-groups for, at most 1.
[[nodiscard]] MORTON_FOR_TOOLS double busy_share(const LaunchSize& size, const DeviceInfo& device);

/// Share of a GPU, at most 1, that so many work-items fill, so that each wait of one is work of
/// others; 1 on other devices.
[[nodiscard]] double full_share(double items, const DeviceInfo& device);

/// Share of a GPU's memory bandwidth, at most 1, that the launch can ask for: memory answers after
/// about a microsecond, and each work-item waits for a few vectors at a time; where it
/// `copies_meanwhile`, a work-group's local memory is under way. 1 on other devices, where caches
/// read ahead.
[[nodiscard]] double asked_share(const LaunchNumbers& launch, bool copies_meanwhile,
                                 const DeviceInfo& device);

/// The entry's share of the peak on this device: of the most particular of its classes that the
/// entry has a figure for (`classes_of`).
[[nodiscard]] MORTON_FOR_TOOLS double efficiency_of(const Entry& entry, const DeviceInfo& device);

}  // namespace morton::plan
