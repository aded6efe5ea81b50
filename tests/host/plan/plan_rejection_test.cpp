// SPDX-License-Identifier: Apache-2.0
//
// What reasons say, and that asking for what there is none of is an error that says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "morton/error.hpp"
#include "plan/policy/rejection.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;

Reason unmet(const std::string& condition) {
  return UnmetCondition{Expression::parse(condition, "test")};
}

TEST(Rejection, SaysItsReason) {
  EXPECT_EQ(print(unmet("K % 4 == 0")), "it requires K % 4 == 0");
  EXPECT_EQ(print(WrongType{"lhs", DType::i8}), "its operand lhs cannot be i8");
  EXPECT_EQ(print(LaunchLimit{LaunchLimit::What::no_multiple, 1, 17, 8}),
            "global size 17 is no positive multiple of local 8 in dimension 1");
  EXPECT_EQ(print(LaunchLimit{LaunchLimit::What::local_memory, 0, 65536, 32768}),
            "65536 bytes of local memory exceed the device's 32768");
  EXPECT_EQ(print(UnlistedWorkGroup{{4, 16}, "LOCAL_M", 4, {8, 16}}),
            "a work-group of 4x16 needs LOCAL_M = 4; it takes 8, 16");
  EXPECT_EQ(print(UnlistedWorkGroup{{4, 16}, "LOCAL", 4, {}}),
            "a work-group of 4x16 gives LOCAL two sizes; its dimensions must be equal");
  EXPECT_EQ(print(RefusedValues{{{"TILE_M", 6}}, "wrong"}),
            "TILE_M=6 is refused on this device: wrong");
  EXPECT_EQ(print(LargeImage{"rhs", {5, 70000}, {16384, 16384}}),
            "its operand rhs would be an image of 70000 x 5 texels; the device's are at most "
            "16384 x 16384");
}

TEST(Rejection, HoldsTheReasonsOfWhatIsInside) {
  const auto inside = std::make_shared<const Rejection>(Rejection{"gemm.tile", unmet("M > 1")});
  EXPECT_EQ(print(NoWayForStep{"gemm", inside}),
            "its step gemm has no kernel: gemm.tile: it requires M > 1");
  EXPECT_EQ(print(NoWayForStep{"gemm", nullptr}), "its step gemm has no kernel");
  EXPECT_EQ(print(WithValues{{{"S", 2}}, inside}), "with S=2, it requires M > 1");
  EXPECT_EQ(print(NoEntry{"pack D0=3 f32", "pack x", {*inside}}),
            "plan: no kernel for pack D0=3 f32 (pack x); gemm.tile: it requires M > 1");
  EXPECT_EQ(
      lines_of({*inside, {"gemm.naive", NotConsidered{NotConsidered::Why::excluded}}}).print(),
      "\n  gemm.tile: it requires M > 1\n  gemm.naive: it is excluded by exclude");
}

TEST(Rejection, KeepsSettingsApartFromWords) {
  const Message text = print(NotNamed{"gemm", "gemm.clblast"});
  EXPECT_THAT(text.settings(), ElementsAre(NamedSetting{"use", "gemm=gemm.clblast"}));
  EXPECT_EQ(text.print(), "it is considered only where use gemm=gemm.clblast asks for it");
  EXPECT_EQ(lines_of({{"gemm.clblast", NotNamed{"gemm", "gemm.clblast"}}}).settings().size(), 1U);
}

TEST(Rejection, TellsWhatASelfTestLeftOut) {
  using Finder = Verdict::Finder;
  const RefusedValues tuned{{{"TILE_M", 6}}, "wrong", Finder::tuning};
  const RefusedValues tested{{{"TILE_M", 8}}, "wrong", Finder::self_test};
  const auto inside = std::make_shared<const Rejection>(Rejection{"gemm.tile", tested});
  const std::vector<Rejection> rejections{{"gemm.tile", tuned},
                                          {"gemm.tile", tested},
                                          {"gemm.split_k", NoWayForStep{"gemm", inside}},
                                          {"gemm.tile", tested}};
  std::vector<std::string> lines;
  add_left_out_by_self_tests(rejections, lines);
  EXPECT_THAT(lines, ElementsAre("gemm.tile is left out: TILE_M=8 is refused on this device: wrong",
                                 "gemm.split_k is left out: its step gemm has no kernel: "
                                 "gemm.tile: TILE_M=8 is refused on this device: wrong"));
}

TEST(Rejection, IsListedByTheErrorThatItEndsIn) {
  const UnsupportedError error =
      error_of(NoCandidate{"Conv0", "conv2d", {{"conv2d.naive", unmet("K > 1")}}});
  ASSERT_EQ(error.rejected().size(), 1U);
  EXPECT_EQ(error.rejected()[0].kernel, "conv2d.naive");
  EXPECT_EQ(error.rejected()[0].why, "it requires K > 1");
}

TEST(Rejection, IsAnErrorWhereAnAnswerIsRequired) {
  EXPECT_EQ(required(OrReason<int>(3)), 3);
  try {
    static_cast<void>(required(OrReason<int>(unmet("K > 1"))));
    FAIL() << "a reason is no answer";
  } catch (const UnsupportedError& error) {
    EXPECT_STREQ(error.what(), "it requires K > 1");
  }
}

}  // namespace
}  // namespace morton::test
