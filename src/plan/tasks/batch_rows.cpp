// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/batch_rows.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::plan {
namespace {

class RowProof {
 public:
  RowProof(const TaskList& tasks, std::int64_t batch)
      : tasks_(tasks), batch_(batch), known_(tasks.tensors.size()) {}

  void run(const std::vector<bool>& batched) {
    for (std::size_t i = 0; i < tasks_.inputs.size(); ++i) {
      known_[tasks_.inputs[i].second] = batched[i];
    }
    for (const Task& task : tasks_.tasks) {
      std::optional<bool>& known = known_[tensor_of(task.bound, "dst")];
      const bool rows = prove(task);
      if (known && *known != rows) {
        fail(task, "joins rows of the batch with what has none");
      }
      known = rows;
    }
    for (const auto& [name, tensor] : tasks_.outputs) {
      if (has_rows(tensor)) continue;
      throw UnsupportedError("split: output '" + name + "' " + to_string(tensor_at(tensor).shape) +
                             " does not depend on the batch row by row, so it cannot be gathered "
                             "from several devices; use one");
    }
  }

 private:
  const TaskTensor& tensor_at(TensorId tensor) const { return tasks_.tensors[tensor]; }

  bool has_rows(TensorId tensor) {
    std::optional<bool>& known = known_[tensor];
    if (known) return *known;
    const TaskTensor& facts = tensor_at(tensor);
    known = facts.alias_of && has_rows(facts.alias_of);
    // The same elements in the same order: as many rows are the same rows.
    if (*known && !starts_with_batch(facts.shape)) {
      throw UnsupportedError("split: '" + facts.name + "' " + to_string(facts.shape) +
                             " joins the batch of " + std::to_string(batch_) +
                             " with other dimensions, so it cannot be cut; use one device");
    }
    return *known;
  }

  bool starts_with_batch(const Shape& shape) const {
    return !shape.empty() && shape.front() == batch_;
  }

  [[noreturn]] static void fail(const Task& task, const std::string& why) {
    throw UnsupportedError("split: node '" + task.name + "' (" + task.bound.problem.family.name() +
                           ") " + why + ", so the batch cannot be cut; use one device");
  }

  /// Whether the task's result has rows.
  bool prove(const Task& task) {
    bool any = false;
    for (const auto& [role, binding] : task.bound.operands) {
      if (role != "dst") any = has_rows(binding.tensor) || any;
    }
    for (const Side& side : task.bound.sides) any = has_rows(side.tensor) || any;
    if (!any) return false;
    const Binding& dst = task.bound.operands.at("dst");
    if (!starts_with_batch(tensor_at(dst.tensor).shape)) {
      fail(task, "makes " + to_string(tensor_at(dst.tensor).shape) + " of a batch of " +
                     std::to_string(batch_));
    }
    const Expression row = dst.view.coordinates.front();
    check_mixed(task, row);
    for (const auto& [role, binding] : task.bound.operands) {
      if (role != "dst") check_operand(task, binding, row);
    }
    const std::size_t rank = tensor_at(dst.tensor).shape.size();
    for (const Side& side : task.bound.sides) check_side(task, side, rank);
    return true;
  }

  static void check_mixed(const Task& task, const Expression& row) {
    const auto& mixes = task.bound.problem.family->mixes;
    if (!mixes) fail(task, "is not known to keep rows apart");
    for (const std::string_view dimension : *mixes) {
      if (row.variables().contains(coordinate_name(std::string(dimension)))) {
        fail(task, "computes along the batch");
      }
    }
  }

  void check_operand(const Task& task, const Binding& binding, const Expression& row) {
    const std::string name = "'" + tensor_at(binding.tensor).name + "'";
    if (has_rows(binding.tensor)) {
      if (binding.view.coordinates.front() == row) return;
      fail(task, "reads " + name + " at row " + binding.view.coordinates.front().print() +
                     " for row " + row.print());
    }
    for (const Expression& coordinate : binding.view.coordinates) {
      for (const std::string& variable : coordinate.variables()) {
        if (is_coordinate(task, variable) && row.variables().contains(variable)) {
          fail(task, "reads " + name + ", which has a row for each of the batch but is no input");
        }
      }
    }
  }

  /// Expressions also name extents and structure, which are the same for every row.
  static bool is_coordinate(const Task& task, const std::string& variable) {
    const auto dimensions = dimensions_of(task.bound, "dst");
    return std::any_of(dimensions.begin(), dimensions.end(), [&](const std::string& dimension) {
      return coordinate_name(dimension) == variable;
    });
  }

  void check_side(const Task& task, const Side& side, std::size_t rank) {
    const bool by_row = side.shape.size() == rank && starts_with_batch(side.shape);
    if (by_row == has_rows(side.tensor)) return;
    fail(task, "reads '" + tensor_at(side.tensor).name + "' as " + to_string(side.shape) +
                   ", which does not go with the rows of the batch");
  }

  const TaskList& tasks_;
  std::int64_t batch_;
  Indexed<TensorId, std::optional<bool>> known_;  ///< by tensor: whether it has rows
};

}  // namespace

void require_independent_rows(const TaskList& tasks, const std::vector<bool>& batched,
                              std::int64_t batch) {
  RowProof(tasks, batch).run(batched);
}

}  // namespace morton::plan
