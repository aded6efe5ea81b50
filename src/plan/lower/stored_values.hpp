// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "plan/lower/schedule.hpp"

namespace morton::plan {

/// The values of a schedule, and which of them store each tensor. A tensor is one of
/// the task list's, or a temporary of the candidate that was entered last.
class StoredValues {
 public:
  StoredValues(const TaskList& tasks, Values& values);

  /// From here on, temporaries are this candidate's.
  void enter(const Candidate& candidate);
  /// From here on, no kernel of a candidate is laid out.
  void leave() { candidate_ = nullptr; }
  /// The temporaries of the candidate that is laid out; none after `leave`.
  [[nodiscard]] const Temporaries& temporaries() const;

  [[nodiscard]] const Values& all() const { return values_; }
  [[nodiscard]] Value& at(ValueId id) { return values_[id]; }
  [[nodiscard]] const Value& at(ValueId id) const { return values_[id]; }
  /// A tensor of the task list.
  [[nodiscard]] const TaskTensor& tensor(TensorId id) const;
  [[nodiscard]] Arrangement row_major(TensorId tensor) const;
  [[nodiscard]] bool is_constant(TensorId tensor) const;

  /// The values that store a tensor, in the order that they were made.
  [[nodiscard]] std::vector<ValueId>& of(TensorId tensor);

  ValueId add(const std::string& name, Value::Kind kind, const Arrangement& arrangement);
  /// The value of a temporary of the candidate.
  ValueId add_temporary(TensorId tensor);
  /// A constant of the task list in this arrangement, with zeros around it.
  ValueId add_constant(TensorId tensor, const Arrangement& arrangement);
  /// A constant under another row-major shape; each only once.
  ValueId reshaped_constant(TensorId tensor, const Shape& shape);
  /// The same memory seen as another row-major shape.
  ValueId reshaped(ValueId value, const Shape& shape);
  /// The same memory under another arrangement of as many bytes.
  ValueId shared(ValueId value, const Arrangement& arrangement);

 private:
  const TaskList& tasks_;
  Values& values_;
  Indexed<TensorId, std::vector<ValueId>> of_tensors_;
  std::vector<std::vector<ValueId>> of_temporaries_;
  const Candidate* candidate_ = nullptr;
  Temporaries no_temporaries_;
  std::map<std::pair<TensorId, Shape>, ValueId> reshaped_;  ///< constants, by tensor and shape
};

}  // namespace morton::plan
