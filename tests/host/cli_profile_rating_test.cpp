// SPDX-License-Identifier: Apache-2.0
// Steps against peaks that were measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/profile_measure.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 2 GFLOP and 4 MB in a millisecond.
cli::ProfiledStep step() {
  cli::ProfiledStep one;
  one.info.name = "conv1";
  one.info.kernel = "conv2d.direct";
  one.info.flop = 2'000'000'000;
  one.info.logical_bytes = 4'000'000;
  one.info.footprint_bytes = 4'000'000;
  one.device_us = 1000.0;
  return one;
}

RooflinePeaks peaks(double gflops, double gigabytes_per_second) {
  RooflinePeaks all;
  all.gflops_f32 = gflops;
  all.gigabytes_per_second = gigabytes_per_second;
  all.launch_us = 2.0;
  all.source = "measured 2026-01-31";
  return all;
}

std::vector<std::string> exceeded(const RooflinePeaks& roof) {
  cli::Profile profile;
  profile.steps.push_back(step());
  cli::rate(profile.steps.front(), roof);
  return cli::impossible_shares(profile, roof);
}

TEST(CliProfileRating, SharesAreOfTheRates) {
  cli::ProfiledStep one = step();
  cli::rate(one, peaks(2500.0, 8.0));
  EXPECT_DOUBLE_EQ(one.arithmetic->share(), 0.8);
  EXPECT_DOUBLE_EQ(one.memory->share(), 0.5);
  EXPECT_EQ(one.bound_by, "arithmetic");
}

TEST(CliProfileRating, MoreThanAPeakNamesTheStepAndThePeak) {
  EXPECT_THAT(exceeded(peaks(4000.0, 8.0)), testing::IsEmpty());
  EXPECT_THAT(exceeded(peaks(1900.0, 8.0)),
              ElementsAre(AllOf(HasSubstr("conv1"), HasSubstr("arithmetic peak"))));
  EXPECT_THAT(exceeded(peaks(4000.0, 3.0)),
              ElementsAre(AllOf(HasSubstr("conv1"), HasSubstr("memory peak"))));
}

}  // namespace
}  // namespace morton::test
