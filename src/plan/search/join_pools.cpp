// SPDX-License-Identifier: Apache-2.0
#include "plan/search/join_pools.hpp"

#include <algorithm>
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

/// Whether the operand is a whole tensor of as many dimensions, each where it is expected.
bool is_plain(const BoundProblem& bound, const std::string& role) {
  const View& view = bound.operands.at(role).view;
  return !view.bounded && view.print() == View::identity(view.dimensions).print();
}

bool is_f32(const BoundProblem& bound, const TaskList& tasks) {
  const auto is_float = [&](TensorId tensor) { return tasks.tensors[tensor].dtype == DType::f32; };
  return std::ranges::all_of(bound.operands,
                             [&](const auto& one) { return is_float(one.second.tensor); }) &&
         std::ranges::all_of(bound.sides, [&](const Side& side) { return is_float(side.tensor); });
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

/// The pool that alone reads what the convolution computes, or none.
TaskId pool_behind(TaskId conv, const TaskList& tasks) {
  const TensorId result = tensor_of(tasks.tasks[conv].bound, "dst");
  const TaskTensor& tensor = tasks.tensors[result];
  if (tensor.is_output || tensor.parts > 1) return {};
  for (const TaskTensor& other : tasks.tensors) {
    if (other.alias_of == result) return {};
  }
  for (const auto& [state, value] : tasks.updates) {
    if (value == result) return {};
  }
  TaskId reader;
  for (const TaskId t : tasks.tasks.ids_from(conv.moved(1))) {
    const BoundProblem& bound = tasks.tasks[t].bound;
    const auto reads_side = [&](const Side& side) { return side.tensor == result; };
    if (std::ranges::any_of(bound.sides, reads_side)) return {};
    for (const auto& [role, binding] : bound.operands) {
      if (role == "dst" || binding.tensor != result) continue;
      if (reader || !is_pool(tasks.tasks[t])) return {};
      reader = t;
    }
  }
  return reader;
}

/// Whether PlanOptions::use asks for kernels that a joined step would leave out.
bool is_asked_apart(const PlanOptions& options) {
  return !options.use.contains(kJoined) && std::ranges::any_of(options.use, [](const auto& wanted) {
    const std::string& family = wanted.first;
    return family == families::conv2d || family == families::max_pool2d ||
           family == families::average_pool2d || is_narrow_family(family);
  });
}

bool may_be_decided(const std::string& task, const PlanOptions& options) {
  return options.built == nullptr || options.built->decisions.contains(task);
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

bool is_measured(const Candidate& candidate) { return (*candidate.kernels.begin()).is_tuned; }

std::string us_text(double us) {
  std::string text = std::to_string(us);
  return text.substr(0, text.find('.') + 2) + " us";
}

/// Decides over pairs, one after the other.
class PoolFuser {
 public:
  PoolFuser(const PlanContext& context, CandidateMemo& memo, JoinNotes& notes)
      : context_(context), memo_(memo), notes_(notes) {}

  /// True where one step is the better one.
  bool pays(const Task& conv, const Task& pool, const Task& both) {
    const std::string pair = conv.name + ", and " + pool.name + " behind it: ";
    if (!may_be_decided(both.name, context_.options)) return false;
    const bool is_wanted = context_.options.use.contains(kJoined);
    const auto one = memo_.find(both);
    if (one->candidates.empty()) {
      notes_.considered.push_back(pair + "two steps; no kernel does both" +
                                  lines_of(one->rejections));
      add_left_out_by_self_tests(one->rejections, notes_.left_out_by_self_tests);
      return false;
    }
    const Candidate& best = one->candidates.front();
    const std::string text = best.name + " in " + us_text(run_us(best));
    const bool only_built =
        context_.options.built != nullptr && !may_be_decided(conv.name, context_.options);
    if (is_wanted || only_built) {
      notes_.considered.push_back(pair + "one step, " + text +
                                  (is_wanted ? ", as asked" : ", as it is built"));
      return true;
    }
    const auto of_conv = memo_.list(conv);
    const auto of_pool = memo_.list(pool);
    const Candidate& first = of_conv->candidates.front();
    const Candidate& second = of_pool->candidates.front();
    const double apart_us = first.estimated_us + second.estimated_us +
                            (is_measured(best) ? map_us(both.bound.problem, context_) : 0.0);
    const bool is_better = best.estimated_us < apart_us;
    notes_.considered.push_back(
        pair + (is_better ? "one step, " : "two steps, not ") + text + "; apart " + first.name +
        " in " + us_text(run_us(first)) + " and " + second.name + " in " + us_text(run_us(second)) +
        (is_measured(best) ? ", and the map, which was measured with the former" : ""));
    return is_better;
  }

 private:
  const PlanContext& context_;
  CandidateMemo& memo_;
  JoinNotes& notes_;
};

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
  if (is_asked_apart(context.options)) return list;
  PoolFuser fuser(context, memo, notes);
  std::set<TaskId> dropped;
  for (const TaskId t : context.tasks.tasks.ids()) {
    const Task& conv = context.tasks.tasks[t];
    if (conv.bound.problem.family != families::conv2d) continue;
    const TaskId p = pool_behind(t, context.tasks);
    if (!p) continue;
    const Task& pool = context.tasks.tasks[p];
    std::optional<Task> both = joined_with_pool(conv, pool, context.tasks);
    if (!both || !fuser.pays(conv, pool, *both)) continue;
    // Where the pool stands all of its operands are known.
    list.tasks[p] = std::move(*both);
    dropped.insert(t);
  }
  Indexed<TaskId, Task> kept;
  for (const TaskId t : list.tasks.ids()) {
    if (!dropped.contains(t)) kept.add(std::move(list.tasks[t]));
  }
  list.tasks = std::move(kept);
  return list;
}

}  // namespace morton::plan
