// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/indexed.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "problems/problem.hpp"

namespace morton::plan {

/// A tensor as the planner sees it: a graph's, or a recipe's temporary.
struct TaskTensor {
  enum class Kind : std::uint8_t {
    input,
    constant,
    activation,
    state,      ///< kept between runs, starts as `data`
    temporary,  ///< of a recipe
    derived,    ///< a temporary that is computed from constants alone
  } kind = Kind::activation;
  std::string name;
  DType dtype = DType::f32;
  /// An f32 tensor that lies in memory as `dtype`, which is shorter; as f32 where the kernel that
  /// writes it, or reads its copy, has no other type (plan/tasks/rounding.hpp).
  bool is_rounded = false;
  Shape shape;
  Tensor data;        ///< of constants and states
  TensorId alias_of;  ///< same elements, row-major, under another shape
  bool is_output = false;
  /// How many tasks write it, one after the other, each its part; such a tensor lies row-major.
  int parts = 0;
};

/// The type of its numbers, however they lie in memory.
[[nodiscard]] inline DType number_type(const TaskTensor& tensor) {
  return tensor.is_rounded ? DType::f32 : tensor.dtype;
}

/// A node of the graph as a problem whose operands are tasks' tensors.
struct Task {
  std::string name;  ///< of the node with what is fused into it; of several problems, numbered
  BoundProblem bound;
  std::string node{};  ///< of the graph, by name; none where several are one task
};

using TaskId = Id<Task>;

/// The graph in the planner's terms.
struct TaskList {
  Indexed<TensorId, TaskTensor> tensors;  ///< the graph's, under the same ids; then others
  Indexed<TaskId, Task> tasks;
  std::vector<std::pair<std::string, TensorId>> inputs, outputs;
  std::vector<std::pair<TensorId, TensorId>>
      updates;  ///< a state, and the tensor whose value it takes
};

/// Lowers every node; Reshape and its like become aliases.
[[nodiscard]] MORTON_FOR_TOOLS TaskList make_tasks(const Graph& graph);

/// Tensor of the problem's operand `role`.
[[nodiscard]] TensorId tensor_of(const BoundProblem& bound, const std::string& role);

/// Dimensions of an operand of a problem: the family's, or the view's for families of any rank.
[[nodiscard]] std::vector<std::string> dimensions_of(const BoundProblem& bound,
                                                     const std::string& role);

/// "D0", "D1", ... : the dimensions of problems of any rank.
[[nodiscard]] std::vector<std::string> numbered_dimensions(std::size_t rank);

/// The elementwise problem dst = chain(src, sides) on whole tensors of `shape`.
[[nodiscard]] BoundProblem elementwise_problem(TensorId src, TensorId dst, const Shape& shape,
                                               const Chain& chain, std::vector<Side> sides);

}  // namespace morton::plan
