// SPDX-License-Identifier: Apache-2.0
#include "bench/contender.hpp"

#include <algorithm>
#include <cmath>

#include "common/statistics.hpp"
#include "common/stopwatch.hpp"

namespace morton::cli {
namespace {

/// Long enough that the final wait does not count.
constexpr double kSampleMs = 20.0;
constexpr int kMostCalls = 100000;
/// Calls that are waited for one by one, at most.
constexpr int kMostWaits = 50;
/// Of a sample's calls, what part runs uncounted before it.
constexpr int kUncountedPart = 4;
/// A call that lasts this long fills the caches and wakes the device within a small part of it.
constexpr double kLongCallMs = 200.0;
/// A device's clock is read after this many runs in a row, once it has woken up.
constexpr int kRunsBeforeDeviceClock = 3;

}  // namespace

Expectation::Comparison Contender::check(const Expectation& expectation) {
  const Stopwatch watch;
  const Tensor dst = compute(expectation.inputs());
  spent_ms_ += watch.milliseconds();
  const auto result = expectation.compare(dst, unit_roundoff());
  error_ = std::max(error_, result.error);
  return result;
}

double Contender::run_ms(int calls, Part part) {
  const Stopwatch watch;
  for (int i = 0; i < calls; ++i) {
    enqueue(next_set_, part);
    next_set_ = (next_set_ + 1) % sets_;
  }
  wait();
  return watch.milliseconds() / calls;
}

double Contender::sample_ms(Part part) {
  int calls = calls_;
  if (!is_long()) (void)run_ms(std::max(1, calls / kUncountedPart), part);
  double ms = run_ms(calls, part);
  while (ms * calls < kSampleMs && calls < kMostCalls) {
    const double wanted = std::ceil(1.2 * kSampleMs / ms);
    calls = static_cast<int>(std::clamp(wanted, calls + 1.0, double{kMostCalls}));
    ms = run_ms(calls, part);
  }
  // The next sample begins with what would have done; a machine that was disturbed recovers.
  const double enough = std::ceil(1.2 * kSampleMs / ms);
  if (part == Part::whole) calls_ = static_cast<int>(std::clamp(enough, 1.0, double{kMostCalls}));
  return ms;
}

bool Contender::is_long() const { return call_ms_ > kLongCallMs; }

double Contender::waited_ms() {
  const int count = std::clamp(calls_ / kUncountedPart, 1, kMostWaits);
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += run_ms(1, Part::whole);
  return sum / count;
}

void Contender::warm_up(double ms) {
  const Stopwatch watch;
  double quickest = run_ms(1, Part::whole);
  while (watch.milliseconds() < ms) quickest = std::min(quickest, run_ms(1, Part::whole));
  calls_ = static_cast<int>(std::clamp(std::ceil(kSampleMs / quickest), 1.0, double{kMostCalls}));
  call_ms_ = quickest;
  spent_ms_ += watch.milliseconds();
}

void Contender::sample() {
  const Stopwatch watch;
  samples_.call.push_back(sample_ms(Part::whole));
  // Of a call that lasts a sample, the wait is a part.
  samples_.waited.push_back(calls_ == 1 ? samples_.call.back() : waited_ms());
  if (has_packing()) samples_.alone.push_back(sample_ms(Part::computing));
  const auto device = device_ms(is_long() ? 1 : kRunsBeforeDeviceClock);
  if (device) samples_.device.push_back(*device);
  last_sample_ms_ = watch.milliseconds();
  spent_ms_ += last_sample_ms_;
}

}  // namespace morton::cli
