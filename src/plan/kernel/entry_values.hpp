// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/cost/cost.hpp"
#include "plan/kernel/entry_table.hpp"
#include "problems/problem.hpp"

namespace morton::plan {

/// What the expressions of an entry come to for one problem: the same numbers as under
/// entry_environment, and the same errors.
class EntryValues {
 public:
  /// All must outlive it.
  EntryValues(const PreparedKernel& kernel, const AskedProblem& asked, const DeviceInfo& device,
              std::int64_t elements_dst);

  /// An extent or structure of the problem. Throws std::out_of_range for what is neither.
  [[nodiscard]] std::int64_t size(const std::string& name) const;
  /// The padded extent of a dimension; none where it is structure, which has no padding.
  [[nodiscard]] std::optional<std::int64_t> padded(const std::string& dimension) const;
  /// The first of the entry's conditions that does not hold; null where all do.
  [[nodiscard]] const Expression* unmet() const;
  [[nodiscard]] LaunchNumbers launch() const;
  /// Operations of the entry's `flop` or `work`, on padded extents where it computes its padding.
  enum class Operations : std::uint8_t { flop, work };
  [[nodiscard]] std::int64_t operations(Operations which) const;
  [[nodiscard]] std::int64_t bytes() const;
  /// Elements of a piece of the operand that the entry reads in pieces; 0 where its rows follow
  /// each other.
  [[nodiscard]] std::int64_t piece() const;
  /// The layout that the entry demands of an operand with these dimensions.
  [[nodiscard]] Layout layout(const std::string& operand,
                              const std::vector<std::string>& dimensions) const;

 private:
  [[nodiscard]] std::int64_t value_of(std::size_t place);
  [[nodiscard]] std::int64_t evaluate(const CompiledExpression& compiled,
                                      const Expression& expression) const;
  [[nodiscard]] std::int64_t on_padded(const CompiledExpression& compiled,
                                       const Expression& expression) const;
  [[nodiscard]] Environment environment() const;

  const PreparedKernel& kernel_;
  const AskedProblem& asked_;
  const Problem& problem_;
  const DeviceInfo& device_;
  std::int64_t elements_dst_;
  std::vector<std::int64_t> values_;
  bool is_complete_ = true;  ///< whether every name has a value
};

}  // namespace morton::plan
