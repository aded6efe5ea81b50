// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "morton/tools/build.hpp"
#include "morton/tools/kernel_check.hpp"
#include "morton/tools/peak.hpp"
#include "morton/tools/tune.hpp"
#include "tools/tuning/tune_subject.hpp"
#include "tools/tuning/worker_client.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr int kMostRuns = 20000;
/// A candidate that takes so many times longer is not worth more than one run.
constexpr double kHopeless = 4.0;

/// What keeps a candidate from being measured, whatever it is.
struct NoFaultOfIt : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Measures what it is asked to, on one device.
class Worker {
 public:
  explicit Worker(const WorkerSetting& setting) : setting_(setting), device_(open(setting)) {
    options_.catalogue_files = setting.catalogue_files;
  }

  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] const std::vector<std::string>& catalogue_files() const {
    return setting_.catalogue_files;
  }

  TrialOutcome measure(const TrialRequest& request) {
    build_best(request);
    TuneSubject& candidate = subject(request.kernel, request.tunables);
    TuneSubject* against = request.against ? &subject(request.kernel, *request.against) : nullptr;
    TrialOutcome outcome;
    const double once_ms = best_of_two(candidate);
    const double against_once_ms = against != nullptr ? best_of_two(*against) : once_ms;
    const bool final = request.peak == TrialRequest::Peak::sampled;
    if (!final && once_ms > kHopeless * against_once_ms) {
      outcome.ms = {once_ms};
      outcome.against_ms = {against_once_ms};
      return outcome;
    }
    const int count = runs_for(candidate, request.sample_ms, once_ms);
    const int against_count =
        against != nullptr ? runs_for(*against, request.sample_ms, against_once_ms) : 0;
    for (int sample = 0; sample < request.samples; ++sample) {
      if (final) outcome.peak_gflops.push_back(peak().sample_gflops());
      if (against != nullptr) outcome.against_ms.push_back(sample_ms(*against, against_count));
      outcome.ms.push_back(sample_ms(candidate, count));
    }
    return outcome;
  }

 private:
  using Key = std::pair<std::string, Environment>;

  /// Programs of candidates are not worth keeping on disk.
  static Device open(const WorkerSetting& setting) {
    DeviceConfig config;
    config.disk_cache = DeviceConfig::DiskCache::none;
    return Device::open(setting.device, config);
  }

  /// What a candidate needs to be judged; what goes wrong here is not the candidate's fault.
  void build_best(const TrialRequest& request) {
    try {
      prepare(request.problem);
      keep_only(request);
      if (request.against) static_cast<void>(subject(request.kernel, *request.against));
    } catch (const std::exception& error) {
      throw NoFaultOfIt(std::string("what it is compared with failed: ") + error.what());
    }
  }

  void prepare(const TunedProblem& problem) {
    if (problem_ && problem == key_) return;
    subjects_.clear();
    problem_ = std::make_unique<SubjectProblem>(problem, setting_.seed);
    key_ = problem;
  }

  /// Of what was built before, only the best so far is needed again.
  void keep_only(const TrialRequest& request) {
    std::erase_if(subjects_, [&](const auto& item) {
      const Key& key = item.first;
      const bool asked =
          key.second == request.tunables || (request.against && key.second == *request.against);
      return key.first != request.kernel || !asked;
    });
  }

  TuneSubject& subject(const std::string& kernel, const Environment& tunables) {
    auto& slot = subjects_[{kernel, tunables}];
    if (!slot) {
      slot = std::make_unique<TuneSubject>(*problem_, kernel, tunables, device_, options_);
    }
    return *slot;
  }

  PeakProbe& peak() {
    if (!peak_) peak_ = std::make_unique<PeakProbe>(device_);
    return *peak_;
  }

  static double best_of_two(TuneSubject& subject) {
    const double first = subject.run_ms(1);
    return std::min(first, subject.run_ms(1));
  }

  /// How many runs take `goal_ms`; a run in a row is shorter than one that is waited for.
  static int runs_for(TuneSubject& subject, double goal_ms, double once_ms) {
    const auto runs = [&](double ms) {
      return static_cast<int>(std::clamp(std::ceil(goal_ms / ms), 1.0, double{kMostRuns}));
    };
    const int few = std::max(1, runs(once_ms) / 4);
    return runs(subject.run_ms(few));
  }

  static double sample_ms(TuneSubject& subject, int count) {
    if (count > 1) static_cast<void>(subject.run_ms(1));  // others have had the caches since
    return subject.run_ms(count);
  }

  WorkerSetting setting_;
  Device device_;
  CompileOptions options_;
  TunedProblem key_;
  std::unique_ptr<SubjectProblem> problem_;
  std::map<Key, std::unique_ptr<TuneSubject>> subjects_;
  std::unique_ptr<PeakProbe> peak_;
};

Json answer_to(const TrialRequest& request, Worker& worker) {
  TrialOutcome outcome;
  outcome.kind = TrialOutcome::Kind::refused;
  bool leaves = false;
  try {
    outcome = worker.measure(request);
  } catch (const TuneSubject::WrongResult& error) {
    outcome.why = error.what();
  } catch (const NoFaultOfIt& error) {
    outcome.kind = TrialOutcome::Kind::impossible;
    outcome.why = error.what();
    leaves = true;
  } catch (const OutOfMemory& error) {
    // The problem is too large here, and the kernel may be right.
    outcome.kind = TrialOutcome::Kind::impossible;
    outcome.why = error.what();
    leaves = true;
  } catch (const DeviceError& error) {
    outcome.why = error.what();
    leaves = true;
  } catch (const Error& error) {
    outcome.kind = TrialOutcome::Kind::impossible;
    outcome.why = error.what();
  } catch (const std::bad_alloc&) {
    outcome.kind = TrialOutcome::Kind::impossible;
    outcome.why = "the host has too little memory for the problem";
    leaves = true;
  }
  Json answer = {{"outcome", to_json(outcome)}};
  if (leaves) answer["leaves"] = true;
  return answer;
}

/// Builds a kernel and says what its compiler printed.
Json build_answer(const JsonReader& reader, const Device& device) {
  reader.allow_keys({"kernel", "function", "text"});
  KernelText kernel;
  kernel.kernel = reader.at("kernel").text();
  kernel.function = reader.at("function").text();
  kernel.text = reader.at("text").text();
  const KernelBuild build = build_kernel(kernel, device);
  return {{"built", build.is_built},
          {"problem", build.problem},
          {"said", build.said},
          {"milliseconds", build.milliseconds}};
}

Json check_answer(const std::string& kernel, const Worker& worker) {
  const KernelCheck check = check_kernel(kernel, worker.device(), worker.catalogue_files());
  Json answer = {{"checked", to_json(check)}};
  if (check.outcome == KernelCheck::Outcome::wrong) answer["leaves"] = true;
  return answer;
}

void write_line(std::FILE* file, const Json& json) {
  std::fputs((json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), file);
  std::fflush(file);
}

/// The next line without its end; false at the end of the input.
bool read_line(std::string& line) {
  line.clear();
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c == '\n') return true;
    line.push_back(static_cast<char>(c));
  }
  return false;
}

}  // namespace

int run_tune_worker() {
  // It has no use without the process that asks, should that be killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // What drivers print must not come between the answers.
  std::FILE* answers = ::fdopen(::dup(STDOUT_FILENO), "w");
  if (answers == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw DeviceError("tune: the worker process has no output to answer on");
  }
  std::unique_ptr<Worker> worker;
  for (std::string line; read_line(line);) {
    const Json request = parse_json(line, "request to the worker process");
    const JsonReader reader(request, "request to the worker process");
    if (reader.has("open")) {
      try {
        worker = std::make_unique<Worker>(worker_setting_from(reader.at("open")));
        write_line(answers, {{"device", Json::parse(worker->device().json())}});
      } catch (const Error& error) {
        write_line(answers, {{"error", error.what()}});
      }
      continue;
    }
    if (!worker) throw UsageError("tune: the worker process was not told its device");
    if (reader.has("build")) {
      write_line(answers, build_answer(reader.at("build"), worker->device()));
      continue;
    }
    if (reader.has("check")) {
      write_line(answers, check_answer(reader.at("check").text(), *worker));
      continue;
    }
    write_line(answers, answer_to(trial_request_from(reader.at("measure")), *worker));
  }
  return 0;
}

}  // namespace morton
