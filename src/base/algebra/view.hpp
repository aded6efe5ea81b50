// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/algebra/grouping.hpp"

namespace morton {

/// The coordinate variable of an operand dimension: its name in lower case ("OH" -> "oh").
[[nodiscard]] std::string coordinate_name(const std::string& dimension);

/// A map from the coordinates of a problem's operand to those of a tensor, with a value for the
/// coordinates that fall outside of it. It knows no memory; pack kernels, generated accessors and
/// tests all read through it (im2col, padding, stride, dilation, broadcast, transpose, slice).
struct View {
  /// Operand dimensions, e.g. {"K", "N"}; the expressions' variables are their lower-case names and
  /// the problem's extents and structure ("OW", "SH").
  std::vector<std::string> dimensions;
  /// One expression for each tensor dimension, outermost first.
  std::vector<Expression> coordinates;
  /// Extent of each tensor dimension, usually a name of the problem's ("OW").
  std::vector<Expression> extents;
  /// Set when the view is a bijection that only permutes and joins tensor dimensions: a kernel's
  /// layout of the operand then is an arrangement of the tensor itself, and nothing need be packed.
  std::optional<Grouping> grouping;
  /// True when a coordinate may leave the tensor; such elements read as `outside`.
  bool bounded = false;
  double outside = 0.0;

  /// Permutes and joins. `extents[t]` is the expression (usually a name such as "OW") for the
  /// extent of tensor dimension t.
  [[nodiscard]] static View grouped(std::vector<std::string> dimensions, Grouping grouping,
                                    const std::vector<Expression>& extents);
  /// The identity on `dimensions`.
  [[nodiscard]] static View identity(std::vector<std::string> dimensions);
  /// Arbitrary expressions. Where they spell a grouping of `extents` in the form that `grouped`
  /// writes it, `grouping` is found and set.
  [[nodiscard]] static View mapped(std::vector<std::string> dimensions,
                                   std::vector<Expression> coordinates,
                                   const std::vector<Expression>& extents);

  /// The view that reads this operand at `inner[d]` for each of its dimensions d, where `inner` is
  /// written in the coordinates of `outer_dimensions` (a recipe binding a sub-problem's operand).
  /// `names` replaces this problem's extents and structure by what they are in the new one.
  [[nodiscard]] View compose(std::vector<std::string> outer_dimensions,
                             const std::vector<Expression>& inner,
                             const std::map<std::string, Expression>& names) const;

  /// "(k, n) -> [n / (OH * OW), k / (KH * KW), ...]".
  [[nodiscard]] std::string print() const;
};

}  // namespace morton
