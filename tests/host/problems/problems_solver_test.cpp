// SPDX-License-Identifier: Apache-2.0
//
// The definitions of families agree where one says what others do: a recipe's steps compute what
// its problem is, a narrow family what the elementwise problem is, and a convolution with its pool
// what both are apart.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "passes/pipeline.hpp"
#include "plan/search/candidates.hpp"
#include "plan/search/join_attention.hpp"
#include "plan/search/join_pools.hpp"
#include "plan/search/recipe.hpp"
#include "plan/tasks/narrow.hpp"
#include "problems/solver.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// A graph's tasks, and the values of its tensors as far as they are known.
class SolvedTasks {
 public:
  SolvedTasks(const std::string& op, const std::string& line) {
    constexpr std::uint64_t kSeed = 5;
    const OperatorCase parsed = parse_case(op, "t | " + line, "test");
    Graph graph = make_graph(parsed, kSeed, DataKind::zero_mean);
    run_passes(graph, {});
    list = make_tasks(graph);
    for (const TaskTensor& tensor : list.tensors) add(tensor);
    for (const NamedTensor& input : make_inputs(parsed, kSeed, DataKind::zero_mean)) {
      std::vector<double>& value = values_[graph.find(input.name)];
      for (std::int64_t i = 0; i < input.tensor.size(); ++i) value.push_back(input.tensor.at(i));
    }
  }

  /// The problem's dst. Temporaries of recipes stand behind the graph's tensors.
  std::vector<double> solution(BoundProblem bound) const {
    for (auto& [role, binding] : bound.operands) binding.tensor = index_of(binding.tensor);
    Indexed<TensorId, SolverTensor> tensors = tensors_;
    for (const TensorId id : tensors.ids()) tensors[id].value = values_[id];
    return solve(bound, tensors);
  }

  /// Keeps what the problem writes of its dst, beside what others wrote of it.
  void run(const BoundProblem& bound) {
    std::vector<double> part = solution(bound);
    const TensorId dst = index_of(bound.operands.at("dst").tensor);
    std::vector<double>& whole = values_[dst];
    if (whole.empty()) whole.resize(part.size(), std::nan(""));
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!std::isnan(part[i])) whole[i] = part[i];
    }
  }

  void add(const TaskTensor& tensor) {
    tensors_.add({tensor.dtype, tensor.shape, {}});
    values_.emplace_back();
    for (std::int64_t i = 0; i < tensor.data.size(); ++i) {
      values_.back().push_back(tensor.data.at(i));
    }
  }

  const std::vector<double>& value(TensorId tensor) const { return values_[tensor]; }

  TaskList list;

 private:
  TensorId index_of(TensorId tensor) const {
    if (!is_temporary(tensor)) return tensor;
    return list.tensors.next_id().moved(temporary_index(tensor));
  }

  Indexed<TensorId, SolverTensor> tensors_;
  Indexed<TensorId, std::vector<double>> values_;
};

void expect_same(const std::vector<double>& expected, const std::vector<double>& got) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(expected[i], got[i], 1e-9 * (1.0 + std::fabs(expected[i]))) << "element " << i;
  }
}

/// Whether the recipe takes the only problem of these tasks; if so, its steps must solve it.
bool solves(const Recipe& recipe, const SolvedTasks& tasks, const RecipeSetting& setting) {
  const Task& task = tasks.list.tasks.front();
  const OrReason<ExpandedRecipe> way = expand(recipe, task, 0, tasks.list, setting);
  if (!std::holds_alternative<ExpandedRecipe>(way)) return false;
  const auto& expanded = std::get<ExpandedRecipe>(way);
  SolvedTasks steps = tasks;
  for (const TaskTensor& temporary : expanded.temporaries) steps.add(temporary);
  for (const ExpandedStep& step : expanded.steps) steps.run(step.task.bound);
  expect_same(tasks.solution(task.bound), steps.value(tensor_of(task.bound, "dst")));
  return true;
}

TEST(ProblemSolver, TheStepsOfEveryRecipeSolveItsProblem) {
  const std::vector<SolvedTasks> problems{
      {"Gemm", "3x128 128x5 3x5"},
      {"ReduceSum", "2x300 [1]"},
      {"Conv", "2x3x9x7 4x3x3x3 4 | pads=[1,1,1,1]"},
      {"Conv", "1x3x9x8 4x3x3x3 4 | pads=[1,0,1,2]"},
      {"Conv", "1x17x5x6 4x17x2x3 | strides=[2,1] dilations=[1,2]"},
      {"Conv", "1x5x4x3 7x5x1x1 7"},
      {"Conv", "2x5x4x3 7x5x1x1 7"},
      {"ConvTranspose", "2x3x4x5 3x2x3x2 2 | strides=[2,1] pads=[1,0,0,1]"},
      {"RecurrentSequence", "3x2x4x5 4x5x5 4x5 2x2x5 [3,2] | cell=lstm"}};
  const Catalogue catalogue = Catalogue::standard();
  const Environment facts = environment_of(DeviceInfo{});
  for (const Recipe& recipe : catalogue.recipes()) {
    int solved = 0;
    for (const SolvedTasks& tasks : problems) {
      if (tasks.list.tasks.front().bound.problem.family != recipe.family) continue;
      for (const Environment& tunables : tunable_values(recipe, {})) {
        for (const std::int64_t slabs : {1, 2}) {
          SCOPED_TRACE(recipe.name + " for " + print(tasks.list.tasks.front().bound.problem));
          const RecipeSetting setting{slabs, tunables, &facts};
          solved += solves(recipe, tasks, setting) ? 1 : 0;
        }
      }
    }
    EXPECT_GT(solved, 0) << recipe.name;
  }
}

TEST(ProblemSolver, WhatAStepChangesIsMadeAnewForEachRun) {
  const SolvedTasks tasks("RecurrentSequence", "3x2x1x5! 1x5x5! 1x5! 1x2x5! [3,2] | cell=tanh");
  const Recipe& recipe = *Catalogue::shared()->find_recipe("recurrence.parts");
  const Environment facts = environment_of(DeviceInfo{});
  const RecipeSetting setting{1, {{"W", 2}}, &facts};
  const auto way = expand(recipe, tasks.list.tasks.front(), 0, tasks.list, setting);
  const auto& made = std::get<ExpandedRecipe>(way);
  ASSERT_EQ(made.temporaries.size(), 1U);
  EXPECT_EQ(made.temporaries[0].kind, TaskTensor::Kind::temporary);
}

TEST(ProblemSolver, ANarrowFamilyIsItsElementwiseProblem) {
  std::map<std::string, int> found;
  const std::vector<SolvedTasks> problems{
      {"Add", "3x5 3x1"}, {"Sigmoid", "3x5"}, {"Relu", "2x3x5"}};
  for (const SolvedTasks& tasks : problems) {
    const BoundProblem& elementwise = tasks.list.tasks.front().bound;
    const auto tensor_at = [&](TensorId id) -> const TaskTensor& { return tasks.list.tensors[id]; };
    for (const BoundProblem& narrow : narrowed(elementwise, tensor_at)) {
      SCOPED_TRACE(print(narrow.problem));
      expect_same(tasks.solution(elementwise), tasks.solution(narrow));
      ++found[narrow.problem.family];
    }
  }
  EXPECT_EQ(found, (std::map<std::string, int>{{"bias", 1}, {"relu", 1}, {"sigmoid", 2}}));
}

TEST(ProblemSolver, AConvolutionWithItsPoolIsBothApart) {
  const std::string conv = "2x4x9x8 6x2x3x3 6 | group=2 pads=[1,0,2,1] | ";
  for (const std::string& pool :
       {std::string("MaxPool{kernel_shape=[2,3];strides=[2,2];pads=[0,1,1,0]}"),
        std::string("Relu AveragePool{kernel_shape=[3,2];strides=[2,1];pads=[1,0,1,1]}"),
        std::string("Tanh AveragePool{kernel_shape=[2,2];pads=[1,1,1,1];count_include_pad=1}")}) {
    SolvedTasks tasks("Conv", conv + pool);
    ASSERT_EQ(tasks.list.tasks.size(), 2u);
    const auto both =
        joined_with_pool(tasks.list.tasks.front(), tasks.list.tasks.back(), tasks.list);
    ASSERT_TRUE(both.has_value());
    for (const Task& task : tasks.list.tasks) tasks.run(task.bound);
    expect_same(tasks.value(tensor_of(both->bound, "dst")), tasks.solution(both->bound));
  }
}

TEST(ProblemSolver, AttentionIsItsStepsApart) {
  for (const std::string& line :
       {std::string("2x3x5x7 2x3x7x9 | | Mul(=0.5) Add(2x1x1x9) Softmax{axis=-1} MatMul(2x3x9x4)"),
        std::string("2x3x5x7 2x3x7x9 | | Div(=4.0) Softmax{axis=-1} MatMul(2x3x9x4) Relu"),
        std::string("1x2x5x7 1x2x7x9 | | Add(2x5x9) Softmax{axis=-1} MatMul(1x2x9x4) "
                    "Transpose{perm=[2,0,3,1]}")}) {
    SCOPED_TRACE(line);
    SolvedTasks tasks("MatMul", line);
    const std::optional<TensorId> zero = add_zero_mask(tasks.list);
    if (zero) tasks.add(tasks.list.tensors[*zero]);
    const auto attention = attention_of(TaskId(0), tasks.list, zero);
    ASSERT_TRUE(attention.has_value());
    EXPECT_EQ(attention->apart.size(), tasks.list.tasks.size());
    for (const Task& task : tasks.list.tasks) tasks.run(task.bound);
    const BoundProblem& all = attention->task.bound;
    expect_same(tasks.value(tensor_of(all, "dst")), tasks.solution(all));
  }
}

}  // namespace
}  // namespace morton::test
