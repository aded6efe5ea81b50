// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/algebra/chain.hpp"
#include "base/algebra/expression.hpp"
#include "base/indexed.hpp"
#include "base/rooms.hpp"
#include "source/work_program.hpp"

namespace morton::source {

struct WorkNode;
using WorkNodeId = Id<WorkNode>;

/// A value of a work program: an instruction with the values and numbers that it takes.
struct WorkNode {
  WorkCode code = WorkCode::fill;
  std::vector<WorkNodeId> values;
  std::array<std::int32_t, 2> numbers{};
  /// Of whole numbers and truth values: what it lies between.
  std::int64_t least = std::numeric_limits<std::int32_t>::min();
  std::int64_t most = std::numeric_limits<std::int32_t>::max();

  /// The same for all elements: computed once.
  [[nodiscard]] bool is_fixed() const {
    return code == WorkCode::fill || code == WorkCode::load_single;
  }
};

/// The values of a work program, each once: what is computed of the same values by the same
/// instruction is the same value. Whole numbers are simplified by what they lie between.
class WorkNodes {
 public:
  [[nodiscard]] const WorkNode& at(WorkNodeId id) const { return nodes_[id]; }

  /// The elements' numbers, of so many.
  WorkNodeId element(std::int64_t elements);
  WorkNodeId whole(std::int64_t value);
  WorkNodeId real(double value);
  /// `array` [`index`], of an array that has one element if `is_single`.
  WorkNodeId load(std::size_t array, WorkNodeId index, bool is_single);
  /// The instruction of a chain's operation.
  WorkNodeId scalar(ScalarOp op, std::vector<WorkNodeId> values);
  WorkNodeId converted(WorkCode code, WorkNodeId value);

  WorkNodeId add(WorkNodeId a, WorkNodeId b);
  WorkNodeId subtract(WorkNodeId a, WorkNodeId b);
  WorkNodeId multiply(WorkNodeId a, WorkNodeId b);
  WorkNodeId divide(WorkNodeId a, WorkNodeId b);
  WorkNodeId remainder(WorkNodeId a, WorkNodeId b);
  WorkNodeId least(WorkNodeId a, WorkNodeId b);
  WorkNodeId most(WorkNodeId a, WorkNodeId b);
  WorkNodeId less(WorkNodeId a, WorkNodeId b);
  WorkNodeId less_equal(WorkNodeId a, WorkNodeId b);
  WorkNodeId equal(WorkNodeId a, WorkNodeId b);
  WorkNodeId both(WorkNodeId a, WorkNodeId b);
  WorkNodeId either(WorkNodeId a, WorkNodeId b);
  WorkNodeId negated(WorkNodeId truth);
  /// `a` where the condition holds, else `b`.
  WorkNodeId select(WorkNodeId condition, WorkNodeId a, WorkNodeId b);

  /// The value of an expression, with its variables as `named` and `sizes` have them.
  WorkNodeId of(const Expression& expression, const std::map<std::string, WorkNodeId>& named,
                const Environment& sizes);

 private:
  /// What of a node tells it from others.
  using Key = std::tuple<WorkCode, std::vector<WorkNodeId>, std::array<std::int32_t, 2>>;

  WorkNodeId of(const Expression::Node& node, const std::map<std::string, WorkNodeId>& named,
                const Environment& sizes);
  WorkNodeId make(WorkNode node);
  WorkNodeId compare(WorkCode code, WorkNodeId a, WorkNodeId b);
  /// Whether it is a number, and which.
  [[nodiscard]] bool is_number(WorkNodeId id, std::int64_t& value) const;

  Indexed<WorkNodeId, WorkNode> nodes_;
  std::map<Key, WorkNodeId> known_;
};

}  // namespace morton::source
