// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/tune_problem.hpp"

#include <optional>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "passes/pipeline.hpp"
#include "plan/cost/cost.hpp"
#include "plan/search/join_pools.hpp"
#include "plan/tasks/tasks.hpp"
#include "tools/tuning/image_model.hpp"

namespace morton::tools {
namespace {

GemmShape::Order order_of(const TunedProblem& problem, const std::string& operand,
                          const std::string& transposed) {
  const auto order = problem.orders.find(operand);
  if (order == problem.orders.end()) return GemmShape::Order::plain;
  if (order->second == transposed) return GemmShape::Order::transposed;
  throw UnsupportedError("tune: " + operand + " is held as " + order->second +
                         ", which no matrix of a product is");
}

void require_f32(const TunedProblem& problem) {
  for (const auto& [operand, type] : problem.types) {
    if (type == "f32") continue;
    throw UnsupportedError("tune: measures problems of f32 only, not of " + type);
  }
}

BoundProblem bound_in(const Model& model, Family family) {
  Graph graph = Inside::of(model);
  run_passes(graph, PassOptions{});
  const TaskList list = make_tasks(graph);
  if (!is_made_of_two(family)) return list.tasks.front().bound;
  const std::optional<Task> both =
      list.tasks.size() < 2 ? std::nullopt
                            : joined_with_pool(list.tasks[TaskId(0)], list.tasks[TaskId(1)], list);
  if (both) return both->bound;
  throw UnsupportedError("tune: no graph poses this problem of " + family.name());
}

}  // namespace

Model with_constants(const Model& model, const std::vector<NamedTensor>& constants) {
  Graph graph = Inside::of(model);
  for (const NamedTensor& constant : constants) {
    const TensorId id = graph.find(constant.name);
    if (id == kNoTensor) throw InternalError("tune: no input '" + constant.name + "'");
    GraphTensor& tensor = graph.tensor(id);
    tensor.kind = GraphTensor::Kind::constant;
    tensor.declared.clear();
    tensor.shape = constant.tensor.shape();
    tensor.data = constant.tensor;
    std::erase(graph.inputs, id);
  }
  verify(graph, "problem with constants");
  return Inside::make(std::move(graph));
}

bool can_be_posed(Family family) { return family == families::gemm || reads_an_image(family); }

Model model_of(const TunedProblem& problem) {
  if (problem.family == families::gemm) return gemm_model(shape_of(problem));
  if (!reads_an_image(problem.family)) {
    throw UnsupportedError("tune: measures products, convolutions and pools, not " +
                           problem.family.name());
  }
  require_f32(problem);
  Model model = image_model(problem);
  if (TunedProblem::of(bound_in(model, problem.family)) != problem) {
    throw UnsupportedError("tune: no graph poses this problem of " + problem.family.name());
  }
  return model;
}

BoundProblem bound_of(const TunedProblem& problem) {
  return bound_in(model_of(problem), problem.family);
}

std::vector<TunedProblem> parts_of(const TunedProblem& problem) {
  if (!is_made_of_two(problem.family)) return {};
  Graph graph = Inside::of(model_of(problem));
  run_passes(graph, PassOptions{});
  std::vector<TunedProblem> parts;
  for (const Task& task : make_tasks(graph).tasks) parts.push_back(TunedProblem::of(task.bound));
  return parts;
}

TunedProblem problem_of(const GemmShape& shape) {
  return TunedProblem::of(bound_in(gemm_model(shape), families::gemm));
}

GemmShape shape_of(const TunedProblem& problem) {
  if (problem.family != families::gemm) {
    throw UnsupportedError("tune: no product, but " + problem.family.name());
  }
  require_f32(problem);
  const auto extent = [&](const char* name) {
    const auto found = problem.extents.find(name);
    if (found != problem.extents.end() && found->second > 0) return found->second;
    throw UnsupportedError(std::string("tune: a product needs the extent ") + name +
                           ", of 1 or more");
  };
  GemmShape shape;
  shape.m = extent("M");
  shape.n = extent("N");
  shape.k = extent("K");
  shape.lhs = order_of(problem, "lhs", "KM");
  shape.rhs = order_of(problem, "rhs", "NK");
  return shape;
}

double flop_of(const Entry& entry, const Problem& problem, const DeviceInfo& device) {
  const Environment tunables = standard_tunables(entry, environment_of(device));
  const Environment names = entry_environment(entry, problem, tunables, device, 0);
  return static_cast<double>(entry.cost.flop.evaluate(names));
}

}  // namespace morton::tools
