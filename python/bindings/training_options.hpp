// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace morton::python {

/// Options by name, as they go to C++. Each throws UsageError for names that are none, and values
/// that do not fit.
[[nodiscard]] TrainerOptions trainer_options(py::dict given);
[[nodiscard]] TrainingRunOptions run_options(py::dict given);
/// How `evaluate` prepares examples.
[[nodiscard]] TrainingRunOptions evaluation_options(py::dict given);

}  // namespace morton::python
