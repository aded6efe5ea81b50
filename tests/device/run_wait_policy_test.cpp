// SPDX-License-Identifier: Apache-2.0
//
// When the host asks for the end of a wait and when it sleeps, by waits that are made up.
#include <gtest/gtest.h>

#include "run/wait_policy.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using run::WaitPolicy;

/// How long a wait lasts in each way.
struct World {
  double asleep_us, asking_us;
};

/// Waits `count` times; returns in how many of them the host asked.
int asked(WaitPolicy& policy, const World& world, int count) {
  int asked = 0;
  for (int i = 0; i < count; ++i) {
    const bool asks = policy.asking_us() > 0.0;
    policy.took(asks ? world.asking_us : world.asleep_us);
    asked += asks ? 1 : 0;
  }
  return asked;
}

constexpr World kIdleProcessor{70.0, 30.0};
constexpr World kBusyProcessor{20.0, 100.0};
constexpr World kNoDifference{50.0, 49.0};

/// Enough for a first measurement of both ways.
constexpr int kFirstTrial = 2 * static_cast<int>(WaitPolicy::kSettling + WaitPolicy::kCounted);

TEST(RunWaitPolicy, AsksWhereThatIsFaster) {
  WaitPolicy policy;
  asked(policy, kIdleProcessor, kFirstTrial);
  EXPECT_GT(asked(policy, kIdleProcessor, 1000), 850);
}

TEST(RunWaitPolicy, SleepsWhereThatIsFasterOrNoSlower) {
  for (const World& world : {kBusyProcessor, kNoDifference}) {
    WaitPolicy policy;
    EXPECT_EQ(asked(policy, world, kFirstTrial), kFirstTrial / 2) << world.asleep_us;
    const int trials = asked(policy, world, 20000);
    EXPECT_LT(trials, 200) << world.asleep_us;
    EXPECT_GT(trials, 0) << world.asleep_us << ": what is never tried is never found better";
  }
}

TEST(RunWaitPolicy, ChangesAtOnceFromAskingThatHasBecomeSlow) {
  WaitPolicy policy;
  asked(policy, kIdleProcessor, 1000);
  EXPECT_LE(asked(policy, kBusyProcessor, 300), 2 * (WaitPolicy::kSettling + WaitPolicy::kCounted));
}

TEST(RunWaitPolicy, FindsThatAskingHasBecomeFaster) {
  WaitPolicy policy;
  asked(policy, kBusyProcessor, 20000);
  asked(policy, kIdleProcessor, WaitPolicy::kMostPause + 200);
  EXPECT_GT(asked(policy, kIdleProcessor, 1000), 850);
}

TEST(RunWaitPolicy, SleepsThroughWhatLastsLong) {
  WaitPolicy policy;
  constexpr double kLong = WaitPolicy::kLongestUs + 1.0;
  EXPECT_EQ(asked(policy, {kLong, kLong / 2}, 5000), 0);
}

TEST(RunWaitPolicy, FirstWaitsDecideNothing) {
  WaitPolicy policy;
  for (int i = 0; i < WaitPolicy::kSettling; ++i) policy.took(1e6);
  asked(policy, kIdleProcessor, kFirstTrial);
  EXPECT_GT(asked(policy, kIdleProcessor, 1000), 850);
}

TEST(RunWaitPolicy, InterruptedWaitsDecideNothing) {
  WaitPolicy policy;
  asked(policy, kIdleProcessor, kFirstTrial + WaitPolicy::kSettling);
  for (int i = 0; i < 2; ++i) policy.took(1e5);
  EXPECT_EQ(asked(policy, kIdleProcessor, 100), 100);
}

TEST(RunWaitPolicy, AsksNoLongerThanTwoWaitsAsleepLast) {
  WaitPolicy policy;
  for (int i = 0; i < 1000; ++i) {
    const double us = policy.asking_us();
    EXPECT_LE(us, 2 * kIdleProcessor.asleep_us + 1e-9);
    policy.took(us > 0.0 ? kIdleProcessor.asking_us : kIdleProcessor.asleep_us);
  }
}

}  // namespace
}  // namespace morton::test
