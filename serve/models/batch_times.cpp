// SPDX-License-Identifier: Apache-2.0
#include "models/batch_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "models/batching.hpp"

namespace morton::serve {

void BatchTimes::add(std::int64_t size, double seconds) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = seconds_.emplace(size, seconds);
  // A device's speed changes with its clock and with what else runs there.
  if (!is_new) known->second += (seconds - known->second) / 8;
}

double BatchTimes::of(std::int64_t size) const {
  const std::lock_guard lock(mutex_);
  const auto known = seconds_.find(size);
  return known == seconds_.end() ? std::numeric_limits<double>::infinity() : known->second;
}

std::int64_t BatchTimes::items_for(std::int64_t waiting) const {
  const std::int64_t items = std::min(waiting, most_items_);
  const auto smaller = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(items)));
  if (smaller == items) return items;
  const double all = of(batch_size_for(items, most_items_));
  const double some = of(smaller);
  if (!std::isfinite(all + some)) return items;
  return static_cast<double>(smaller) * all > static_cast<double>(items) * some ? smaller : items;
}

}  // namespace morton::serve
