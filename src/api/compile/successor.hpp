// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/rooms.hpp"
#include "morton/message.hpp"

namespace morton::api {

struct CompiledState;

/// The plan that takes an interim plan's place: a thread of low priority makes it. Whoever holds
/// the interim plan holds it, and a session that went over. When nobody does any more, the work
/// ends: the destructor waits for the kernels that are being built, and what was built is kept.
/// Thread-safe.
class Successor {
 public:
  using Make = std::function<std::shared_ptr<const CompiledState>(std::stop_token)>;
  /// What is done behind it, when the plan is ready; its errors are nobody's.
  using Then = std::function<void(std::stop_token)>;
  Successor(Make make, Then then);
  Successor(const Successor&) = delete;
  Successor& operator=(const Successor&) = delete;
  ~Successor();

  /// What was made; null as long as nothing is, and where it could not be.
  [[nodiscard]] std::shared_ptr<const CompiledState> ready() const;
  /// Why nothing was made, the first time that this is asked once it is known; else empty.
  [[nodiscard]] Message take_problem() const;
  /// Waits for it. Throws what making it threw.
  [[nodiscard]] std::shared_ptr<const CompiledState> wait() const;

 private:
  void work(const Make& make, const Then& then, const std::stop_token& stop);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const CompiledState> made_;
  std::exception_ptr problem_;
  mutable bool is_told_ = false;
  std::jthread thread_;  ///< the last member: it begins when the others are there
};

}  // namespace morton::api
