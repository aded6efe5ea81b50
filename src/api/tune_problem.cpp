// SPDX-License-Identifier: Apache-2.0
#include "api/tune_problem.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "passes/pipeline.hpp"
#include "plan/tasks.hpp"

namespace morton {
namespace {

GemmShape::Order order_of(const TunedProblem& problem, const std::string& operand,
                          const std::string& transposed) {
  const auto order = problem.orders.find(operand);
  if (order == problem.orders.end()) return GemmShape::Order::plain;
  if (order->second == transposed) return GemmShape::Order::transposed;
  throw UnsupportedError("tune: " + operand + " is held as " + order->second +
                         ", which no matrix of a product is");
}

}  // namespace

Model constant_gemm_model(const GemmShape& shape, const std::vector<NamedTensor>& inputs) {
  Graph graph = gemm_model(shape).graph();
  for (const NamedTensor& input : inputs) {
    const auto named = [&](const GraphTensor& tensor) { return tensor.name == input.name; };
    const auto found = std::ranges::find_if(graph.tensors, named);
    if (found == graph.tensors.end()) throw InternalError("tune: no input '" + input.name + "'");
    found->kind = GraphTensor::Kind::constant;
    found->declared.clear();
    found->shape = input.tensor.shape();
    found->data = input.tensor;
  }
  graph.inputs.clear();
  verify(graph, "product of constants");
  return Model(std::make_shared<const Graph>(std::move(graph)));
}

BoundProblem bound_gemm(const GemmShape& shape) {
  Graph graph = gemm_model(shape).graph();
  run_passes(graph, PassOptions{});
  return make_tasks(graph).tasks.front().bound;
}

GemmShape shape_of(const TunedProblem& problem) {
  if (problem.family != "gemm") {
    throw UnsupportedError("tune: measures products only, not " + problem.family);
  }
  for (const auto& [operand, type] : problem.types) {
    if (type == "f32") continue;
    throw UnsupportedError("tune: measures products of f32 only, not of " + type);
  }
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

double flop_of(const GemmShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

}  // namespace morton
