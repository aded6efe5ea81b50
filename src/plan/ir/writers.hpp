// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/ir/plan.hpp"

namespace morton::plan {

/// One step that writes one value. Steps are numbered as they run, those of loading first.
struct Write {
  std::size_t step = 0;
  ValueId value;
  MemoryRange range;
  /// It computes in place from a value that is no part of its own: the memory has a new content.
  bool replaces = false;
  bool operator==(const Write&) const = default;
};

/// Which steps make the content of each value of a plan. Memory has several names over time: the
/// parts of a joined tensor are written one by one, a part of a tensor is written with the whole,
/// and a step that computes in place gives the memory to a new value.
class Writers {
 public:
  explicit Writers(const Plan& plan);

  /// The writes that make the content of a value, in order; none where nobody writes it before its
  /// memory is overwritten in place (an input, a constant).
  [[nodiscard]] std::vector<Write> of(ValueId value) const;
  /// All writes to the memory of a value, whatever name they use. In order.
  [[nodiscard]] const std::vector<Write>& to_memory_of(ValueId value) const;
  /// Whether `value` is `whole`, or a name or part of it.
  [[nodiscard]] bool is_within(ValueId value, ValueId whole) const;

 private:
  /// The value itself where steps write it under its name, else the nearest that it is a name or a
  /// part of for which that holds, else the root.
  [[nodiscard]] ValueId written_name(ValueId value) const;
  /// Write::replaces of this step and value. A step that fills the rest of a joined tensor with
  /// what one of its parts holds works within one memory too, and replaces nothing.
  [[nodiscard]] bool replaces(const Step& step, ValueId value) const;
  const Plan& plan_;
  Indexed<ValueId, std::size_t> own_;            ///< how many writes name each value
  Indexed<ValueId, std::vector<Write>> writes_;  ///< by root
};

}  // namespace morton::plan
