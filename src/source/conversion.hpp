// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/algebra/chain.hpp"
#include "base/rooms.hpp"

namespace morton::source {

/// A conversion in OpenCL C.
struct ConversionText {
  std::string functions;  ///< that the value calls; each may stand in a program any number of times
  std::string value;
};

/// What the conversion `op` to type `to` makes of `value`, an expression of type `from`.
[[nodiscard]] ConversionText conversion_text(ScalarOp op, DType from, DType to,
                                             const std::string& value);

/// `text` between guards, so that it may stand in a program any number of times.
[[nodiscard]] std::string once_in_a_program(const std::string& macro, const std::string& text);

}  // namespace morton::source
