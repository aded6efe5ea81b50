// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "source/element.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// The loops of an operand's layout, by which a kernel goes through its memory in order: the
/// innermost loop is a line, the one around it counts lines, those outside are units. Coordinates
/// are sums of the loops' counters, so that the place of an element along a line costs no division.
class LoopNest {
 public:
  /// Of `dst`; none where it has a pitch, or its view shows a part.
  [[nodiscard]] static std::optional<LoopNest> of(const InstanceOperand& dst);

  /// dst's coordinates in terms of the counters; the innermost one is the macros' "(i)".
  [[nodiscard]] const std::vector<Expression>& coordinates() const { return coordinates_; }
  /// An index or coordinate in these terms, without the divisions that the counters' bounds spare.
  [[nodiscard]] Expression reduced(const Expression& expression) const {
    return expression.reduced(below_);
  }
  /// NEST_LINES, NEST_LENGTH, NEST_SHORT, NEST_BLOCK, NEST_EACH_LINE(line, first, end) with the two
  /// that it consists of, NEST_EACH_UNIT(line, first, end) and NEST_AT_LINE(line), and NEST_DATA.
  [[nodiscard]] std::vector<MacroText> macros() const;
  /// The arguments among the names in `expression`.
  [[nodiscard]] std::set<std::string> sizes_in(const Expression& expression) const;
  /// The arguments that the macros need.
  [[nodiscard]] std::set<std::string> sizes() const;

 private:
  explicit LoopNest(const InstanceOperand& dst);
  [[nodiscard]] std::string each_unit() const;
  [[nodiscard]] std::string at_line() const;
  std::vector<Expression> count_loops();
  void split(const Expression& whole, std::size_t group, std::vector<Expression>& tensor);
  void add_bound(const Expression& whole, const Expression& below, const Expression& end);
  /// Of the `back`-th loop from the innermost; 1 where there are fewer.
  [[nodiscard]] Expression extent_from_inside(std::size_t back) const;

  const InstanceOperand* dst_;
  std::vector<Expression> extents_;  ///< of the loops, outermost first
  std::vector<Expression> coordinates_;
  Expression data_;  ///< of a line: elements up to the end of dst, perhaps more than there are
  /// A line that lies in dst has coordinates below these.
  std::vector<std::pair<Expression, Expression>> bounds_;
  std::map<std::string, std::int64_t> below_;  ///< of the counters
};

}  // namespace morton::source
