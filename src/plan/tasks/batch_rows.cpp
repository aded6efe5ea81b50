// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/batch_rows.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "problems/row_labels.hpp"

namespace morton::plan {
namespace {

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

  LabelledTensor labelled(TensorId tensor) {
    const TaskTensor& facts = tensor_at(tensor);
    LabelledTensor result{facts.name, facts.shape, RowLabels(facts.shape.size(), 0)};
    if (const RowDimension rows = rows_of(tensor)) result.labels[*rows] = 1;
    return result;
  }

  /// Where the task's result has rows.
  RowDimension prove(const Task& task) {
    const TensorId dst = tensor_of(task.bound, "dst");
    const LabelledResult result = labels_of_result(task.bound, [&](TensorId tensor) {
      const TaskTensor& facts = tensor_at(tensor);
      return tensor == dst ? LabelledTensor{facts.name, facts.shape, {}} : labelled(tensor);
    });
    if (!result.objection.empty()) fail(task, result.objection);
    const auto found = std::ranges::find(result.labels, 1);
    if (found == result.labels.end()) return std::nullopt;
    if (std::ranges::count(result.labels, 1) != 1) fail(task, "pairs each row with all others");
    const auto rows = static_cast<std::size_t>(found - result.labels.begin());
    if (tensor_at(dst).shape[rows] != batch_) {
      fail(task,
           "makes " + to_string(tensor_at(dst).shape) + " of a batch of " + std::to_string(batch_));
    }
    return rows;
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
