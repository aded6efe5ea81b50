// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/algebra/chain.hpp"
#include "base/rooms.hpp"

namespace morton::source {

/// A function of one f32 whose text is ours: it has no branch and no table, so that compilers make
/// vectors of a loop around it, and it serves vectors as it stands.
struct OwnFunction {
  ScalarOp op;
  std::string_view name;
  /// %f and %i are the types of its numbers and of whole numbers, %n what follows `as_float`,
  /// %q the exponential's series in r.
  std::string_view body;
};

/// The one for an operation, or null.
[[nodiscard]] const OwnFunction* own_function(ScalarOp op);

/// Types of vectors, or of single numbers.
struct OwnFunctionTypes {
  std::string real = "float", whole = "int", suffix;
};
/// Its definition under the name `as`.
[[nodiscard]] std::string own_function_text(const OwnFunction& function, const std::string& as,
                                            const OwnFunctionTypes& types);

}  // namespace morton::source
