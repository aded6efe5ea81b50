// SPDX-License-Identifier: Apache-2.0
#include "models/request_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace morton::serve {

void RequestQueue::offer(Pending request) {
  Refusal refusal{Refusal::Why::busy, {}};
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      refusal.why = Refusal::Why::gone;
      refusal.text = "the model is being unloaded";
    } else if (waiting_.size() >= limits_.most_waiting) {
      refusal.text = fmt::format("{} requests wait for the model, as many as may", waiting_.size());
    } else {
      waiting_.push_back(std::move(request));
    }
  }
  if (refusal.text.empty()) {
    changed_.notify_one();
  } else {
    request.done(std::move(refusal));
  }
}

std::vector<Pending> RequestQueue::take(
    const std::function<std::int64_t(std::int64_t waiting)>& items_for) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    drop_late(lock);
    if (waiting_.empty()) {
      if (closed_) return {};
      continue;
    }
    if (limits_.most_delay.count() > 0 && !closed_ && items_at_hand() < limits_.most_items) {
      const auto until = waiting_.front().arrived + limits_.most_delay;
      // A request with less time than that waits for no others.
      const auto is_urgent = [&](const Pending& one) {
        return one.deadline && *one.deadline < until;
      };
      changed_.wait_until(lock, until, [&] {
        return closed_ || waiting_.empty() || items_at_hand() >= limits_.most_items ||
               std::ranges::any_of(waiting_, is_urgent);
      });
      drop_late(lock);
      if (waiting_.empty()) continue;  // late, or another thread took them
    }
    break;
  }
  std::vector<Pending> batch;
  const std::int64_t most_items = std::min(items_for(items_at_hand()), limits_.most_items);
  std::int64_t items = 0;
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    const bool fits =
        batch.empty() || (one->shapes == batch.front().shapes && items + one->items <= most_items);
    if (!fits) {
      ++one;
      continue;
    }
    items += one->items;
    batch.push_back(std::move(*one));
    one = waiting_.erase(one);
    if (items >= most_items) break;
  }
  const bool more = !waiting_.empty();
  lock.unlock();
  if (more) changed_.notify_one();
  return batch;
}

void RequestQueue::close(Rest rest) {
  std::deque<Pending> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (rest == Rest::dropped) dropped.swap(waiting_);
  }
  changed_.notify_all();
  for (Pending& one : dropped) one.done(Refusal{Refusal::Why::busy, "the server stops"});
}

bool RequestQueue::is_idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !closed_ && limits_.most_delay.count() == 0;
}

std::size_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void RequestQueue::drop_late(std::unique_lock<std::mutex>& lock) {
  const Clock::time_point now = Clock::now();
  const auto first = std::stable_partition(
      waiting_.begin(), waiting_.end(),
      [&](const Pending& one) { return !one.deadline || *one.deadline > now; });
  if (first == waiting_.end()) return;
  std::vector<Pending> late(std::make_move_iterator(first),
                            std::make_move_iterator(waiting_.end()));
  waiting_.erase(first, waiting_.end());
  lock.unlock();
  for (Pending& one : late) {
    one.done(Refusal{Refusal::Why::late, "the request's time was over before it was computed"});
  }
  lock.lock();
}

std::int64_t RequestQueue::items_at_hand() const {
  std::int64_t items = 0;
  for (const Pending& one : waiting_) {
    if (one.shapes == waiting_.front().shapes) items += one.items;
  }
  return items;
}

}  // namespace morton::serve
