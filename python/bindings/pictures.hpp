// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"
#include "morton/pictures.hpp"

namespace morton::python {

/// Options by their names in PicturePreparation, beside a preset: sizes as one number or (height,
/// width), words in the place of enumerators. Throws UsageError, which says what they are `of`.
[[nodiscard]] PicturePreparation picture_preparation(const py::dict& given, const std::string& of);
/// An input's extents; those that the model leaves open, names and None, are -1. Throws UsageError.
[[nodiscard]] Shape input_shape(py::handle extents);

}  // namespace morton::python
