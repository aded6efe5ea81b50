// SPDX-License-Identifier: Apache-2.0
#include "api/compile/measured_speeds.hpp"

#include <algorithm>
#include <utility>

#include "api/compile/carry_out.hpp"
#include "api/compile/planning.hpp"
#include "base/stopwatch.hpp"
#include "run/runner.hpp"

namespace morton::api {
namespace {

/// Runs of each device that are measured, after one that is not; fewer where they take long.
constexpr int kMeasuredRuns = 7;
constexpr double kMeasuringBudgetMs = 2000.0;

double run_ms(Runner& runner) {
  const Stopwatch watch;
  runner.enqueue();
  runner.wait();
  return watch.milliseconds();
}

/// A device's part, loaded and run once on zeros.
std::unique_ptr<Runner> started_runner(const CompiledState& part) {
  auto runner = std::make_unique<Runner>(part.loaded, OpenClDevice::QueueKind::plain);
  for (const PortInfo& input : part.inputs) {
    runner->write(runner->input(input.name), Tensor::allocate(input.dtype, input.shape));
  }
  static_cast<void>(run_ms(*runner));
  return runner;
}

}  // namespace

std::vector<double> measured_speeds(const Job& job, const std::vector<Device>& devices,
                                    std::int64_t rows) {
  Job part = job;
  part.subject = std::make_shared<const ModelAtShapes>(part_of(job, rows));
  part.policy = std::make_shared<const KernelPolicy>(job.policy->for_one_of_several_devices());
  std::vector<std::unique_ptr<Runner>> runners;
  for (const Device& device : devices) {
    runners.push_back(started_runner(*carry_out(part, device)));
  }
  std::vector<std::vector<double>> times_ms(devices.size());
  const Stopwatch watch;
  for (int run = 0; run < kMeasuredRuns; ++run) {
    for (std::size_t d = 0; d < devices.size(); ++d) times_ms[d].push_back(run_ms(*runners[d]));
    if (watch.milliseconds() > kMeasuringBudgetMs) break;
  }
  std::vector<double> speeds;
  for (auto& times : times_ms) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    speeds.push_back(static_cast<double>(rows) / (std::max(*middle, 1e-6) * 1e-3));
  }
  return speeds;
}

}  // namespace morton::api
