// SPDX-License-Identifier: Apache-2.0
#include "api/compile/successor.hpp"

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <utility>

#include "base/error.hpp"

namespace morton::api {
namespace {

/// Of 19, the lowest.
constexpr int kLowPriority = 15;

/// This thread, and the processes that it starts, give way to others. Where that is refused they
/// compete.
void lower_priority() {
#if defined(__linux__)
  static_cast<void>(
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLowPriority));
#endif
}

}  // namespace

Successor::Successor(Make make, Then then)
    : thread_([this, make = std::move(make), then = std::move(then)](const std::stop_token& stop) {
        work(make, then, stop);
      }) {}

Successor::~Successor() = default;

void Successor::work(const Make& make, const Then& then, const std::stop_token& stop) {
  lower_priority();
  std::shared_ptr<const CompiledState> made;
  std::exception_ptr problem;
  try {
    made = make(stop);
  } catch (...) {
    problem = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    made_ = std::move(made);
    problem_ = problem;
    changed_.notify_all();
  }
  if (stop.stop_requested()) return;
  try {
    then(stop);
  } catch (const std::exception&) {
    // Later starts build what is missing, and say what is wrong.
  }
}

std::shared_ptr<const CompiledState> Successor::ready() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

Message Successor::take_problem() const {
  const std::lock_guard lock(mutex_);
  if (problem_ == nullptr || is_told_) return {};
  is_told_ = true;
  try {
    std::rethrow_exception(problem_);
  } catch (const Error& error) {
    return error.message();
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::shared_ptr<const CompiledState> Successor::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return made_ != nullptr || problem_ != nullptr; });
  if (problem_ != nullptr) std::rethrow_exception(problem_);
  return made_;
}

}  // namespace morton::api
