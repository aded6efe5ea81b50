// SPDX-License-Identifier: Apache-2.0
#include "run/program_builds.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>

#include "base/stopwatch.hpp"

namespace morton::run {
namespace {

/// What one thread after the other finds out about a program.
struct MadeProgram {
  std::shared_ptr<CachedProgram> program;
  BuildReport report;
  std::exception_ptr problem;
};

void add(BuildReport& report, BuildReport&& one) {
  report.kernels_from_memory += one.kernels_from_memory;
  report.kernels_from_disk += one.kernels_from_disk;
  report.kernels_built += one.kernels_built;
  std::ranges::move(one.dropped, std::back_inserter(report.dropped));
}

}  // namespace

bool is_built(const Plan& plan, OpenClDevice& device) {
  return std::ranges::all_of(plan.programs, [&](const auto& program) {
    std::string source;
    std::vector<std::string> kernels;
    for (const InstanceId instance : program) {
      source += plan.instances[instance].text;
      kernels.push_back(plan.instances[instance].function);
    }
    return !device.programs().missing(source, kernels);
  });
}

std::vector<std::shared_ptr<CachedProgram>> make_programs(const std::vector<ProgramText>& texts,
                                                          std::size_t most_threads,
                                                          BuildReport& report,
                                                          const std::function<void()>& built_one) {
  const Stopwatch watch;
  std::vector<MadeProgram> made(texts.size());
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t i = next++; i < texts.size(); i = next++) {
      try {
        made[i].program =
            texts[i].programs->get(texts[i].source, texts[i].functions, made[i].report);
        const std::lock_guard lock(telling);
        if (built_one) built_one();
      } catch (...) {
        made[i].problem = std::current_exception();
        next = texts.size();  // the others would be built for nothing
      }
    }
  };
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::min({texts.size(), processors, most_threads});
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < count; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  std::vector<std::shared_ptr<CachedProgram>> programs;
  for (MadeProgram& one : made) {
    if (one.problem) std::rethrow_exception(one.problem);
    add(report, std::move(one.report));
    programs.push_back(std::move(one.program));
  }
  report.build_ms += watch.milliseconds();
  return programs;
}

}  // namespace morton::run
