// SPDX-License-Identifier: Apache-2.0
#include "device/workers/job_queue.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/files/folder.hpp"
#include "base/files/trusted.hpp"
#include "base/processes/worker_process.hpp"
#include "device/workers/helper_file.hpp"
#include "device/workers/worker_pool.hpp"

namespace morton::device {
namespace {

namespace fs = std::filesystem;

/// No compiler takes as long as this for one kernel.
constexpr double kLongestJobMs = 600e3;
constexpr std::size_t kMostWorkers = 16;

/// A lock between processes on one file to be, by a file beside it; its end frees it.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : path_(path + ".lock") {
    file_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() {
    if (file_ < 0) return;
    if (is_held_) ::unlink(path_.c_str());
    ::close(file_);
  }
  /// Takes the lock unless another has it. Without a file there is nobody to wait for.
  [[nodiscard]] bool take() {
    return is_held_ = file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  }
  /// Waits for it.
  void wait() { is_held_ = file_ < 0 || ::flock(file_, LOCK_EX) == 0; }

 private:
  std::string path_;
  int file_ = -1;
  bool is_held_ = false;
};

/// Removes the files of locks that nobody holds: a kill leaves them. Who opens one meanwhile locks
/// a file without a name, and at worst builds what another builds too.
void remove_stale_locks(const fs::path& folder) {
  std::error_code status;
  for (const fs::path& path : entries_of(folder, status)) {
    if (!path.string().ends_with(".bin.lock")) continue;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    ::close(file);
  }
}

/// Jobs that several threads take, each with a process.
class JobQueue {
 public:
  JobQueue(const std::string& helper, const std::vector<KernelJob>& jobs,
           const std::function<void()>& one_done, const std::stop_token& stop)
      : helper_(helper), jobs_(jobs), one_done_(one_done), stop_(stop), outcomes_(jobs.size()) {
    for (JobOutcome& outcome : outcomes_) outcome = {JobOutcome::End::failed, "stopped", 0};
    for (std::size_t i = 0; i < jobs.size(); ++i) waiting_.push_back({i, Turn::first});
    std::ranges::stable_sort(waiting_, std::greater<>(),
                             [&](const Waiting& one) { return jobs_[one.job].source.size(); });
  }

  std::vector<JobOutcome> carry_out() {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min({jobs_.size(), processors, kMostWorkers}); ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (std::thread& thread : threads) thread.join();
    return std::move(outcomes_);
  }

 private:
  enum class Turn : std::uint8_t { first, again };
  struct Waiting {
    std::size_t job;
    Turn turn;  ///< again: another process had it, which is now waited for
  };

  void work() {
    std::unique_ptr<WorkerProcess> process = take_worker(helper_);
    while (const auto next = take()) {
      FileLock lock(jobs_[next->job].path);
      if (next->turn == Turn::again) {
        lock.wait();
      } else if (!lock.take()) {
        const std::lock_guard guard(mutex_);
        waiting_.push_back({next->job, Turn::again});
        continue;
      }
      JobOutcome outcome = outcome_of(jobs_[next->job], *process);
      const std::lock_guard guard(mutex_);
      if (outcome.end == JobOutcome::End::unkept) waiting_.clear();  // the others would be in vain
      outcomes_[next->job] = std::move(outcome);
      if (one_done_) one_done_();
    }
    keep_worker(helper_, std::move(process));
  }

  std::optional<Waiting> take() {
    const std::lock_guard guard(mutex_);
    if (waiting_.empty() || stop_.stop_requested()) return std::nullopt;
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    return next;
  }

  static JobOutcome outcome_of(const KernelJob& job, WorkerProcess& process) {
    std::error_code status;
    if (fs::exists(job.path, status)) return {JobOutcome::End::built_by_others, "", 0};
    try {
      const WorkerProcess::Answer answer = process.ask(to_json(job), kLongestJobMs);
      if (answer.kind != WorkerProcess::Answer::Kind::line) {
        return {JobOutcome::End::failed, "its worker process " + answer.how, 0};
      }
      const JsonReader reader(answer.json, "answer");
      if (reader.has("problem")) {
        return {JobOutcome::End::failed, reader.at("problem").text(), 0};
      }
      if (reader.has("unkept")) {
        return {JobOutcome::End::unkept, reader.at("unkept").text(), 0};
      }
      return {JobOutcome::End::built, "", static_cast<int>(reader.at("compiled").integer())};
    } catch (const Error& error) {
      return {JobOutcome::End::failed, error.what(), 0};
    }
  }

  const std::string& helper_;
  const std::vector<KernelJob>& jobs_;
  const std::function<void()>& one_done_;
  const std::stop_token& stop_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::vector<JobOutcome> outcomes_;
};

}  // namespace

std::string compile_helper() {
  const std::string program = helper_file("morton-compile");
  return ::access(program.c_str(), X_OK) == 0 ? program : "";
}

std::string helper_file(const std::string& name) {
  std::vector<fs::path> places;
  Dl_info about{};
  std::error_code status;
  if (::dladdr(reinterpret_cast<void*>(&helper_file), &about) != 0 && about.dli_fname != nullptr) {
    places.push_back(fs::absolute(about.dli_fname, status).parent_path());
  }
  places.push_back(fs::read_symlink("/proc/self/exe", status).parent_path());
  for (const fs::path& place : places) {
    // bin/ and lib/ lie beside libexec/, lib/<architecture>/ below it, a build's program above it.
    for (const char* way : {"../libexec", "../../libexec", "libexec"}) {
      const fs::path file = place / way / "morton" / name;
      if (::access(file.c_str(), R_OK) == 0) return fs::weakly_canonical(file, status).string();
    }
  }
  return "";
}

std::vector<JobOutcome> carry_out_jobs(const std::string& helper,
                                       const std::vector<KernelJob>& jobs,
                                       const std::function<void()>& one_done,
                                       const std::stop_token& stop) {
  if (jobs.empty()) return {};
  const fs::path folder = fs::path(jobs.front().path).parent_path();
  if (const std::string why = why_not_kept_in(folder); !why.empty()) throw UsageError(why);
  remove_stale_locks(folder);
  return JobQueue(helper, jobs, one_done, stop).carry_out();
}

}  // namespace morton::device
