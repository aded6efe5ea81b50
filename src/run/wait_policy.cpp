// SPDX-License-Identifier: Apache-2.0
#include "run/wait_policy.hpp"

#include <algorithm>
#include <numeric>

namespace morton::run {
namespace {

// Asking begins where it is faster by more than chance, and ends where it is no longer faster.
constexpr double kWorthAsking = 0.9;
// Who asks longer than that has lost, and sleeps.
constexpr double kAskingOfAsleep = 2.0;

/// The mean of all but the two longest, which the system may have interrupted.
double typical_us(std::vector<double> waits) {
  std::sort(waits.begin(), waits.end());
  waits.resize(waits.size() - 2);
  return std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size());
}

}  // namespace

double WaitPolicy::asking_us() const {
  return now_ == Way::ask ? kAskingOfAsleep * asleep_us_ : 0.0;
}

void WaitPolicy::took(double us) {
  --until_trial_;
  if (uncounted_ > 0) {
    --uncounted_;
    return;
  }
  counted_us_.push_back(us);
  if (static_cast<std::int64_t>(counted_us_.size()) < kCounted) return;
  const double typical = typical_us(counted_us_);
  counted_us_.clear();
  (now_ == Way::ask ? asking_us_ : asleep_us_) = typical;
  now_ == used_ ? used_took() : trial_took();
}

bool WaitPolicy::asking_pays() const {
  const double worth = used_ == Way::ask ? 1.0 : kWorthAsking;
  return asleep_us_ <= kLongestUs && asking_us_ < worth * asleep_us_;
}

void WaitPolicy::used_took() {
  if (used_ == Way::ask && !asking_pays()) return use(Way::sleep);
  if (until_trial_ > 0 || (used_ == Way::sleep && asleep_us_ > kLongestUs)) return;
  now_ = used_ == Way::ask ? Way::sleep : Way::ask;
  uncounted_ = kSettling;
}

void WaitPolicy::trial_took() {
  // Asking has been the best for a whole pause.
  if (used_ == Way::ask && asking_pays()) pause_ = kLeastPause;
  use(asking_pays() ? Way::ask : Way::sleep);
}

void WaitPolicy::use(Way way) {
  if (way == Way::sleep) pause_ = std::min(2 * pause_, kMostPause);
  until_trial_ = way == Way::sleep ? pause_ : kLeastPause;
  used_ = now_ = way;
  uncounted_ = kSettling;
}

}  // namespace morton::run
