// SPDX-License-Identifier: Apache-2.0
//
// fault_trials: fails calls of OpenCL, and allocations, one by one in what programs do with Morton.
// Each must end in one clear error or in the right answer; the same must then work again in the
// same process, and nothing may be left behind.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "faults/lost_device.hpp"
#include "faults/trial.hpp"

namespace morton::faults {
namespace {

/// No trial takes as long.
constexpr unsigned kLongestTrialS = 60;
constexpr const char* kLost = "lost";
constexpr const char* kUsage =
    "usage: fault_trials [--sample] [--seed N] [--some N] [--allocations STRIDE] "
    "[--no-calls] [--verbose] FOLDER [SCENARIO...]\n"
    "  --sample       one call of each function with one error, ten allocations\n"
    "  --seed N       of random calls (1)\n"
    "  --some N       random calls of each function beside the first and the last (2)\n"
    "  --allocations  every so many fail; 0: none (1)\n"
    "  --no-calls     no call of OpenCL fails\n"
    "  --verbose      prints each trial\n";

struct Options {
  Choice choice;
  bool verbose = false;
  std::string folder;
  std::vector<std::string> scenarios;
};

/// What a trial process tells the one that watches it, also when it dies.
struct Progress {
  std::size_t next = 0, all = 0;  ///< trials
  std::array<long, 5> counts{};   ///< by Verdict::Kind
  char now[512] = "";             ///< the trial that runs
  bool ended = false;
};

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto number = [&] {
      if (++i >= count) throw std::invalid_argument(std::string(word) + " needs a number");
      return std::stol(words[i]);
    };
    if (word == "--sample") {
      options.choice.sample = true;
    } else if (word == "--verbose") {
      options.verbose = true;
    } else if (word == "--no-calls") {
      options.choice.calls = false;
    } else if (word == "--seed") {
      options.choice.seed = static_cast<unsigned>(number());
    } else if (word == "--some") {
      options.choice.some = static_cast<int>(number());
    } else if (word == "--allocations") {
      options.choice.allocation_stride = number();
    } else if (word.starts_with("--")) {
      throw std::invalid_argument("unknown option " + std::string(word));
    } else if (options.folder.empty()) {
      options.folder = word;
    } else {
      options.scenarios.emplace_back(word);
    }
  }
  if (options.folder.empty()) throw std::invalid_argument("FOLDER is missing");
  if (options.scenarios.empty()) {
    options.scenarios = scenario_names();
    options.scenarios.emplace_back(kLost);
  }
  return options;
}

/// The trials from `progress.next` on, in a process of their own.
void run_trials(const std::string& name, const Options& options, Progress& progress) {
  const auto scenario = make_scenario(name, options.folder + "/" + name);
  const auto say_now = [&](const std::string& text) {
    std::snprintf(progress.now, sizeof(progress.now), "%s", text.c_str());
  };
  say_now("without a fault");
  const Clean clean = clean_run(*scenario);
  const std::vector<Fault> faults = faults_for(clean, options.choice);
  progress.all = faults.size();
  while (progress.next < faults.size()) {
    const Fault& fault = faults[progress.next++];
    say_now(text_of(fault));
    ::alarm(kLongestTrialS);
    const Verdict verdict = try_fault(*scenario, fault, clean);
    ::alarm(0);
    ++progress.counts[static_cast<std::size_t>(verdict.kind)];
    const bool is_wrong = verdict.kind == Verdict::Kind::wrong;
    if (is_wrong || options.verbose) {
      std::printf("%s %s: %s: %s\n", is_wrong ? "WRONG" : "     ", name.c_str(), progress.now,
                  verdict.why.c_str());
      std::fflush(stdout);
    }
  }
  progress.ended = true;
}

/// Returns how many trials went wrong.
long watch(const std::string& name, const Options& options) {
  void* const shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  Progress& progress = *new (shared) Progress;
  while (!progress.ended) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("no process can be started");
    if (child == 0) {
      int status = 0;
      try {
        run_trials(name, options, progress);
      } catch (const std::exception& error) {
        std::printf("WRONG %s: %s: %s\n", name.c_str(), progress.now, error.what());
        status = 1;
      }
      std::fflush(stdout);
      std::_Exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (progress.ended) break;
    ++progress.counts[static_cast<std::size_t>(Verdict::Kind::wrong)];
    if (WIFSIGNALED(status)) {
      const bool hung = WTERMSIG(status) == SIGALRM;
      std::printf("WRONG %s: %s: %s %s\n", name.c_str(), progress.now,
                  hung ? "did not end:" : "ended the process:", strsignal(WTERMSIG(status)));
    } else if (progress.next == 0) {
      break;  // it cannot begin
    }
  }
  const auto& counts = progress.counts;
  std::printf(
      "%-8s %6zu trials: %ld reported, %ld recovered, %ld by other kernels, %ld not reached, %ld "
      "wrong\n",
      name.c_str(), progress.all, counts[0], counts[1], counts[2], counts[3], counts[4]);
  const long wrong = counts[4];
  ::munmap(shared, sizeof(Progress));
  return wrong;
}

/// The scenario `lost` of two devices, in a process of its own. Returns how many trials went wrong.
long lose(const Options& options) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process can be started");
  if (child == 0) {
    ::setenv("POCL_DEVICES", "pthread basic", 1);
    ::alarm(5 * kLongestTrialS);
    std::vector<std::string> wrong;
    try {
      wrong = lose_devices(options.folder + "/lost",
                           options.choice.sample ? LostParts::without_training : LostParts::all);
    } catch (const std::exception& error) {
      wrong.push_back(error.what());
    }
    for (const std::string& line : wrong) std::printf("WRONG lost: %s\n", line.c_str());
    std::fflush(stdout);
    // Its end is a trial too: destructors and the driver's own.
    std::exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    std::printf("WRONG lost: the process was ended: %s\n", strsignal(WTERMSIG(status)));
  if (status == 0) std::printf("lost     devices that hang and vanish: as told\n");
  return status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace morton::faults

int main(int count, char** words) {
  using namespace morton::faults;
  Options options;
  try {
    options = options_of(count, words);
    ::setenv("OPENCL_LAYERS", MORTON_FAULT_LAYER, 1);
    long wrong = 0;
    if (!options.choice.sample) std::printf("seed %u\n", options.choice.seed);
    for (const std::string& name : options.scenarios) {
      wrong += name == kLost ? lose(options) : watch(name, options);
    }
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fault_trials: %s\n%s", error.what(), kUsage);
    return 2;
  }
}
