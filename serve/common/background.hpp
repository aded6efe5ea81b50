// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace morton::serve {

/// A thread that carries out tasks one after another. Threads may share it.
class Background {
 public:
  Background() : thread_([this] { work(); }) {}
  /// Carries out what waits.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Has a task carried out, which throws nothing.
  void post(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace morton::serve
