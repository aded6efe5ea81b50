// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "morton/dtype.hpp"

namespace morton::source {

/// How a kernel's text handles elements of a type: what lies in memory, and what a variable that
/// holds the value is. Halves and bfloat16 are values of `float`, so no device needs arithmetic of
/// theirs.

/// "half" for f16, "ushort" for bf16, "uchar" for u8 and bool, ...
[[nodiscard]] std::string_view memory_type(DType type);
/// "float" for f32, f16, bf16 and tf32; "double" for f64; "uchar", "int", "long" ... for the
/// others. Of reals that are only stored, it is the code of the number.
[[nodiscard]] std::string_view value_type(DType type);
/// Every type that is not real, bool too.
[[nodiscard]] bool is_integer(DType type);

/// Expression for the value of `array[index]`; of bool 0 or 1, whatever the byte.
[[nodiscard]] std::string load_text(DType type, const std::string& array, const std::string& index);
/// What a kernel may store: a kernel that reads whole numbers alone has no others.
enum class StoredNumber : std::uint8_t { any, whole };

/// Expression that stores `value` there: rounded to nearest even, integers saturated.
[[nodiscard]] std::string store_text(DType type, const std::string& array, const std::string& index,
                                     const std::string& value, StoredNumber number);
/// Expression that stores a float4 there and in the three elements behind it. Of types whose values
/// are float and that need no function to be rounded: f32 and f16; for others an empty text.
[[nodiscard]] std::string store4_text(DType type, const std::string& array,
                                      const std::string& index, const std::string& value);
/// The same at once, where `index` is a multiple of 4 and the array begins where buffers do.
[[nodiscard]] std::string aligned_store4_text(DType type, const std::string& array,
                                              const std::string& index, const std::string& value);
/// A macro: name with parameters, and body.
struct MacroText {
  std::string name, parameters, body;
};

enum class ElementUse : std::uint8_t { read, write };

/// What a kernel that indexes `array` by hand reaches elements with, whatever their type in memory:
/// AT_<array>(i) is the value of element i, AT4_<array>(i) the i-th vector of four (also 8 and 16)
/// as values; PUT_<array>(i, v) and PUT4_<array>(i, v) store. Vectors of bf16 are not
/// offered, nor stores of vectors of tf32.
[[nodiscard]] std::vector<MacroText> hand_macros(DType type, const std::string& array,
                                                 ElementUse use, StoredNumber number);
/// For a kernel that copies src to dst: MOVED is the type of an element on its way, TAKE_src(i) and
/// GIVE_dst(i, v) read and write element i. Halves go as words where both are of one type and
/// `outside`, the value beyond src's edges, is 0.
[[nodiscard]] std::vector<MacroText> move_macros(DType src, DType dst, double outside);
/// AT4_FROM_<array>(p, i) is the i-th vector of four from the pointer p into the array.
[[nodiscard]] MacroText stepped_macro(DType type, const std::string& array);
/// The same for an operand in an image: AT4_<image>(x, y) is the texel in column x of row y.
[[nodiscard]] std::vector<MacroText> image_macros(const std::string& image);
/// The sampler that they read with; may stand in a program any number of times.
[[nodiscard]] std::string image_sampler();
/// Functions that these need; may stand in a program any number of times.
[[nodiscard]] std::string element_functions(DType type);

}  // namespace morton::source
