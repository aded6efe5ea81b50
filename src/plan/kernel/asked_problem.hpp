// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "plan/measured/tuned.hpp"
#include "problems/problem.hpp"

namespace morton::plan {

/// Many kernels are chosen for one problem, which does not change.
using SharedProblem = std::shared_ptr<const BoundProblem>;

/// Numbers for the names that entries use, from 0 on.
class NameNumbers {
 public:
  /// A new number for a new name.
  std::size_t of(std::string_view name);
  /// None for a name that no entry uses.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
};

/// A problem that one entry after the other is asked to compute: what they look at, in the form in
/// which that is fastest.
class AskedProblem {
 public:
  /// From now on it is about this one.
  void ask(SharedProblem bound);
  /// Looks up the problem's names, those that are known by now.
  void number(const NameNumbers& names);

  [[nodiscard]] bool is_about(const SharedProblem& bound) const { return bound_ == bound; }
  [[nodiscard]] const Problem& problem() const { return bound_->problem; }
  /// The extent or structure of this name; none for what is neither.
  [[nodiscard]] std::optional<std::int64_t> value(std::size_t name) const;
  /// The extent of this name; none for what is not one.
  [[nodiscard]] std::optional<std::int64_t> extent(std::size_t name) const;
  /// The problem in the terms of tuning data.
  [[nodiscard]] const TunedProblem& tuned() const;

 private:
  struct Value {
    enum class Kind : std::uint8_t { none, extent, structure } kind = Kind::none;
    std::int64_t value = 0;
  };

  SharedProblem bound_;
  std::vector<Value> values_;  ///< by number
  mutable std::optional<TunedProblem> tuned_;
};

}  // namespace morton::plan
