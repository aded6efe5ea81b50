// SPDX-License-Identifier: Apache-2.0
//
// How pictures change at random: windows, turns and sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <tuple>
#include <vector>

#include "base/numbers/counter_generator.hpp"
#include "host/formats_files.hpp"
#include "support/rooms.hpp"
#include "training/data/augmentation.hpp"
#include "training/data/plane.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(Augmentation, ReachesEveryPlace) {
  const char* all = "shift=1,flip,crop=2,rotate=15,scale=10";
  EXPECT_EQ(to_string(parse_augmentation(all)), all);
  EXPECT_TRUE(parse_augmentation("shift=0,rotate=0,scale=0").changes_nothing());
  EXPECT_FALSE(parse_augmentation("rotate=1").changes_nothing());
  EXPECT_FALSE(parse_augmentation("scale=1").changes_nothing());
  EXPECT_EQ(to_string(parse_augmentation("none")), "none");
  const auto windows = [](const char* text) {
    std::set<std::int64_t> tops, lefts;
    int flips = 0;
    const CounterGenerator generator(1, 2, 0);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const PictureWindow window =
          random_window(parse_augmentation(text), {5, 7}, {4, 4}, generator, i);
      tops.insert(window.top);
      lefts.insert(window.left);
      flips += window.flip == Flip::horizontal ? 1 : 0;
    }
    return std::tuple(*tops.begin(), *tops.rbegin(), *lefts.begin(), *lefts.rbegin(), flips);
  };
  EXPECT_EQ(windows("crop=0"), (std::tuple(0, 1, 0, 3, 0)));
  EXPECT_EQ(windows("crop=2"), (std::tuple(-2, 3, -2, 5, 0)));
  EXPECT_EQ(windows("shift=2"), (std::tuple(-2, 2, -1, 3, 0)));
  EXPECT_EQ(windows("shift=1,crop=0"), (std::tuple(-1, 2, -1, 4, 0)));
  EXPECT_NEAR(std::get<4>(windows("flip")), 500, 6 * 16);
}

TEST(Augmentation, RefusesOtherText) {
  for (const char* text : {"", "shift", "shift=-1", "shift=x", "flip=1", "rotate", "crop=99999",
                           "flip,flip", "flip,", "none,flip", "rotate=", "rotate=181", "rotate=-5",
                           "rotate=1.5", "scale=91", "scale=-1", "scale", "scale=ten"}) {
    EXPECT_FALSE(message_of<UsageError>([&] { (void)parse_augmentation(text); }).empty()) << text;
  }
  EXPECT_THAT(message_of<UsageError>([] { (void)parse_augmentation("rotate"); }),
              HasSubstr("expected a whole number of 0 or more"));
  EXPECT_THAT(message_of<UsageError>([] { (void)parse_augmentation("turn=5"); }),
              HasSubstr("shift=PIXELS, flip, crop=MARGIN, rotate=DEGREES and scale=PERCENT"));
  EXPECT_THAT(message_of<UsageError>([] { (void)parse_augmentation("rotate=181"); }),
              HasSubstr("at most 180 degrees"));
  EXPECT_THAT(message_of<UsageError>([] { (void)parse_augmentation("scale=91"); }),
              HasSubstr("at most 90 per cent"));
}

TEST(Turn, HasSineAndCosineOfIntegersAlone) {
  for (Fixed16 degrees = -180 * kFixedOne; degrees <= 180 * kFixedOne; degrees += 7 * 1117) {
    const double radians = static_cast<double>(degrees) / 65536.0 * std::numbers::pi / 180.0;
    const double unit = std::ldexp(1.0, 30);
    EXPECT_NEAR(static_cast<double>(sine_of(degrees)), std::sin(radians) * unit, 4.0) << degrees;
    EXPECT_NEAR(static_cast<double>(cosine_of(degrees)), std::cos(radians) * unit, 4.0) << degrees;
  }
  EXPECT_EQ(turn_of(0, kFixedOne), Turn{});
  EXPECT_EQ(turn_of(90 * kFixedOne, kFixedOne), (Turn{0, kFixedOne, -kFixedOne, 0}));
  EXPECT_EQ(turn_of(0, 2 * kFixedOne), (Turn{kFixedOne / 2, 0, 0, kFixedOne / 2}));
  // Written down, so that another platform cannot differ unnoticed.
  EXPECT_EQ(sine_of(12 * kFixedOne), 223243478);
  EXPECT_EQ(turn_of(12 * kFixedOne, 72090), (Turn{58276, 12387, -12387, 58276}));
}

TEST(Turn, IsDrawnFromTheWholeReach) {
  const CounterGenerator generator(1, 2, 0);
  const Augmentation both = parse_augmentation("rotate=15,scale=10");
  double least = 9.0, most = 0.0, left = 0.0, right = 0.0, sum = 0.0;
  constexpr int kDraws = 3000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Turn turn = random_window(both, {28, 28}, {28, 28}, generator, i).turn;
    const auto cosine = static_cast<double>(turn.xx);
    const auto sine = static_cast<double>(turn.xy);
    const double factor = 65536.0 / std::hypot(cosine, sine);
    const double degrees = std::atan2(sine, cosine) * 180.0 / std::numbers::pi;
    least = std::min(least, factor);
    most = std::max(most, factor);
    left = std::min(left, degrees);
    right = std::max(right, degrees);
    sum += degrees;
  }
  EXPECT_NEAR(least, 0.9, 0.002);
  EXPECT_NEAR(most, 1.1, 0.002);
  EXPECT_NEAR(left, -15.0, 0.1);
  EXPECT_NEAR(right, 15.0, 0.1);
  // Six deviations of the mean of so many even draws of 30 degrees.
  EXPECT_NEAR(sum / kDraws, 0.0, 6.0 * 30.0 / std::sqrt(12.0 * kDraws));
}

/// A turn leaves what the other changes draw as it is, so they combine.
TEST(Turn, LeavesTheWindowsPlace) {
  const CounterGenerator generator(5, 2, 3);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const PictureWindow plain =
        random_window(parse_augmentation("shift=2,flip"), {9, 9}, {9, 9}, generator, i);
    const PictureWindow turned =
        random_window(parse_augmentation("shift=2,flip,rotate=9"), {9, 9}, {9, 9}, generator, i);
    EXPECT_EQ(std::tuple(plain.top, plain.left, plain.flip),
              std::tuple(turned.top, turned.left, turned.flip));
    EXPECT_EQ(plain.turn, Turn{});
  }
}

/// What a window of `input` shows of pixels in rows of `width`.
template <typename Element>
std::vector<Element> all_seen(const std::vector<Element>& pixels, const Extent2d& extent,
                              const PictureWindow& window, const Extent2d& input) {
  std::vector<Element> result;
  for (std::int64_t y = 0; y < input.height; ++y) {
    for (std::int64_t x = 0; x < input.width; ++x) {
      result.push_back(seen(Plane<Element>{pixels.data(), extent}, window, input, y, x));
    }
  }
  return result;
}

TEST(Turn, TurnsClockwiseAroundTheMiddle) {
  const std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto turned = [&](Fixed16 degrees, Flip flip) {
    const PictureWindow window{0, 0, flip, turn_of(degrees * kFixedOne, kFixedOne)};
    return all_seen(pixels, {3, 3}, window, {3, 3});
  };
  EXPECT_THAT(turned(90, Flip::none), ElementsAre(7, 4, 1, 8, 5, 2, 9, 6, 3));
  EXPECT_THAT(turned(-90, Flip::none), ElementsAre(3, 6, 9, 2, 5, 8, 1, 4, 7));
  EXPECT_THAT(turned(180, Flip::none), ElementsAre(9, 8, 7, 6, 5, 4, 3, 2, 1));
  EXPECT_THAT(turned(90, Flip::horizontal), ElementsAre(1, 4, 7, 2, 5, 8, 3, 6, 9));
  // A window that is moved turns around its own middle; what comes in is black.
  const PictureWindow moved{0, 1, Flip::none, turn_of(180 * kFixedOne, kFixedOne)};
  EXPECT_THAT(all_seen(pixels, {3, 3}, moved, {3, 3}), ElementsAre(0, 9, 8, 0, 6, 5, 0, 3, 2));
}

TEST(Turn, MixesTheFourNearestPixels) {
  // Twice as large: places lie at quarters of pixels.
  const std::vector<std::uint8_t> pixels{100, 200, 0, 40};
  const PictureWindow larger{-1, -1, Flip::none, turn_of(0, 2 * kFixedOne)};
  const auto got = all_seen(pixels, {2, 2}, larger, {4, 4});
  const auto at = [&](std::int64_t y, std::int64_t x) {
    const bool inside = y >= 0 && y < 2 && x >= 0 && x < 2;
    return inside ? static_cast<double>(pixels[static_cast<std::size_t>(y * 2 + x)]) : 0.0;
  };
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      const double py = (y - 1.5) / 2.0 + 0.5;
      const double px = (x - 1.5) / 2.0 + 0.5;
      const auto top = static_cast<std::int64_t>(std::floor(py));
      const auto left = static_cast<std::int64_t>(std::floor(px));
      const double below = py - std::floor(py);
      const double right = px - std::floor(px);
      const double mixed =
          (1 - below) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
          below * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
      const auto i = static_cast<std::size_t>(y * 4 + x);
      EXPECT_EQ(got[i], std::floor(mixed + 0.5)) << y << " " << x;
    }
  }
  // Values are mixed alike, and not rounded to levels.
  const std::vector<float> values{1.0F, 2.0F, 4.0F, 8.0F};
  const PictureWindow twice{0, 0, Flip::none, turn_of(0, 2 * kFixedOne)};
  EXPECT_EQ(all_seen(values, {2, 2}, twice, {2, 2}).front(), 2.1875F);
}

}  // namespace
}  // namespace morton::test
