// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "common/statistics.hpp"
#include "support/rooms.hpp"

namespace morton::cli {
namespace {

TEST(CliStatistics, OneSampleIsEveryPercentile) {
  const Statistics one = statistics_of({3.5});
  EXPECT_EQ(one.n, 1U);
  for (const double value : {one.mean, one.min, one.p25, one.p50, one.p75, one.p99, one.max}) {
    EXPECT_EQ(value, 3.5);
  }
  EXPECT_EQ(one.stddev, 0.0);
  EXPECT_EQ(one.iqr(), 0.0);
  EXPECT_FALSE(one.standard_error().has_value());
  EXPECT_DOUBLE_EQ(statistics_of({1.0, 3.0}).standard_error().value(), 1.0);
}

TEST(CliStatistics, PercentilesLieBetweenNeighbours) {
  const Statistics four = statistics_of({40.0, 10.0, 30.0, 20.0});
  EXPECT_EQ(four.min, 10.0);
  EXPECT_DOUBLE_EQ(four.p25, 17.5);
  EXPECT_DOUBLE_EQ(four.p50, 25.0);
  EXPECT_DOUBLE_EQ(four.p75, 32.5);
  EXPECT_DOUBLE_EQ(four.iqr(), 15.0);
  EXPECT_EQ(four.max, 40.0);
  EXPECT_DOUBLE_EQ(four.mean, 25.0);
  EXPECT_DOUBLE_EQ(four.stddev * four.stddev, 500.0 / 3.0);
}

TEST(CliStatistics, ADisturbedSampleMovesNeitherMedianNorSpread) {
  std::vector<double> samples(15, 2.0);
  samples[7] = 1e6;
  const Statistics statistics = statistics_of(samples);
  EXPECT_EQ(statistics.p50, 2.0);
  EXPECT_EQ(statistics.iqr(), 0.0);
  EXPECT_EQ(statistics.max, 1e6);
  EXPECT_EQ(median_of({5.0, 1.0, 3.0}), 3.0);
}

TEST(CliStatistics, DeviceTimeIsMissingWhereAnyStepHasNone) {
  EXPECT_FALSE(device_ms({}).has_value());
  std::vector<StepTime> steps(2);
  steps[0].device_us = 1500.0;
  EXPECT_FALSE(device_ms(steps).has_value());
  steps[1].device_us = 500.0;
  EXPECT_DOUBLE_EQ(device_ms(steps).value(), 2.0);
  // Steps on the host are no part of the device's time.
  steps[1].place = StepInfo::Place::host;
  steps[1].device_us.reset();
  EXPECT_DOUBLE_EQ(device_ms(steps).value(), 1.5);
  steps[0].place = StepInfo::Place::host;
  EXPECT_FALSE(device_ms(steps).has_value());
}

TEST(CliStatistics, NumbersKeepFourDigitsAtEverySize) {
  EXPECT_EQ(digits_text(0.0012344), "0.001234");
  EXPECT_EQ(digits_text(1.0), "1.000");
  EXPECT_EQ(digits_text(12.345), "12.35");
  EXPECT_EQ(digits_text(9999.6), "10000");
  EXPECT_EQ(digits_text(123456.7), "123457");
  EXPECT_EQ(digits_text(0.0), "0");
  EXPECT_EQ(digits_text(std::nullopt), "n/a");
  EXPECT_EQ(digits_text(std::numeric_limits<double>::quiet_NaN()), "n/a");
}

}  // namespace
}  // namespace morton::cli
