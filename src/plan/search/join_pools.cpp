// SPDX-License-Identifier: Apache-2.0
#include "plan/search/join_pools.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/tasks/narrow.hpp"
#include "problems/conv2d_pool.hpp"

namespace morton::plan {
namespace {

constexpr Family kJoined = families::conv2d_pool;

bool is_pool(const Task& task) {
  const Family family = task.bound.problem.family;
  return family == families::max_pool2d || family == families::average_pool2d;
}

/// The bias of dimension O, where the side operand has one element for each channel of an image.
std::optional<Binding> bias_of(const Side& side, const TaskTensor& tensor, std::int64_t outputs) {
  if (element_count(side.shape) != outputs) return std::nullopt;
  if (outputs > 1 && (side.shape.size() < 3 || side.shape[side.shape.size() - 3] != outputs)) {
    return std::nullopt;
  }
  std::vector<Expression> coordinates;
  std::vector<Expression> extents;
  for (const std::int64_t extent : tensor.shape) {
    const bool is_channel = extent == outputs && outputs > 1;
    coordinates.push_back(is_channel ? Expression::variable("o") : Expression(0));
    extents.push_back(is_channel ? Expression::variable("O") : Expression(1));
  }
  return Binding{side.tensor, View::mapped({"O"}, std::move(coordinates), extents)};
}

/// The structure of a convolution and the pool behind it; nothing where a problem of both has no
/// place for the pool's.
std::optional<Conv2dPoolStructure> structure_of_both(const Problem& conv, PooledMap map,
                                                     const Problem& pool) {
  Conv2dPoolStructure both;
  both.conv = structure_of<Conv2dStructure>(conv.structure);
  both.map = map;
  both.window = structure_of<SlidingWindow>(pool.structure);
  if (both.window.dilation != SlidingWindow::Pair{1, 1}) return std::nullopt;
  both.combine = Conv2dPoolStructure::Combine::largest;
  if (pool.family == families::average_pool2d) {
    const auto average = structure_of<AveragePool2dStructure>(pool.structure);
    both.combine = Conv2dPoolStructure::Combine::mean;
    both.after = average.after;
    both.count = average.count;
  }
  return both;
}

/// Whether kernels are named for either, or for what is fused into the convolution.
bool is_either_asked(const PlanContext& context) {
  const auto& use = context.options.use;
  const auto is_narrow = [](const auto& wanted) { return is_narrow_family(wanted.first); };
  return is_asked_apart(context.policy, kJoined,
                        {families::conv2d, families::max_pool2d, families::average_pool2d}) ||
         (!use.contains(kJoined) && std::ranges::any_of(use, is_narrow));
}

/// What a map takes besides the convolution, which no kernel's cost counts but what was measured of
/// one that does both: some thirty operations for a function, by vectors.
double map_us(const Problem& both, const PlanContext& context) {
  const PooledMap map = structure_of<Conv2dPoolStructure>(both.structure).map;
  const double operations = map == PooledMap::none ? 1.0 : map == PooledMap::relu ? 2.0 : 30.0;
  double elements = 1.0;
  for (const char* name : {"N", "O", "RH", "RW"}) {
    elements *= static_cast<double>(both.extents.at(name));
  }
  constexpr double kEfficiency = 0.25;
  return step_cost_us(operations * elements, kEfficiency, 0.0, context.device) -
         step_cost_us(0.0, kEfficiency, 0.0, context.device);
}

}  // namespace

std::optional<Task> joined_with_pool(const Task& conv, const Task& pool, const TaskList& tasks) {
  const Problem& first = conv.bound.problem;
  const auto map = pooled_map_behind_bias(first.epilogue);
  if (!map || conv.bound.sides.size() != 1 || !is_f32(conv.bound, tasks) ||
      !is_f32(pool.bound, tasks)) {
    return std::nullopt;
  }
  for (const char* role : {"src", "weights", "dst"}) {
    if (!is_plain(conv.bound, role)) return std::nullopt;
  }
  if (!is_plain(pool.bound, "src") || !is_plain(pool.bound, "dst")) return std::nullopt;
  const Side& side = conv.bound.sides.front();
  const TaskTensor& addend = tasks.tensors[side.tensor];
  const auto bias = bias_of(side, addend, first.extents.at("O"));
  if (!bias) return std::nullopt;
  Task task{conv.name + "+" + pool.name, {}};
  Problem& problem = task.bound.problem;
  problem.family = kJoined;
  problem.extents = first.extents;
  problem.extents["RH"] = first.extents.at("OH");
  problem.extents["RW"] = first.extents.at("OW");
  problem.extents["OH"] = pool.bound.problem.extents.at("OH");
  problem.extents["OW"] = pool.bound.problem.extents.at("OW");
  const auto structure = structure_of_both(first, *map, pool.bound.problem);
  if (!structure) return std::nullopt;
  problem.structure = numbers_of(*structure);
  problem.types = first.types;
  problem.types["bias"] = DType::f32;
  problem.epilogue = pool.bound.problem.epilogue;
  task.bound.operands["src"] = conv.bound.operands.at("src");
  task.bound.operands["weights"] = conv.bound.operands.at("weights");
  task.bound.operands["bias"] = *bias;
  task.bound.operands["dst"] = {tensor_of(pool.bound, "dst"),
                                View::identity({"N", "O", "OH", "OW"})};
  task.bound.sides = pool.bound.sides;
  return task;
}

TaskList join_pools(const PlanContext& context, CandidateMemo& memo, JoinNotes& notes) {
  TaskList list = context.tasks;
  if (is_either_asked(context)) return list;
  TaskJoiner joiner(context, memo, notes);
  std::set<TaskId> dropped;
  for (const TaskId t : context.tasks.tasks.ids()) {
    const Task& conv = context.tasks.tasks[t];
    if (conv.bound.problem.family != families::conv2d) continue;
    const TaskId p = sole_reader(tensor_of(conv.bound, "dst"), context.tasks);
    if (!p || !is_pool(context.tasks.tasks[p])) continue;
    const Task& pool = context.tasks.tasks[p];
    std::optional<Task> both = joined_with_pool(conv, pool, context.tasks);
    if (!both) continue;
    const std::array apart{&conv, &pool};
    const std::string what = conv.name + ", and " + pool.name + " behind it: ";
    const JoinExtras extras{.measured_us = map_us(both->bound.problem, context)};
    if (!joiner.pays(apart, *both, what, extras)) continue;
    // Where the pool stands all of its operands are known.
    list.tasks[p] = std::move(*both);
    dropped.insert(t);
  }
  return without(std::move(list), dropped);
}

}  // namespace morton::plan
