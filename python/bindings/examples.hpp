// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace morton::python {

struct Examples {
  Tensor inputs;
  Tensor targets;  ///< i32 where they are whole numbers, which are labels; else f32
  std::int64_t count = 0;
};

/// Throws UsageError for numbers of examples that differ, arrays that have none, and labels that
/// are no i32 from 0 on.
[[nodiscard]] Examples examples_from(py::handle inputs, py::handle targets,
                                     std::vector<py::array>& kept);

}  // namespace morton::python
