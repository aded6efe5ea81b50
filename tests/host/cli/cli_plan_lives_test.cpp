// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pages/plan_figures.hpp"
#include "pages/plan_lives.hpp"

namespace morton::cli::pages {
namespace {

Json value_at(const char* name, const char* kind, int block, int offset, int bytes) {
  return {{"name", name},   {"kind", kind},        {"block", block}, {"offset_bytes", offset},
          {"bytes", bytes}, {"layout", "C_4_2_C"}, {"shape", {3, 5}}};
}

Json step_of(const char* name, std::vector<int> reads, std::vector<int> writes) {
  return {{"name", name}, {"kernel", "k"}, {"reads", reads}, {"writes", writes}};
}

/// x -> a -> b, b + a -> b in place, b -> y; weights in a block of their own, block 2 for loading.
Json small_plan() {
  return {{"blocks",
           {{{"kind", "weights"}, {"bytes", 1000}},
            {{"kind", "activations"}, {"bytes", 96}},
            {{"kind", "loading"}, {"bytes", 500}},
            {{"kind", "workspace"}, {"bytes", 64}}}},
          {"values",
           {value_at("x", "input", 1, 0, 32), value_at("w", "constant", 0, 0, 900),
            value_at("a", "activation", 1, 32, 32), value_at("b", "activation", 3, 0, 32),
            value_at("sum", "activation", 3, 0, 32), value_at("y", "output", 1, 0, 16)}},
          {"steps",
           {step_of("one", {0, 1}, {2}), step_of("two", {2}, {3}), step_of("add", {2, 3}, {4}),
            step_of("end", {4}, {5})}}};
}

TEST(CliPlanLives, AResultLivesFromItsWriterToItsLastReader) {
  const PlanLives found = lives_of(small_plan());
  EXPECT_EQ(found.bytes, 160);  // neither weights nor what only loading needs
  EXPECT_EQ(found.weight_bytes, 1000);
  std::vector<std::string> lives;
  for (const Life& life : found.lives) {
    lives.push_back(life.name + " " + std::to_string(life.offset) + " " +
                    std::to_string(life.first) + "-" + std::to_string(life.last));
  }
  EXPECT_THAT(lives,
              testing::ElementsAre("x 0 0-0", "a 32 0-2", "b 96 1-2", "sum 96 2-3", "y 0 3-3"));
}

TEST(CliPlanLives, ReadersFollowTheLastWriterOfTheirBytes) {
  std::vector<std::pair<int, int>> edges;
  for (const PlanEdge& edge : lives_of(small_plan()).edges) edges.emplace_back(edge.from, edge.to);
  using Edge = std::pair<int, int>;
  EXPECT_THAT(edges, testing::ElementsAre(Edge(0, 1), Edge(0, 2), Edge(1, 2), Edge(2, 3)));
}

TEST(CliPlanLives, AliasesAndPartsAreTheSameBytes) {
  Json plan = small_plan();
  // "end" reads half of what "add" wrote and all of "a", under names of their own.
  plan["values"].push_back(value_at("half", "activation", 3, 16, 16));
  plan["values"].push_back(value_at("a as a row", "activation", 1, 32, 32));
  plan["steps"][3]["reads"] = {6, 7};
  const PlanLives found = lives_of(plan);
  EXPECT_EQ(found.lives.size(), 5u);
  EXPECT_EQ(found.lives[1].last, 3);
  ASSERT_EQ(found.edges.size(), 5u);
  EXPECT_EQ(found.edges[3].name, "sum");
  EXPECT_EQ(found.edges[4].name, "a");
}

std::vector<std::pair<int, int>> edges_of(const PlanLives& found) {
  std::vector<std::pair<int, int>> edges;
  for (const PlanEdge& edge : found.edges) edges.emplace_back(edge.from, edge.to);
  return edges;
}

TEST(CliPlanLives, StepsThatWritePartsOfAValueAreAllItsWriters) {
  Json plan = small_plan();
  // "two" and "add" write a part of "b" each, which "end" reads.
  plan["steps"][1] = step_of("two", {2}, {3});
  plan["steps"][2] = step_of("add", {0}, {3});
  plan["steps"][3] = step_of("end", {3}, {5});
  const PlanLives found = lives_of(plan);
  using Edge = std::pair<int, int>;
  EXPECT_THAT(edges_of(found), testing::ElementsAre(Edge(0, 1), Edge(1, 3), Edge(2, 3)));
  ASSERT_EQ(found.lives.size(), 4u);
  EXPECT_EQ(found.lives[2].name, "b");
  EXPECT_EQ(found.lives[2].first, 1);
  EXPECT_EQ(found.lives[2].last, 3);
  EXPECT_FALSE(found.lives[2].is_overwritten);
  // What reads a value and writes it replaces it.
  plan["steps"][2] = step_of("add", {3}, {3});
  EXPECT_THAT(edges_of(lives_of(plan)), testing::ElementsAre(Edge(0, 1), Edge(1, 2), Edge(2, 3)));
}

TEST(CliPlanLives, StateLivesFromTheFirstStepToTheLast) {
  Json plan = small_plan();
  // State among weights has no place in the picture, and changes no other life.
  plan["values"].push_back(value_at("hidden", "state", 0, 900, 64));
  EXPECT_EQ(lives_of(plan).lives.size(), 5u);
  EXPECT_EQ(lives_of(plan).lives[0].last, 0);
  plan["values"].push_back(value_at("kept", "state", 3, 32, 32));
  plan["steps"][1]["reads"].push_back(7);
  plan["steps"][1]["writes"].push_back(7);
  const PlanLives found = lives_of(plan);
  ASSERT_EQ(found.lives.size(), 6u);
  EXPECT_EQ(found.lives[1].name, "kept");
  EXPECT_EQ(found.lives[1].first, 0);
  EXPECT_EQ(found.lives[1].last, 3);
  EXPECT_EQ(found.lives[0].last, 0);
}

TEST(CliPlanLives, SectionsDrawThem) {
  const Json plan = small_plan();
  const auto text = [](const Section& section) { return html({"t", "", {}, {section}}); };
  EXPECT_THAT(text(memory_section(plan)), testing::HasSubstr("at most 96 B are in use"));
  EXPECT_THAT(text(graph_section(plan, {1.0, 2.0, 8.0, 4.0}, "estimated")),
              testing::HasSubstr("4 steps in order; the longest is add."));
  EXPECT_THAT(text(layouts_section(plan)), testing::HasSubstr("Layout C_4_2_C"));
}

}  // namespace
}  // namespace morton::cli::pages
