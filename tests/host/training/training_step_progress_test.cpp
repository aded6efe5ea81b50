// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "support/rooms.hpp"
#include "training/loop/step_progress.hpp"

namespace morton::test {
namespace {

using Update = BatchResult::Update;

TEST(StepProgress, RenewsAtTheLastOfTheStepsThatAreAddedUp) {
  TrainerOptions options;
  options.accumulate = 3;
  StepProgress progress(options, false);
  for (int round = 1; round <= 2; ++round) {
    EXPECT_EQ(progress.count(false), Update::awaited);
    EXPECT_EQ(progress.count(false), Update::awaited);
    EXPECT_TRUE(progress.applies());
    EXPECT_EQ(progress.count(false), Update::applied);
    EXPECT_EQ(progress.steps(), 3 * round);
    EXPECT_EQ(progress.updates(), round);
  }
  EXPECT_EQ(progress.loss_scale(), 1.0);
}

TEST(StepProgress, HalvesTheScaleOnOverflowAndDoublesItAfter2000Updates) {
  TrainerOptions options;
  options.loss_scale = 1024.0;
  StepProgress progress(options, true);
  EXPECT_EQ(progress.count(true), Update::overflowed);
  EXPECT_EQ(progress.loss_scale(), 512.0);
  EXPECT_EQ(progress.updates(), 0);
  for (int i = 0; i < 1999; ++i) EXPECT_EQ(progress.count(false), Update::applied);
  EXPECT_EQ(progress.loss_scale(), 512.0);
  (void)progress.count(false);
  EXPECT_EQ(progress.loss_scale(), 1024.0);
  options.loss_scale = 0x1p24;
  StepProgress largest(options, true);
  for (int i = 0; i < 4000; ++i) (void)largest.count(false);
  EXPECT_EQ(largest.loss_scale(), 0x1p24);
}

TEST(StepProgress, AnOverflowWithoutAScaleIsAnError) {
  TrainerOptions options;
  options.loss_scale = 2.0;
  StepProgress progress(options, true);
  EXPECT_EQ(progress.count(true), Update::overflowed);
  EXPECT_THROW(progress.count(true), ModelError);
}

TEST(StepProgress, GoesOnFromWhatItSaved) {
  TrainerOptions options;
  options.accumulate = 2;
  StepProgress progress(options, true);
  for (const bool overflowed : {false, true, false, false, false}) {
    (void)progress.count(overflowed);
  }
  StepProgress other(options, true);
  other.restore(progress.saved());
  EXPECT_EQ(other.steps(), 5);
  EXPECT_EQ(other.updates(), 1);
  EXPECT_EQ(other.loss_scale(), 32768.0);
  EXPECT_TRUE(other.applies());
}

TEST(StepProgress, RefusesWhatItCannotHaveSaved) {
  const TrainerOptions options;
  StepProgress progress(options, false);
  const std::vector<std::vector<std::int64_t>> damaged{
      {1, 2, 0, 0}, {-1, 0, 0, 0}, {5, 5, 3, 0}, {1, 1, 0}};
  for (const std::vector<std::int64_t>& numbers : damaged) {
    const Shape shape{static_cast<std::int64_t>(numbers.size())};
    EXPECT_THROW(progress.restore(Tensor::from(shape, numbers)), UsageError);
  }
  EXPECT_THROW(progress.restore(Tensor::allocate(DType::f32, {4})), UsageError);
}

TEST(StepProgress, RefusesScalesThatAreNoPowersOfTwo) {
  for (const double scale : {0.0, -2.0, 0.5, 3.0, 0x1p25, std::nan(""), HUGE_VAL}) {
    TrainerOptions options;
    options.loss_scale = scale;
    EXPECT_THROW(StepProgress(options, true), UsageError) << scale;
  }
}

}  // namespace
}  // namespace morton::test
