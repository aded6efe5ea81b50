// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace morton::serve {

/// How long batches of each size take on a device, and which size pays. Threads may share it.
class BatchTimes {
 public:
  explicit BatchTimes(std::int64_t most_items) : most_items_(most_items) {}

  /// A batch of this size took so long. Later ones count more.
  void add(std::int64_t size, double seconds);
  /// Seconds of a batch of this size, of late; infinite where none is known.
  [[nodiscard]] double of(std::int64_t size) const;
  /// How many of the items that wait the next batch is to take. All of them (up to the largest
  /// batch) fill the next size up with zeros; as many as fill a smaller size leave some for later.
  /// What computes more items a second is taken, and all where a time is not known.
  [[nodiscard]] std::int64_t items_for(std::int64_t waiting) const;

 private:
  std::int64_t most_items_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, double> seconds_;  ///< by size
};

}  // namespace morton::serve
