// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "morton/dtype.hpp"

namespace morton {

/// How a kernel's text handles elements of a type: what lies in memory, and what a variable that
/// holds the value is. Halves and bfloat16 are values of `float`, so no device needs arithmetic of
/// theirs.

/// "half" for f16, "ushort" for bf16, "uchar" for u8, ... Throws UnsupportedError for types that no
/// kernel handles.
[[nodiscard]] std::string_view memory_type(DType type);
/// "float" for f32, f16 and bf16; "uchar", "char", "int" for integers.
[[nodiscard]] std::string_view value_type(DType type);
[[nodiscard]] bool is_integer(DType type);

/// Expression for the value of `array[index]`.
[[nodiscard]] std::string load_text(DType type, const std::string& array, const std::string& index);
/// Expression that stores `value` there: rounded to nearest even, integers saturated.
[[nodiscard]] std::string store_text(DType type, const std::string& array, const std::string& index,
                                     const std::string& value);
/// Functions that the two need; may stand in a program any number of times.
[[nodiscard]] std::string element_functions(DType type);

}  // namespace morton
