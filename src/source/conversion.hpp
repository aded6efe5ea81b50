// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/algebra/typed_chain.hpp"
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

/// What a step that stores bytes rounds, and the whole number that it adds to that.
struct RoundedByte {
  ScalarRef value;
  int offset = 0;
};

/// Of saturate(round(value) + offset) the two; of anything else what is rounded by the step alone.
/// `argument` is the step's.
[[nodiscard]] RoundedByte rounded_byte_of(const TypedChain& chain, const ScalarRef& argument);

/// Whether a step makes bytes, u8 or i8, of f32, saturating.
[[nodiscard]] bool makes_byte(ScalarOp op, DType from, DType to);

/// The function of this name: a byte of type `to` of a float and an offset.
[[nodiscard]] std::string byte_function(const std::string& name, DType to);

}  // namespace morton::source
