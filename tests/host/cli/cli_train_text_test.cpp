// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/rooms.hpp"
#include "train/train_text.hpp"

namespace morton::cli {
namespace {

TEST(CliTrainText, LossesKeepFourDigits) {
  EXPECT_EQ(loss_text(0.04539), "0.0454");
  EXPECT_EQ(loss_text(99999.0), "99999.0000");
  EXPECT_EQ(loss_text(0.001), "0.0010");
  EXPECT_EQ(loss_text(0.00099951), "9.995e-04");
  EXPECT_EQ(loss_text(4.5391e-9), "4.539e-09");
  EXPECT_EQ(loss_text(1e5), "1.000e+05");
  EXPECT_EQ(loss_text(4.6270197e31), "4.627e+31");
  EXPECT_EQ(loss_text(-2e-7), "-2.000e-07");
  EXPECT_EQ(loss_text(0.0), "0.0000");
  EXPECT_EQ(loss_text(std::nan("")), "nan");
  EXPECT_EQ(loss_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(CliTrainText, DurationsHaveTwoUnits) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(3599.0), "59 min 59 s");
  EXPECT_EQ(duration_text(3780.0), "1 h 03 min");
}

TEST(CliTrainText, LinesOfATraining) {
  TrainingProgress progress;
  progress.step = 83;
  progress.steps = 240;
  progress.epoch = 2;
  progress.epochs = 3;
  progress.batch = 3;
  progress.batches = 80;
  progress.loss = 0.29318;
  progress.images_per_second = 4991.4;
  progress.seconds_left = 65.0;
  EXPECT_EQ(moving_line(progress),
            "epoch 2/3  batch 3/80  loss 0.2932  4991 images/s  1 min 05 s left");
  EXPECT_EQ(lasting_line(progress), "epoch 2/3  step 83  loss 0.2932  4991 images/s");
  progress.accuracy = 0.91808;
  EXPECT_EQ(moving_line(progress),
            "epoch 2/3  batch 3/80  loss 0.2932 (91.81 %)  4991 images/s  1 min 05 s left");
  progress.validation_loss = 1.25e-5;
  progress.validation_accuracy = 1.0;
  EXPECT_EQ(lasting_line(progress),
            "epoch 2/3  step 83  loss 0.2932 (91.81 %)  validation 1.250e-05 (100.00 %)  "
            "4991 images/s");
}

}  // namespace
}  // namespace morton::cli
