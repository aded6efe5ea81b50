// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"

namespace morton {

/// A product of names and one number, as text of OpenCL C.
struct Monomial {
  std::int64_t number = 1;
  std::vector<std::string> factors;  ///< sorted

  [[nodiscard]] static Monomial of(const Expression& product);
  [[nodiscard]] Monomial times(const Monomial& other) const;
  /// None where `other` does not divide it, as written.
  [[nodiscard]] std::optional<Monomial> over(const Monomial& other) const;
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Monomial&, const Monomial&) = default;
};

}  // namespace morton
