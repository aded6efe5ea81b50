// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "catalogue/catalogue.hpp"
#include "problems/conv2d_pool.hpp"
#include "problems/normalize.hpp"
#include "problems/problem.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

TEST(ProblemFamilies, EachIsFoundByItsName) {
  std::set<std::string> names;
  for (const ProblemFamily& family : problem_families()) {
    EXPECT_TRUE(names.insert(family.name()).second) << family.name();
    EXPECT_EQ(find_problem_family(family.name()), &family);
    EXPECT_EQ(&*family.id, &family) << family.name();
  }
  EXPECT_EQ(families::gemm.name(), "gemm");
  EXPECT_EQ(find_problem_family("gem"), nullptr);
  EXPECT_TRUE(names_of_families().starts_with("gemm, batched_gemm, "));
}

TEST(ProblemFamilies, NoFamilyHasNoNameAndNoDefinition) {
  EXPECT_EQ(Family().name(), "");
  EXPECT_NE(Family(), families::gemm);
  EXPECT_THROW(static_cast<void>(*Family()), InternalError);
}

TEST(ProblemFamilies, EachIsDefined) {
  for (const ProblemFamily& family : problem_families()) {
    EXPECT_NE(family.value_at, nullptr) << family.name();
    const auto writes = [](const OperandSchema& schema) {
      return schema.role == OperandSchema::Role::output;
    };
    EXPECT_EQ(std::ranges::count_if(family.operands, writes), 1) << family.name();
    EXPECT_EQ(family.operands.back().name, "dst") << family.name();
  }
}

/// Every name that an entry's operations may use has this value, or one near it.
Environment some_sizes(const ProblemFamily& family) {
  Environment sizes;
  std::int64_t next = 2;
  const auto add = [&](std::string_view name) { sizes.emplace(name, next++); };
  for (const OperandSchema& schema : family.operands) {
    std::ranges::for_each(schema.dimensions, add);
  }
  std::ranges::for_each(family.structure, add);
  std::ranges::for_each(family.parameters, add);
  if (sizes.contains("OUT")) sizes["OUT"] = 4;
  return sizes;
}

/// What takes every problem of its family counts its operations as the family does.
TEST(ProblemFamilies, GeneralEntriesCountTheFamilysOperations) {
  int compared = 0;
  const Catalogue catalogue = Catalogue::standard();
  for (const Entry& entry : catalogue.entries()) {
    if (!entry.require.empty()) continue;
    const Environment sizes = some_sizes(*entry.family);
    EXPECT_EQ(entry.cost.flop.evaluate(sizes), entry.family->flop.evaluate(sizes)) << entry.name;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(ProblemFamilies, CountOperationsAndBytes) {
  Problem problem;
  problem.family = families::gemm;
  problem.extents = {{"M", 3}, {"N", 5}, {"K", 7}};
  problem.types = {{"lhs", DType::f32}, {"rhs", DType::f16}, {"dst", DType::f32}};
  EXPECT_EQ(flop_of(problem), 2.0 * 3 * 5 * 7);
  EXPECT_EQ(bytes_of(problem), 4.0 * 3 * 7 + 2.0 * 7 * 5 + 4.0 * 3 * 5);
}

TEST(ProblemStructure, IsNamedNumbersAndBack) {
  Conv2dPoolStructure both;
  both.conv.window.kernel = {5, 3};
  both.conv.groups = 2;
  both.map = PooledMap::sigmoid;
  both.window.before = {1, 2};
  both.combine = Conv2dPoolStructure::Combine::largest;
  const Environment numbers = numbers_of(both);
  EXPECT_EQ(numbers.at("KH"), 5);
  EXPECT_EQ(numbers.at("QL"), 2);
  EXPECT_EQ(numbers.at("MAP"), 3);
  EXPECT_EQ(numbers.at("COMBINE"), 3);
  EXPECT_EQ(numbers_of(structure_of<Conv2dPoolStructure>(numbers)), numbers);
  EXPECT_EQ(numbers.size(), families::conv2d_pool->structure.size());
}

TEST(ProblemStructure, HoldsTheBitsOfARealNumber) {
  const NormalizeStructure normalize{NormalizeStructure::Kind::squares, 1e-5F};
  const Environment numbers = numbers_of(normalize);
  EXPECT_EQ(numbers.at("EPSILON"), 0x3727c5ac);
  EXPECT_EQ(structure_of<NormalizeStructure>(numbers).epsilon, 1e-5F);
  EXPECT_EQ(structure_of<NormalizeStructure>(numbers).kind, NormalizeStructure::Kind::squares);
}

TEST(ProblemStructure, NamesWhatIsMissing) {
  try {
    static_cast<void>(structure_of<SlidingWindow>({{"KH", 1}}));
    FAIL() << "there is no KW";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("no KW"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace morton::test
