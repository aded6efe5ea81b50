// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "models/request.hpp"

namespace morton::serve {

/// How requests wait for a model.
struct QueueLimits {
  std::size_t most_waiting = 256;           ///< requests; further ones are refused at once
  std::int64_t most_items = 1;              ///< of a batch
  std::chrono::microseconds most_delay{0};  ///< that a request waits for others to share its batch
};

/// Requests that wait for a model, and the batches that they become. Threads may share it.
class RequestQueue {
 public:
  explicit RequestQueue(const QueueLimits& limits) : limits_(limits) {}

  /// Takes a request in. One that cannot be is done at once, with the reason.
  void offer(Pending request);
  /// Waits for requests and takes those that share a batch, the oldest first: as many items of
  /// those that could as `items_for` says. Those that are late are done. Empty when the queue is
  /// closed and nothing waits.
  [[nodiscard]] std::vector<Pending> take(
      const std::function<std::int64_t(std::int64_t waiting)>& items_for);
  /// What becomes of requests that wait when the queue is closed.
  enum class Rest : std::uint8_t { taken, dropped };
  /// Refuses further requests.
  void close(Rest rest);
  /// Whether a request that comes now would wait for no other.
  [[nodiscard]] bool is_idle() const;
  /// Requests that wait.
  [[nodiscard]] std::size_t waiting() const;

 private:
  /// Takes out what is late; `lock` is held before and after, and not while they are done.
  void drop_late(std::unique_lock<std::mutex>& lock);
  /// Items of the batch that the oldest request would be in now.
  [[nodiscard]] std::int64_t items_at_hand() const;

  const QueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Pending> waiting_;
  bool closed_ = false;
};

}  // namespace morton::serve
