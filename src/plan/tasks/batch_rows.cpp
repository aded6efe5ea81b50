// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/batch_rows.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::plan {
namespace {

/// Why rows are not independent; nothing where they are.
using Objection = std::optional<std::string>;

class RowProof {
 public:
  RowProof(const TaskList& tasks, std::int64_t batch)
      : tasks_(tasks), batch_(batch), known_(tasks.tensors.size()) {}

  std::vector<std::size_t> run(const std::vector<RowDimension>& inputs) {
    for (std::size_t i = 0; i < tasks_.inputs.size(); ++i) {
      known_[tasks_.inputs[i].second] = inputs[i];
    }
    for (const Task& task : tasks_.tasks) {
      std::optional<RowDimension>& known = known_[tensor_of(task.bound, "dst")];
      const RowDimension rows = prove(task);
      if (known && *known != rows) {
        fail(task, "joins rows of the batch with what has none");
      }
      known = rows;
    }
    std::vector<std::size_t> outputs;
    for (const auto& [name, tensor] : tasks_.outputs) {
      const RowDimension rows = rows_of(tensor);
      if (!rows) {
        throw UnsupportedError("split: output '" + name + "' " +
                               to_string(tensor_at(tensor).shape) +
                               " does not depend on the batch row by row, so it cannot be "
                               "gathered from several devices; use one");
      }
      outputs.push_back(*rows);
    }
    return outputs;
  }

 private:
  const TaskTensor& tensor_at(TensorId tensor) const { return tasks_.tensors[tensor]; }

  RowDimension rows_of(TensorId tensor) {
    if (const auto& known = known_[tensor]) return *known;
    const TaskTensor& facts = tensor_at(tensor);
    RowDimension rows;
    if (facts.alias_of) {
      if (const RowDimension original = rows_of(facts.alias_of)) {
        rows = same_rows(tensor_at(facts.alias_of).shape, *original, facts.shape);
        if (!rows) {
          throw UnsupportedError("split: '" + facts.name + "' " + to_string(facts.shape) +
                                 " joins the batch of " + std::to_string(batch_) +
                                 " with other dimensions, so it cannot be cut; use one device");
        }
      }
    }
    known_[tensor] = rows;
    return rows;
  }

  /// Where the rows lie that are dimension `rows` of `shape`, in the same elements as `other`.
  RowDimension same_rows(const Shape& shape, std::size_t rows, const Shape& other) const {
    return row_dimension(other, batch_, row_major_strides(shape)[rows]);
  }

  [[noreturn]] static void fail(const Task& task, const std::string& why) {
    throw UnsupportedError("split: node '" + task.name + "' (" + task.bound.problem.family.name() +
                           ") " + why + ", so the batch cannot be cut; use one device");
  }

  /// Where the task's result has rows. At most one dimension of it is written at the coordinate at
  /// which rows are read, so the first without an objection is the one.
  RowDimension prove(const Task& task) {
    bool any = false;
    for (const auto& [role, binding] : task.bound.operands) {
      if (role != "dst") any = rows_of(binding.tensor).has_value() || any;
    }
    for (const Side& side : task.bound.sides) any = rows_of(side.tensor).has_value() || any;
    if (!any) return std::nullopt;
    if (!task.bound.problem.family->mixes) fail(task, "is not known to keep rows apart");
    const Shape& shape = tensor_at(task.bound.operands.at("dst").tensor).shape;
    Objection first;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] != batch_) continue;
      const Objection objection = objection_to(task, d);
      if (!objection) return d;
      if (!first) first = objection;
    }
    fail(task,
         first ? *first : "makes " + to_string(shape) + " of a batch of " + std::to_string(batch_));
  }

  /// To rows in dimension `d` of the task's result.
  Objection objection_to(const Task& task, std::size_t d) {
    const Binding& dst = task.bound.operands.at("dst");
    const Expression& row = dst.view.coordinates[d];
    for (const std::string_view dimension : *task.bound.problem.family->mixes) {
      if (row.variables().contains(coordinate_name(std::string(dimension)))) {
        return "computes along the batch";
      }
    }
    for (const auto& [role, binding] : task.bound.operands) {
      if (role == "dst") continue;
      if (Objection objection = objection_to_operand(task, binding, row)) return objection;
    }
    const Shape& shape = tensor_at(dst.tensor).shape;
    for (const Side& side : task.bound.sides) {
      if (Objection objection = objection_to_side(side, shape.size(), d)) return objection;
    }
    return std::nullopt;
  }

  Objection objection_to_operand(const Task& task, const Binding& binding, const Expression& row) {
    const std::string name = "'" + tensor_at(binding.tensor).name + "'";
    if (const RowDimension rows = rows_of(binding.tensor)) {
      const Expression& read = binding.view.coordinates[*rows];
      if (read == row) return std::nullopt;
      return "reads " + name + " at row " + read.print() + " for row " + row.print();
    }
    for (const Expression& coordinate : binding.view.coordinates) {
      for (const std::string& variable : coordinate.variables()) {
        if (is_coordinate(task, variable) && row.variables().contains(variable)) {
          return "reads " + name + ", which has a row for each of the batch but is no input";
        }
      }
    }
    return std::nullopt;
  }

  /// Expressions also name extents and structure, which are the same for every row.
  static bool is_coordinate(const Task& task, const std::string& variable) {
    const auto dimensions = dimensions_of(task.bound, "dst");
    return std::any_of(dimensions.begin(), dimensions.end(), [&](const std::string& dimension) {
      return coordinate_name(dimension) == variable;
    });
  }

  /// A side without rows must be the same for all rows; rows must lie where the result's do, which
  /// is dimension `d` of `rank`.
  Objection objection_to_side(const Side& side, std::size_t rank, std::size_t d) {
    const std::size_t missing = rank - std::min(rank, side.shape.size());
    const bool varies = d >= missing && side.shape[d - missing] != 1;
    const RowDimension rows = rows_of(side.tensor);
    if (!rows && !varies) return std::nullopt;
    if (rows && varies &&
        same_rows(tensor_at(side.tensor).shape, *rows, side.shape) == d - missing) {
      return std::nullopt;
    }
    return "reads '" + tensor_at(side.tensor).name + "' as " + to_string(side.shape) +
           ", which does not go with the rows of the batch";
  }

  const TaskList& tasks_;
  std::int64_t batch_;
  Indexed<TensorId, std::optional<RowDimension>> known_;  ///< by tensor: where its rows lie
};

}  // namespace

RowDimension row_dimension(const Shape& shape, std::int64_t batch, std::int64_t inner) {
  const Shape strides = row_major_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == batch && strides[d] == inner) return d;
  }
  return std::nullopt;
}

std::vector<std::size_t> require_independent_rows(const TaskList& tasks,
                                                  const std::vector<RowDimension>& inputs,
                                                  std::int64_t batch) {
  return RowProof(tasks, batch).run(inputs);
}

}  // namespace morton::plan
