// SPDX-License-Identifier: Apache-2.0
//
// Ids of different lists are different types, and none is no element of any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <variant>

#include "base/error.hpp"
#include "base/files/archive.hpp"
#include "base/indexed.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::ElementsAre;

struct Apple {};
struct Pear {};
using AppleId = Id<Apple>;
using PearId = Id<Pear>;
using Names = Indexed<AppleId, std::string>;

template <typename List, typename Index>
concept TakesIndex = requires(List list, Index index) {
  list[index];
};

static_assert(TakesIndex<Names, AppleId>);
static_assert(!TakesIndex<Names, PearId> && !TakesIndex<Names, int>);
static_assert(!std::is_convertible_v<int, AppleId> && !std::is_convertible_v<PearId, AppleId>);
static_assert(!std::equality_comparable_with<AppleId, PearId>);

TEST(Indexed, GivesIdsInOrder) {
  Names names{"a", "b"};
  EXPECT_EQ(names.next_id(), AppleId(2));
  const AppleId c = names.add("c");
  EXPECT_EQ(names[c], "c");
  std::string text;
  for (const AppleId id : names.ids()) text += names[id] + std::to_string(id.index());
  for (const AppleId id : names.ids_from(c)) text += names[id];
  EXPECT_EQ(text, "a0b1c2c");
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
}

TEST(Indexed, NoneIsNoElement) {
  const Names names(3);
  const AppleId none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none, AppleId(-1));
  EXPECT_LT(none, AppleId(0));
  EXPECT_FALSE(none.moved(2));
  EXPECT_EQ(AppleId(1).moved(2), AppleId(3));
  EXPECT_FALSE(names.contains(none));
  EXPECT_TRUE(names.contains(AppleId(2)));
  EXPECT_FALSE(names.contains(AppleId(3)));
}

using Fruit = std::variant<std::int64_t, std::string>;

std::string archived(const Indexed<AppleId, Fruit>& fruits, AppleId best) {
  ArchiveWriter writer;
  writer(fruits, best);
  return writer.take();
}

TEST(Indexed, ComesBackFromAnArchive) {
  const Indexed<AppleId, Fruit> fruits{Fruit(std::int64_t{7}), Fruit(std::string("sour"))};
  for (const AppleId best : {AppleId(1), AppleId()}) {
    const std::string bytes = archived(fruits, best);
    ArchiveReader reader(bytes, "fruits");
    Indexed<AppleId, Fruit> read;
    AppleId read_best;
    reader(read, read_best);
    reader.require_end();
    EXPECT_EQ(read, fruits);
    EXPECT_EQ(read_best, best);
  }
}

TEST(Indexed, AnArchivesUnknownAlternativesAndIdsAreRefused) {
  const auto is_refused = [](const std::string& bytes) {
    ArchiveReader reader(bytes, "fruits");
    Indexed<AppleId, Fruit> read;
    AppleId best;
    try {
      reader(read, best);
    } catch (const ModelError&) {
      return true;
    }
    return false;
  };
  const std::string bytes = archived({Fruit(std::int64_t{7})}, AppleId(0));
  EXPECT_FALSE(is_refused(bytes));
  std::string other_kind = bytes;
  other_kind[8] = 2;  // behind the number of elements
  EXPECT_TRUE(is_refused(other_kind));
  std::string below = bytes;
  below.replace(bytes.size() - 4, 4, "\x00\x00\x00\x80", 4);
  EXPECT_TRUE(is_refused(below));
}

}  // namespace
}  // namespace morton::test
