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
void bind_pictures(py::module_& module);
void bind_datasets(py::module_& module);
void bind_training(py::module_& module);
void bind_quantizing(py::module_& module);
void bind_converting(py::module_& module);

/// NumPy's name of an element type: "float32"; of types that NumPy lacks ml_dtypes' name,
/// "bfloat16".
[[nodiscard]] std::string numpy_name(DType type);
/// The tensor's elements as an array on the same memory, which the array keeps. Throws UsageError
/// where the type is ml_dtypes' and that is not installed.
[[nodiscard]] py::array array_of(Tensor tensor);
/// Copies those outputs whose bytes are also somebody else's: an input's, another output's, or
/// bytes that only may be read. Arrays of the rest may be written to, and nobody else sees it.
void make_own(std::vector<NamedTensor>& outputs, const std::vector<NamedTensor>& inputs);
/// The elements of an array, or of what has `__array__` or `__dlpack__`, as a tensor on the same
/// memory. It is copied where it is not in rows, not aligned, or of another byte order. `kept`
/// holds that memory. Throws UsageError, naming `what`, for an array of another type than Morton's.
[[nodiscard]] Tensor tensor_of(py::handle array, const std::string& what,
                               std::vector<py::array>& kept);
/// The same for a dict of arrays by name.
[[nodiscard]] std::vector<NamedTensor> tensors_of(const py::dict& arrays,
                                                  std::vector<py::array>& kept);

/// Of a dict whose keys are names. Throws UsageError, with `what` it is of, for other keys.
[[nodiscard]] std::string text_of_name(py::handle name, const std::string& what);
/// A value's type as messages name it: "<class 'str'>".
[[nodiscard]] std::string type_of(py::handle value);

/// Options by their names in CompileOptions, words in the place of enumerators. `kept` as above.
/// Throws UsageError for names that are none, and values that do not fit.
[[nodiscard]] CompileOptions compile_options(const py::dict& given, std::vector<py::array>& kept);

/// Throws UsageError in a process that was forked from the one that opened a device: no driver's
/// threads came along.
void require_own_process();
/// Notes that this process has opened a device.
void note_process();
/// Raises UsageError with the text, whose cause in Python is `cause`.
[[noreturn]] void raise_usage_error(py::error_already_set& cause, const std::string& text);

}  // namespace morton::python
