// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "morton/morton.hpp"

namespace morton::python {

namespace py = pybind11;

/// What stands in each file of this folder.
void bind_errors(py::module_& module);
void bind_devices(py::module_& module);
void bind_models(py::module_& module);
void bind_compiling(py::module_& module);
void bind_sessions(py::module_& module);
void bind_training(py::module_& module);

/// NumPy's name of an element type: "float32"; of types that NumPy lacks ml_dtypes' name,
/// "bfloat16".
[[nodiscard]] std::string numpy_name(DType type);
/// The tensor's elements as an array on the same memory, which the array keeps. Throws UsageError
/// where the type is ml_dtypes' and that is not installed.
[[nodiscard]] py::array array_of(Tensor tensor);
/// The array's elements as a tensor on the same memory, made contiguous where it is not. `kept`
/// holds that memory. Throws UsageError, naming `what`, for an array of another type than Morton's.
[[nodiscard]] Tensor tensor_of(py::handle array, const std::string& what,
                               std::vector<py::array>& kept);
/// The same for a dict of arrays by name.
[[nodiscard]] std::vector<NamedTensor> tensors_of(const py::dict& arrays,
                                                  std::vector<py::array>& kept);

/// Options by their names in CompileOptions, words in the place of enumerators. `kept` as above.
/// Throws UsageError for names that are none, and values that do not fit.
[[nodiscard]] CompileOptions compile_options(const py::dict& given, std::vector<py::array>& kept);

/// Throws UsageError in a process that was forked from the one that opened a device: no driver's
/// threads came along.
void require_own_process();
/// Notes that this process has opened a device.
void note_process();

}  // namespace morton::python
