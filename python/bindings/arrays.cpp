// SPDX-License-Identifier: Apache-2.0
//
// Arrays of NumPy and tensors on one memory.
#include <algorithm>
#include <array>
#include <memory>

#include "bindings.hpp"

namespace morton::python {
namespace {

struct TypeName {
  DType type;
  const char* name;
  bool is_numpy;
};
constexpr std::array kTypeNames{
    TypeName{DType::f32, "float32", true},
    TypeName{DType::f16, "float16", true},
    TypeName{DType::f64, "float64", true},
    TypeName{DType::i8, "int8", true},
    TypeName{DType::u8, "uint8", true},
    TypeName{DType::i16, "int16", true},
    TypeName{DType::u16, "uint16", true},
    TypeName{DType::i32, "int32", true},
    TypeName{DType::u32, "uint32", true},
    TypeName{DType::i64, "int64", true},
    TypeName{DType::u64, "uint64", true},
    TypeName{DType::boolean, "bool", true},
    TypeName{DType::bf16, "bfloat16", false},
    TypeName{DType::f8e4m3fn, "float8_e4m3fn", false},
    TypeName{DType::f8e4m3fnuz, "float8_e4m3fnuz", false},
    TypeName{DType::f8e5m2, "float8_e5m2", false},
    TypeName{DType::f8e5m2fnuz, "float8_e5m2fnuz", false},
    TypeName{DType::f8e8m0, "float8_e8m0fnu", false},
    TypeName{DType::f4e2m1, "float4_e2m1fn", false},
    TypeName{DType::f6e2m3, "float6_e2m3fn", false},
    TypeName{DType::f6e3m2, "float6_e3m2fn", false},
    TypeName{DType::i4, "int4", false},
    TypeName{DType::u4, "uint4", false},
    TypeName{DType::i2, "int2", false},
    TypeName{DType::u2, "uint2", false},
};

const TypeName& named(DType type) {
  const auto* const found = std::ranges::find(kTypeNames, type, &TypeName::type);
  if (found == kTypeNames.end()) {
    throw UsageError("tensors of " + std::string(name_of(type)) + " have no form in Python");
  }
  return *found;
}

py::dtype dtype_of(DType type) {
  const TypeName& name = named(type);
  if (name.is_numpy) return py::dtype(name.name);
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr(name.name));
  } catch (const py::error_already_set&) {
    throw UsageError(std::string(name.name) +
                     " is no type of NumPy: install ml_dtypes, which has it");
  }
}

Shape shape_of(const py::array& array) { return {array.shape(), array.shape() + array.ndim()}; }

}  // namespace

std::string numpy_name(DType type) { return named(type).name; }

py::array array_of(Tensor tensor) {
  const py::dtype type = dtype_of(tensor.dtype());
  const Shape shape = tensor.shape();
  auto held = std::make_unique<Tensor>(std::move(tensor));
  const void* const data = held->data();
  const py::capsule owner(held.release(), [](void* made) { delete static_cast<Tensor*>(made); });
  return {type, std::vector<py::ssize_t>(shape.begin(), shape.end()), data, owner};
}

Tensor tensor_of(py::handle given, const std::string& what, std::vector<py::array>& kept) {
  const py::array array = py::array::ensure(given, py::array::c_style);
  if (!array) {
    PyErr_Clear();
    throw UsageError(what + ": expected an array of numbers, got " +
                     py::str(py::type::of(given)).cast<std::string>());
  }
  const auto name = array.dtype().attr("name").cast<std::string>();
  const auto* const found = std::ranges::find(kTypeNames, name, &TypeName::name);
  if (found == kTypeNames.end() || array.dtype().attr("isnative").cast<bool>() == false) {
    throw UsageError(what + ": Morton has no tensors of NumPy's " + name);
  }
  kept.push_back(array);
  return Tensor::share(found->type, shape_of(array), array.data(),
                       static_cast<std::size_t>(array.nbytes()), nullptr);
}

std::vector<NamedTensor> tensors_of(const py::dict& arrays, std::vector<py::array>& kept) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, array] : arrays) {
    const auto text = name.cast<std::string>();
    tensors.push_back({text, tensor_of(array, text, kept)});
  }
  return tensors;
}

}  // namespace morton::python
