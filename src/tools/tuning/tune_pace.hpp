// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "morton/tools/tune.hpp"
#include "tools/tuning/search.hpp"
#include "tools/tuning/tune_pair.hpp"

namespace morton::tools {

/// How a tuning job's time is spent: it starts with this, and the pairs that are left share what is
/// left of it.
class TunePace {
 public:
  using Clock = std::chrono::steady_clock;

  TunePace(const TuneOptions& options, const std::vector<TunePair>& pairs, const DeviceInfo& device)
      : options_(options), pairs_(pairs), device_(device) {}

  /// When the search of a pair, which begins now, is to end.
  [[nodiscard]] Clock::time_point deadline_of(std::size_t index) const;
  /// Whether the whole time is used.
  [[nodiscard]] bool is_over() const { return used_ms() >= options_.budget_ms; }
  /// Tells the caller of the job how far it has come.
  void tell(std::size_t index, const Search& search) const;

 private:
  [[nodiscard]] double used_ms() const;
  [[nodiscard]] std::string text_of(const TunePair& pair, const Search& search) const;

  const TuneOptions& options_;
  const std::vector<TunePair>& pairs_;
  const DeviceInfo& device_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace morton::tools
