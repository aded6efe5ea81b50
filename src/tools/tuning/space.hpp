// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "problems/problem.hpp"

namespace morton::tools {

/// All values of an entry's tunables that can be tried for a problem on a device.
struct SearchSpace {
  /// Those that satisfy the entry's `require`, its tunables' `tried` (but for the standard values)
  /// and the device's limits: the standard values first
  /// where they are among them, the others by the time that the cost model estimates; equal ones in
  /// an order that the seed draws. An entry without tunables has one, without values.
  std::vector<Environment> candidates;
  std::size_t left_out = 0;  ///< combinations that do not satisfy them
  Environment standard;      ///< the values where nothing is tuned
};

[[nodiscard]] SearchSpace search_space(const Entry& entry, const Problem& problem,
                                       const DeviceInfo& device, std::uint64_t seed);

/// Indices of the candidates that differ from `centre` in one tunable, by one step of the values
/// that are listed for it.
[[nodiscard]] std::vector<std::size_t> neighbours(const Entry& entry, const SearchSpace& space,
                                                  const Environment& centre);

/// Operations of one run, padding included, over the share of the compute units that have work: at
/// a peak of 1 FLOP a second that is its time. A record's efficiency is this over time and peak.
[[nodiscard]] double occupied_flop(const Entry& entry, const Problem& problem,
                                   const Environment& tunables, const DeviceInfo& device);

}  // namespace morton::tools
