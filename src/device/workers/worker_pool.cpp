// SPDX-License-Identifier: Apache-2.0
#include "device/workers/worker_pool.hpp"

#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

namespace morton::device {
namespace {

using Clock = std::chrono::steady_clock;

/// The environment as text: a driver's compiler obeys it, and a worker has that of its start.
std::string environment_text() {
  std::string text;
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    text += *variable;
    text += '\n';
  }
  return text;
}

/// Workers without a job.
class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() {
    forget_those_of_the_parent();
    for (Idle& one : idle_) one.worker->finish();
  }

  std::unique_ptr<WorkerProcess> take(const std::string& helper) {
    const std::string environment = environment_text();
    const std::lock_guard guard(mutex_);
    forget_those_of_the_parent();
    end_old_ones();
    for (auto one = idle_.begin(); one != idle_.end(); ++one) {
      if (one->helper != helper || one->environment != environment) continue;
      std::unique_ptr<WorkerProcess> worker = std::move(one->worker);
      idle_.erase(one);
      return worker;
    }
    return std::make_unique<WorkerProcess>(std::vector<std::string>{helper});
  }

  void keep(const std::string& helper, std::unique_ptr<WorkerProcess> worker) {
    if (!worker->is_running()) return;
    const std::lock_guard guard(mutex_);
    forget_those_of_the_parent();
    end_old_ones();
    idle_.push_back({helper, environment_text(), std::move(worker), Clock::now()});
  }

 private:
  struct Idle {
    std::string helper, environment;
    std::unique_ptr<WorkerProcess> worker;
    Clock::time_point since;
  };

  /// Those that end by themselves soon, or have done so.
  void end_old_ones() {
    const Clock::time_point oldest = Clock::now() - kWorkerWaits * 4 / 5;
    std::erase_if(idle_, [&](Idle& one) {
      if (one.since > oldest) return false;
      one.worker->finish();
      return true;
    });
  }

  /// Behind a fork they are another process's, which goes on asking them.
  void forget_those_of_the_parent() {
    if (owner_ == ::getpid()) return;
    for (Idle& one : idle_) static_cast<void>(one.worker.release());
    idle_.clear();
    owner_ = ::getpid();
  }

  std::mutex mutex_;
  std::vector<Idle> idle_;
  pid_t owner_ = ::getpid();
};

WorkerPool& pool() {
  static WorkerPool pool;
  return pool;
}

}  // namespace

std::unique_ptr<WorkerProcess> take_worker(const std::string& helper) {
  return pool().take(helper);
}

void keep_worker(const std::string& helper, std::unique_ptr<WorkerProcess> worker) {
  pool().keep(helper, std::move(worker));
}

}  // namespace morton::device
