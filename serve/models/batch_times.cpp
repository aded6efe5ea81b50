// SPDX-License-Identifier: Apache-2.0
#include "models/batch_times.hpp"

#include <algorithm>
#include <bit>

#include "models/batching.hpp"

namespace morton::serve {

void BatchTimes::add(std::int64_t size, double seconds) {
  const auto [known, is_new] = seconds_.emplace(size, seconds);
  // A device's speed changes with its clock and with what else runs there.
  if (!is_new) known->second += (seconds - known->second) / 8;
}

std::int64_t BatchTimes::items_for(std::int64_t waiting) const {
  const std::int64_t items = std::min(waiting, most_items_);
  const auto smaller = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(items)));
  const auto all = seconds_.find(batch_size_for(items, most_items_));
  const auto some = seconds_.find(smaller);
  if (smaller == items || all == seconds_.end() || some == seconds_.end()) return items;
  const bool fewer_pay =
      static_cast<double>(smaller) * all->second > static_cast<double>(items) * some->second;
  return fewer_pay ? smaller : items;
}

}  // namespace morton::serve
