// SPDX-License-Identifier: Apache-2.0
#include "run/profile_measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/inputs.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// Samples of one step, in microseconds.
struct StepSamples {
  std::vector<double> host, enqueue, device;
  std::vector<std::pair<std::string, std::vector<double>>> calls;  ///< by routine, in their order
};

/// A run whose clock made no sense has none, and adds none.
void add_calls(const std::vector<CallTime>& calls, StepSamples& samples) {
  if (calls.empty()) return;
  samples.calls.resize(calls.size());
  for (std::size_t c = 0; c < calls.size(); ++c) {
    samples.calls[c].first = calls[c].routine;
    samples.calls[c].second.push_back(calls[c].device_us);
  }
}

/// Samples of whole runs, in milliseconds.
struct RunSamples {
  std::vector<double> plain, end_to_end, enqueue, on_host, steps, gap, between;
};

/// From the first step's start to the last one's end on the device's clock.
double span_ms(const std::vector<StepTime>& times) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const StepTime& time : times) {
    if (!time.device_span) continue;
    start = std::min(start, time.device_span->start_ns);
    end = std::max(end, time.device_span->end_ns);
  }
  return static_cast<double>(end - start) / 1e6;
}

/// The three kinds of runs, which take turns.
class Turns {
 public:
  Turns(const CompiledModel& model, const std::vector<NamedTensor>& inputs)
      : plain_(model),
        measured_(model, {SessionOptions::Profiling::on}),
        steps_(model.steps().size()) {
    for (const NamedTensor& input : inputs) {
      plain_.set_input(input.name, input.tensor);
      measured_.set_input(input.name, input.tensor);
    }
  }

  void warm_up(double milliseconds) {
    const Stopwatch watch;
    do {
      plain_.empty_full_states();
      plain_.enqueue().wait();
      measured_.empty_full_states();
      measured_.enqueue().wait();
    } while (watch.milliseconds() < milliseconds);
  }

  void take() {
    plain_.empty_full_states();
    const Stopwatch plain;
    plain_.enqueue().wait();
    runs_.plain.push_back(plain.milliseconds());
    take_measured();
    measured_.empty_full_states();
    measured_.run_step_by_step();
    const std::vector<StepTime> times = measured_.step_times();
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      steps_[s].host.push_back(times[s].host_us.value());
    }
  }

  [[nodiscard]] Profile result(const std::vector<StepInfo>& infos) const {
    Profile profile;
    profile.runs = static_cast<std::int64_t>(runs_.plain.size());
    profile.plain_ms = median_of(runs_.plain);
    profile.end_to_end_ms = median_of(runs_.end_to_end);
    profile.enqueue_ms = median_of(runs_.enqueue);
    const auto on_host = [](const StepInfo& info) { return info.place == StepInfo::Place::host; };
    if (std::ranges::any_of(infos, on_host)) profile.on_host_ms = median_of(runs_.on_host);
    if (runs_.steps.size() == runs_.plain.size()) {
      profile.steps_ms = median_of(runs_.steps);
      profile.gap_ms = median_of(runs_.gap);
      profile.between_ms = median_of(runs_.between);
    }
    for (std::size_t s = 0; s < infos.size(); ++s) {
      ProfiledStep step;
      step.info = infos[s];
      step.host_us = median_of(steps_[s].host);
      step.enqueue_us = median_of(steps_[s].enqueue);
      if (steps_[s].device.size() == runs_.plain.size()) {
        step.device_us = median_of(steps_[s].device);
        for (const auto& [routine, samples] : steps_[s].calls) {
          step.calls.push_back({routine, median_of(samples)});
        }
      }
      profile.steps.push_back(std::move(step));
    }
    profile.fastest_run = fastest_run_;
    profile.fastest_run_us = fastest_run_us_;
    return profile;
  }

 private:
  void take_measured() {
    measured_.empty_full_states();
    const Stopwatch whole;
    const Event done = measured_.enqueue();
    const double enqueue_ms = whole.milliseconds();
    done.wait();
    const double whole_ms = whole.milliseconds();
    const std::vector<StepTime> times = measured_.step_times();
    runs_.end_to_end.push_back(whole_ms);
    runs_.enqueue.push_back(enqueue_ms);
    if (const auto sum = device_ms(times)) {
      runs_.steps.push_back(*sum);
      runs_.gap.push_back(whole_ms - *sum);
      runs_.between.push_back(span_ms(times) - *sum);
    }
    double on_host_us = 0.0;
    for (const StepTime& time : times) {
      if (time.place == StepInfo::Place::host) on_host_us += time.enqueue_us;
    }
    runs_.on_host.push_back(on_host_us / 1e3);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      steps_[s].enqueue.push_back(times[s].enqueue_us);
      if (!times[s].device_us) continue;
      steps_[s].device.push_back(*times[s].device_us);
      add_calls(times[s].calls, steps_[s]);
    }
    if (fastest_run_.empty() || 1e3 * whole_ms < fastest_run_us_) {
      fastest_run_ = times;
      fastest_run_us_ = 1e3 * whole_ms;
    }
  }

  Session plain_, measured_;
  RunSamples runs_;
  std::vector<StepSamples> steps_;
  std::vector<StepTime> fastest_run_;
  double fastest_run_us_ = 0.0;
};

}  // namespace

Profile measure_profile(const CompiledModel& model, const RooflinePeaks& peaks,
                        const MeasureOptions& options) {
  // Few runs say nothing of the spread, so slow models get more time than was asked for.
  constexpr std::int64_t kLeastRuns = 5;
  const double duration_ms = parse_duration_ms(options.duration);
  const double warmup_ms = parse_duration_ms(options.warmup);
  Turns turns(model, random_inputs(model.inputs(), options.seed));
  turns.warm_up(warmup_ms);
  {
    Progress progress("measuring");
    const Stopwatch watch;
    for (std::int64_t run = 0;; ++run) {
      const std::int64_t goal = options.iterations > 0 ? options.iterations : kLeastRuns;
      const double runs_done = static_cast<double>(run) / static_cast<double>(goal);
      const double time_done = options.iterations > 0 ? 1.0 : watch.milliseconds() / duration_ms;
      if (runs_done >= 1.0 && time_done >= 1.0) break;
      progress.update(std::min(runs_done, time_done));
      turns.take();
    }
  }
  Profile profile = turns.result(model.steps());
  for (ProfiledStep& step : profile.steps) rate(step, peaks);
  return profile;
}

}  // namespace morton::cli
