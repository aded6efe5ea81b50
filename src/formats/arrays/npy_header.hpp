// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

enum class NpyOrder : std::uint8_t { c, fortran };

/// What the header of an .npy file says.
struct NpyHeader {
  DType dtype = DType::f32;
  NpyOrder order = NpyOrder::c;
  Shape shape;
};

/// Parses the text of a header, a Python dictionary:
/// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. Throws ModelError for anything
/// else, UnsupportedError for element types that Morton lacks.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, const std::string& where);

/// NumPy's name of an element type: "<f4".
[[nodiscard]] std::string_view npy_name_of(DType type);

}  // namespace morton::formats
