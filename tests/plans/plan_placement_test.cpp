// SPDX-License-Identifier: Apache-2.0
//
// Where stretches of memory go: apart while they are needed together, aligned, in little space.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/numbers/checked.hpp"
#include "plan/lower/placement.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr PlacementRules kRules{128, std::int64_t{1} << 30};
constexpr PlacementRules kWholePlaces{128, std::int64_t{1} << 30,
                                      PlacementRules::Sharing::whole_places};

void expect_apart(const std::vector<PlacementItem>& items, const Placement& placement,
                  const PlacementRules& rules) {
  ASSERT_EQ(placement.places.size(), items.size());
  for (std::size_t a = 0; a < items.size(); ++a) {
    const auto& one = placement.places[a];
    ASSERT_TRUE(one.block);
    ASSERT_EQ(one.offset_bytes % rules.alignment_bytes, 0);
    ASSERT_LE(one.offset_bytes + items[a].bytes, placement.block_bytes[one.block]);
    ASSERT_TRUE(!items[a].begins_block || one.offset_bytes == 0);
    for (std::size_t b = a + 1; b < items.size(); ++b) {
      const auto& other = placement.places[b];
      const bool together =
          items[a].life.first <= items[b].life.last && items[b].life.first <= items[a].life.last;
      const bool apart = one.block != other.block ||
                         one.offset_bytes + items[a].bytes <= other.offset_bytes ||
                         other.offset_bytes + items[b].bytes <= one.offset_bytes;
      ASSERT_TRUE(!together || apart) << a << " and " << b;
    }
  }
  for (const std::int64_t bytes : placement.block_bytes) ASSERT_LE(bytes, rules.most_bytes);
}

/// Results that live for a few steps, some for many, as those of networks do.
std::vector<PlacementItem> random_items(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<PlacementItem> items;
  const std::size_t steps = 5 + generator() % 60;
  for (std::size_t s = 0; s < steps; ++s) {
    const std::size_t length = generator() % 6 == 0 ? generator() % 20 : 1;
    items.push_back({static_cast<std::int64_t>(generator() % 40000),
                     {s, std::min(steps - 1, s + length)},
                     generator() % 17 == 0});
  }
  return items;
}

TEST(Placement, RandomItemsAreApartAndTakeLittleMoreThanTheLeast) {
  double sum = 0.0;
  constexpr int kSeeds = 200;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto items = random_items(seed);
    expect_apart(items, place_items(items, kRules), kRules);
    for (PlacementItem& item : items) item.begins_block = false;
    const Placement placement = place_items(items, kRules);
    expect_apart(items, placement, kRules);
    const auto least = static_cast<double>(least_bytes(items, kRules));
    sum += static_cast<double>(placement.bytes()) / least;
    EXPECT_LE(static_cast<double>(placement.bytes()), 1.25 * least);
  }
  EXPECT_LE(sum / kSeeds, 1.03);
}

TEST(Placement, SmallBlocksMakeMoreOfThem) {
  constexpr PlacementRules kSmall{128, 50000};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto items = random_items(seed);
    expect_apart(items, place_items(items, kSmall), kSmall);
  }
}

TEST(Placement, FindsWhatTheLargestFirstDoesNot) {
  // Three at a time; the largest first leaves a hole that the last cannot use.
  const std::vector<PlacementItem> items{{512, {0, 1}}, {768, {1, 2}}, {640, {2, 3}},
                                         {512, {3, 4}}, {384, {0, 0}}, {256, {2, 2}}};
  const Placement placement = place_items(items, kRules);
  expect_apart(items, placement, kRules);
  EXPECT_EQ(placement.bytes(), least_bytes(items, kRules));
}

TEST(Placement, NothingTakesNothing) {
  for (const PlacementRules& rules : {kRules, kWholePlaces}) {
    const Placement placement = place_items({}, rules);
    EXPECT_TRUE(placement.block_bytes.empty());
    EXPECT_EQ(placement.bytes(), 0);
  }
}

TEST(Placement, WholePlacesAreNeverSharedInPart) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto items = random_items(seed);
    const Placement placement = place_items(items, kWholePlaces);
    expect_apart(items, placement, kWholePlaces);
    std::map<std::pair<BlockId, std::int64_t>, std::int64_t>
        ends;  // of places, by where they begin
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto& place = placement.places[i];
      std::int64_t& end = ends[{place.block, place.offset_bytes}];
      end = std::max(end, place.offset_bytes + items[i].bytes);
    }
    for (auto next = ends.begin(); next != ends.end();) {
      const auto place = next++;
      if (next == ends.end() || next->first.first != place->first.first) continue;
      ASSERT_LE(place->second, next->first.second);
    }
  }
}

TEST(Placement, AChainOfResultsTakesTwoPlaces) {
  const std::vector<PlacementItem> items{{5000, {0, 1}}, {4000, {1, 2}}, {3000, {2, 3}},
                                         {4500, {3, 4}}, {100, {4, 5}},  {90, {5, 6}}};
  EXPECT_LE(place_items(items, kWholePlaces).bytes(), 5000 + 4500 + 2 * 128);
}

}  // namespace
}  // namespace morton::test
