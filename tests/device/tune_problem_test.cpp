// SPDX-License-Identifier: Apache-2.0
//
// What tuning measures is the problem that a record names.
#include "tools/tuning/tune_problem.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ops/core/operator.hpp"
#include "passes/pipeline.hpp"
#include "plan/search/join_pools.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// The problems of an operator's cases, pools behind joined.
std::vector<std::pair<std::string, TunedProblem>> problems_of(const std::string& file) {
  std::vector<std::pair<std::string, TunedProblem>> problems;
  for (const OperatorCase& test :
       read_cases(std::string(MORTON_SOURCE_DIR "/tests/cases/") + file)) {
    Graph graph = make_graph(test, 1, DataKind::integers);
    run_passes(graph, {});
    const TaskList list = make_tasks(graph);
    for (const Task& task : list.tasks) {
      problems.emplace_back(describe(test), TunedProblem::of(task.bound));
    }
    if (list.tasks.size() < 2) continue;
    const auto both = joined_with_pool(list.tasks[TaskId(0)], list.tasks[TaskId(1)], list);
    if (both) problems.emplace_back(describe(test), TunedProblem::of(both->bound));
  }
  return problems;
}

/// How many can be posed; what can must be the same problem.
int posed_of(const std::string& file, const std::string& family) {
  int posed = 0;
  for (const auto& [name, problem] : problems_of(file)) {
    if (problem.family != family) continue;
    try {
      EXPECT_EQ(TunedProblem::of(bound_of(problem)), problem) << name;
      ++posed;
    } catch (const UnsupportedError&) {
      // Lines of one dimension and the like are left as they are.
    }
  }
  return posed;
}

TEST(TuneProblem, AGraphPosesTheProblemThatARecordNames) {
  EXPECT_GE(posed_of("conv.cases", "conv2d"), 30);
  EXPECT_GE(posed_of("conv.cases", "conv2d_pool"), 10);
  EXPECT_GE(posed_of("max_pool.cases", "max_pool2d"), 8);
  EXPECT_GE(posed_of("average_pool.cases", "average_pool2d"), 8);
}

TEST(TuneProblem, AConvolutionWithAPoolBehindHasBothAsParts) {
  for (const auto& [name, problem] : problems_of("conv.cases")) {
    if (problem.family != families::conv2d_pool) continue;
    const std::vector<TunedProblem> parts = parts_of(problem);
    ASSERT_EQ(parts.size(), 2U) << name;
    EXPECT_EQ(parts[0].family, families::conv2d) << name;
    EXPECT_TRUE(parts[1].family.name().ends_with("_pool2d")) << name;
    EXPECT_TRUE(parts_of(parts[0]).empty());
  }
}

TEST(TuneProblem, WhatNobodyPosesIsRefused) {
  TunedProblem softmax;
  softmax.family = families::softmax;
  EXPECT_THROW(static_cast<void>(model_of(softmax)), UnsupportedError);
  TunedProblem without_extents;
  without_extents.family = families::conv2d;
  EXPECT_THROW(static_cast<void>(model_of(without_extents)), UnsupportedError);
}

}  // namespace
}  // namespace morton::test
