// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "host/formats_files.hpp"
#include "support/rooms.hpp"
#include "training/loop/schedule.hpp"

namespace morton::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// 10 epochs of 7 steps.
constexpr TrainingLength kLength{7, 70};

TEST(Schedule, ConstantStaysAndWarmsUp) {
  EXPECT_EQ(Schedule("constant", kLength).factor(69), 1.0);
  const Schedule warm("constant:warmup=4", kLength);
  EXPECT_EQ(warm.factor(0), 0.25);
  EXPECT_EQ(warm.factor(3), 1.0);
  EXPECT_EQ(warm.factor(4), 1.0);
  const Schedule epochs("constant:warmup=2epochs", kLength);
  EXPECT_EQ(epochs.factor(6), 0.5);
  EXPECT_EQ(epochs.factor(13), 1.0);
}

TEST(Schedule, StepFallsEverySoOften) {
  const Schedule epochs("step:every=3,factor=0.5", kLength);
  EXPECT_EQ(epochs.factor(20), 1.0);
  EXPECT_EQ(epochs.factor(21), 0.5);
  EXPECT_EQ(epochs.factor(42), 0.25);
  const Schedule steps("step:every=5steps,factor=0.1,warmup=10", kLength);
  EXPECT_DOUBLE_EQ(steps.factor(4), 0.5);
  EXPECT_DOUBLE_EQ(steps.factor(9), 0.1);
  EXPECT_DOUBLE_EQ(steps.factor(10), 0.01);
}

TEST(Schedule, CosineFallsToItsLeast) {
  const Schedule cosine("cosine:warmup=10,least=0.1", kLength);
  EXPECT_DOUBLE_EQ(cosine.factor(4), 0.5);
  EXPECT_DOUBLE_EQ(cosine.factor(10), 1.0);
  EXPECT_DOUBLE_EQ(cosine.factor(40), 0.55);
  EXPECT_NEAR(cosine.factor(69), 0.1, 1e-3);
  EXPECT_GT(cosine.factor(69), 0.1);
  EXPECT_DOUBLE_EQ(cosine.factor(70), 0.1);
  EXPECT_DOUBLE_EQ(cosine.factor(1000), 0.1);
}

TEST(Schedule, PlateauWaitsAndFalls) {
  Schedule plateau("plateau:patience=2,factor=0.5,least=0.2", kLength);
  const auto after = [&](double loss) {
    plateau.observe(loss);
    return plateau.factor(30);
  };
  EXPECT_EQ(after(1.0), 1.0);
  EXPECT_EQ(after(0.99999), 1.0);  // hardly better
  EXPECT_EQ(after(0.9), 1.0);
  EXPECT_EQ(after(0.95), 1.0);
  EXPECT_EQ(after(std::numeric_limits<double>::quiet_NaN()), 0.5);
  EXPECT_EQ(after(0.95), 0.5);
  Schedule resumed("plateau:patience=2,factor=0.5,least=0.2", kLength);
  resumed.restore(plateau.state());
  EXPECT_EQ(after(0.95), 0.25);
  resumed.observe(0.95);
  EXPECT_EQ(resumed.factor(30), 0.25);
  EXPECT_EQ(resumed.state(), plateau.state());
  EXPECT_EQ(after(0.95), 0.25);
  EXPECT_EQ(after(0.95), 0.2);  // not 0.125
  EXPECT_EQ(after(0.5), 0.2);
}

TEST(Schedule, OnlyAPlateauListens) {
  Schedule cosine("cosine", kLength);
  cosine.observe(1.0);
  cosine.observe(2.0);
  EXPECT_EQ(cosine.state(), ScheduleState{});
}

TEST(Schedule, RefusesOtherTextAndNamesWhatThereIs) {
  const auto error = [](const std::string& text) {
    return message_of<UsageError>([&] { const Schedule schedule(text, kLength); });
  };
  EXPECT_THAT(error("cosinus"),
              AllOf(HasSubstr("there is no 'cosinus'"), HasSubstr("constant, step, cosine or"),
                    HasSubstr("plateau:patience=3,factor=0.5")));
  EXPECT_THAT(error("cosine:every=3"), HasSubstr("cosine has no option 'every'"));
  EXPECT_THAT(error("step:every=0"), HasSubstr("whole number of 1 or more"));
  EXPECT_THAT(error("step:every=3days"), HasSubstr("got '3days'"));
  EXPECT_THAT(error("step:factor=1"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(error("step:factor=nan"), HasSubstr("expected a number"));
  EXPECT_THAT(error("plateau:factor=0"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(error("cosine:warmup=70"), HasSubstr("leaves nothing of 70"));
  for (const char* text : {"", ":", "cosine:", "cosine:warmup", "step:every=3,every=4"}) {
    EXPECT_FALSE(error(text).empty()) << text;
  }
}

}  // namespace
}  // namespace morton::test
