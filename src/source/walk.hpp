// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/algebra/monomial.hpp"
#include "base/rooms.hpp"
#include "source/element.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// A way through dst's memory in steps of equal length, on which places of other operands cost
/// additions. The counter of each loop of dst's layout is written with digits of mixed radix: of a
/// loop over n, oh and ow joined those of OH * OW and OW, if places need all three. A step adds its
/// digits to those of the place, with carries. Only the first place and a loop's end take
/// divisions.
///
/// ```
///   e        0  1 .. 6 | 7  8 .. 13 | 14     OW = 7, so 5 has the digits 0, 5.
///   e / OW   0  0    0 | 1  1     1 |  2     A step of 5 from there: 0 + 0, 5 + 5.
///   e % OW   0  1    6 | 0  1     6 |  0     10 >= OW, so 3, and 1 carried: 1, 3.
/// ```
class Walk {
 public:
  /// Along `dst`; none where it has a pitch or tiles, or its view shows a part.
  [[nodiscard]] static std::optional<Walk> of(const InstanceOperand& dst);

  /// dst's coordinates in terms of the loops' counters.
  [[nodiscard]] const std::vector<Expression>& coordinates() const { return coordinates_; }
  /// Takes a place or a coordinate in these terms, for `text_of`. False where it is no sum of
  /// digits.
  [[nodiscard]] bool take(const Expression& position);
  /// Works out the digits. False where positions disagree on them. No position may follow.
  [[nodiscard]] bool finish();
  /// The `i`-th position that was taken, in terms of digits.
  [[nodiscard]] std::string text_of(std::size_t i) const;
  /// WALK_DECLARE(step), WALK_START(e), WALK_STEP and WALK_INSIDE.
  [[nodiscard]] std::vector<MacroText> macros() const;
  /// Whether `lines` can be given.
  [[nodiscard]] bool has_lines() const;
  /// Along a line of dst, which is its innermost loop of more than one element: WALK_LENGTH,
  /// WALK_DECLARE, WALK_START(line, column), WALK_NEXT and WALK_INSIDE. The loops inside of it have
  /// one element, so element `column` of a line is number line * WALK_LENGTH + column.
  [[nodiscard]] std::vector<MacroText> lines() const;
  /// The arguments that all of this needs.
  [[nodiscard]] const std::set<std::string>& sizes() const { return sizes_; }

 private:
  /// `factor` times what is left of a loop's counter, divided by `low`, below `high`.
  struct Term {
    Monomial factor;
    int loop = -1;  ///< -1: the factor alone
    Monomial low;
    std::optional<Monomial> high;
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Sum = std::vector<Term>;
  struct WalkLoop {
    std::string padded;  ///< elements
    Expression inside;   ///< of those, what lies in the tensor
    std::vector<Monomial> cuts;
    Sum value;  ///< of a sum of loops' counters that has digits of its own
  };

  Walk() = default;
  void split(const InstanceOperand& dst, std::size_t group, std::size_t loop,
             std::vector<Expression>& tensor);
  [[nodiscard]] std::optional<Sum> sum_of(const Expression& expression);
  [[nodiscard]] std::optional<Sum> part_of(const Expression& whole, const Monomial& by, bool rest);
  [[nodiscard]] Sum counted(Sum sum);
  static Sum recombined(Sum sum);
  [[nodiscard]] bool is_free(const Expression& expression) const;
  [[nodiscard]] bool cut(WalkLoop& loop, const Monomial& at);
  [[nodiscard]] std::string digit(std::size_t loop, std::size_t k, const std::string& of) const;
  [[nodiscard]] std::string digits_of(std::size_t loop, const std::string& of) const;
  [[nodiscard]] std::string start(const std::string& e, const std::string& of) const;
  [[nodiscard]] std::string counter_of(std::size_t loop, const std::string& of) const;
  [[nodiscard]] std::string step() const;
  [[nodiscard]] std::string declared(const std::string& of) const;
  [[nodiscard]] std::string inside() const;

  std::vector<WalkLoop> loops_;  ///< dst's, outermost first, then sums of their counters
  std::size_t own_ = 0;          ///< of those, dst's
  std::size_t inner_ = 0;        ///< of those, the innermost of more than one element
  std::map<std::string, int> counters_;
  std::vector<Expression> coordinates_;
  std::vector<Sum> positions_;
  std::set<std::string> sizes_;
};

}  // namespace morton::source
