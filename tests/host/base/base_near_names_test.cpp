// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/near_names.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string_view> kNames{"Conv", "ConvTranspose", "Cos",   "Cosh",
                                           "Or",   "Relu",          "PRelu", "Selu"};

TEST(NearNames, FindsSlipsOfThePen) {
  EXPECT_THAT(near_names("conv", kNames), ElementsAre("Conv"));
  EXPECT_THAT(near_names("Conf", kNames), ElementsAre("Conv"));
  EXPECT_THAT(near_names("ConvTranpose", kNames), ElementsAre("ConvTranspose"));
  EXPECT_THAT(near_names("ReLU", kNames), ElementsAre("Relu", "PRelu", "Selu"));
}

TEST(NearNames, FindsNothingWhereNothingIsNear) {
  EXPECT_THAT(near_names("Frobnicate", kNames), IsEmpty());
  EXPECT_THAT(near_names("", kNames), IsEmpty());
  EXPECT_THAT(near_names("X", kNames), IsEmpty());
  EXPECT_THAT(near_names(std::string(100'000, 'C'), kNames), IsEmpty());
}

}  // namespace
}  // namespace morton::test
