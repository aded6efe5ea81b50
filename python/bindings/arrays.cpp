// SPDX-License-Identifier: Apache-2.0
//
// Arrays of NumPy and tensors on one memory.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <new>

#include "bindings.hpp"

namespace morton::python {
namespace {

using Api = py::detail::npy_api;
constexpr int kHalf = 23;      // NPY_HALF, which pybind11 has no name for
constexpr int kOfOthers = -1;  // ml_dtypes'

struct TypeName {
  DType type;
  const char* name;
  int number;  ///< NumPy's
};
constexpr std::array kTypeNames{
    TypeName{DType::f32, "float32", Api::NPY_FLOAT_},
    TypeName{DType::f16, "float16", kHalf},
    TypeName{DType::f64, "float64", Api::NPY_DOUBLE_},
    TypeName{DType::i8, "int8", Api::NPY_INT8_},
    TypeName{DType::u8, "uint8", Api::NPY_UINT8_},
    TypeName{DType::i16, "int16", Api::NPY_INT16_},
    TypeName{DType::u16, "uint16", Api::NPY_UINT16_},
    TypeName{DType::i32, "int32", Api::NPY_INT32_},
    TypeName{DType::u32, "uint32", Api::NPY_UINT32_},
    TypeName{DType::i64, "int64", Api::NPY_INT64_},
    TypeName{DType::u64, "uint64", Api::NPY_UINT64_},
    TypeName{DType::boolean, "bool", Api::NPY_BOOL_},
    TypeName{DType::bf16, "bfloat16", kOfOthers},
    TypeName{DType::f8e4m3fn, "float8_e4m3fn", kOfOthers},
    TypeName{DType::f8e4m3fnuz, "float8_e4m3fnuz", kOfOthers},
    TypeName{DType::f8e5m2, "float8_e5m2", kOfOthers},
    TypeName{DType::f8e5m2fnuz, "float8_e5m2fnuz", kOfOthers},
    TypeName{DType::f8e8m0, "float8_e8m0fnu", kOfOthers},
    TypeName{DType::f4e2m1, "float4_e2m1fn", kOfOthers},
    TypeName{DType::f6e2m3, "float6_e2m3fn", kOfOthers},
    TypeName{DType::f6e3m2, "float6_e3m2fn", kOfOthers},
    TypeName{DType::i4, "int4", kOfOthers},
    TypeName{DType::u4, "uint4", kOfOthers},
    TypeName{DType::i2, "int2", kOfOthers},
    TypeName{DType::u2, "uint2", kOfOthers},
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
  if (name.number != kOfOthers) return py::dtype(name.number);
  try {
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr(name.name));
  } catch (const py::error_already_set&) {
    throw UsageError(std::string(name.name) +
                     " is no type of NumPy: install ml_dtypes, which has it");
  }
}

Shape shape_of(const py::array& array) { return {array.shape(), array.shape() + array.ndim()}; }

bool overlap(const Tensor& a, const Tensor& b) {
  if (a.bytes() == 0 || b.bytes() == 0) return false;
  const std::less<const std::byte*> before;
  return before(a.stored(), b.stored() + b.bytes()) && before(b.stored(), a.stored() + a.bytes());
}

bool is_read_only(Tensor& tensor) {
  try {
    return tensor.mutable_data() == nullptr && tensor.bytes() > 0;
  } catch (const UsageError&) {
    return true;
  }
}

/// An array of what is given, of whatever type and order. What its `__array__` or `__dlpack__`
/// raises is the cause of the error; what stops a program, or lacks memory, stays as it is.
py::array any_array(py::handle given, const std::string& what) {
  if (py::isinstance<py::array>(given)) return py::reinterpret_borrow<py::array>(given);
  const py::module_ numpy = py::module_::import("numpy");
  const bool is_dlpack = py::hasattr(given, "__dlpack__") && !py::hasattr(given, "__array__");
  try {
    return numpy.attr(is_dlpack ? "from_dlpack" : "asarray")(given);
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_MemoryError) || !error.matches(PyExc_Exception)) throw;
    raise_usage_error(error, what + ": expected an array of numbers, got " + type_of(given));
  }
}

}  // namespace

std::string numpy_name(DType type) { return named(type).name; }

std::string text_of_name(py::handle name, const std::string& what) {
  if (py::isinstance<py::str>(name)) return name.cast<std::string>();
  throw UsageError(what + ": names are of type str, got " + type_of(name));
}

std::string type_of(py::handle value) { return py::str(py::type::of(value)).cast<std::string>(); }

py::array array_of(Tensor tensor) {
  const py::dtype type = dtype_of(tensor.dtype());
  const Shape shape = tensor.shape();
  auto held = std::make_unique<Tensor>(std::move(tensor));
  const void* const data = held->data();
  const py::capsule owner(held.release(), [](void* made) { delete static_cast<Tensor*>(made); });
  return {type, std::vector<py::ssize_t>(shape.begin(), shape.end()), data, owner};
}

void make_own(std::vector<NamedTensor>& outputs, const std::vector<NamedTensor>& inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    Tensor& tensor = output->tensor;
    const auto shares = [&](const NamedTensor& other) { return overlap(tensor, other.tensor); };
    if (is_read_only(tensor) || std::ranges::any_of(inputs, shares) ||
        std::any_of(outputs.begin(), output, shares)) {
      tensor = tensor.clone();
    }
  }
}

namespace {

/// The usual types in the machine's byte order; nothing of others, whose names tell more.
const TypeName* usual_type(const py::dtype& dtype) {
  const char order = dtype.byteorder();
  if (order != '=' && order != '|') return nullptr;
  const int number = dtype.num();
  const auto* const found = std::ranges::find(kTypeNames, number, &TypeName::number);
  return number == kOfOthers || found == kTypeNames.end() ? nullptr : found;
}

/// By the name of its type; of another byte order it is copied. Throws UsageError.
const TypeName& named_type(py::array& array, const std::string& what) {
  if (!array.dtype().attr("isnative").cast<bool>()) {
    array = array.attr("astype")(array.dtype().attr("newbyteorder")("="));
  }
  const auto name = array.dtype().attr("name").cast<std::string>();
  const auto* const found = std::ranges::find(kTypeNames, name, &TypeName::name);
  if (found == kTypeNames.end()) {
    throw UsageError(what + ": expected an array of numbers; Morton has no tensors of NumPy's " +
                     name);
  }
  return *found;
}

}  // namespace

Tensor tensor_of(py::handle given, const std::string& what, std::vector<py::array>& kept) {
  constexpr int kInRows = static_cast<int>(py::array::c_style) | Api::NPY_ARRAY_ALIGNED_;
  py::array array = any_array(given, what);
  const TypeName* type = usual_type(array.dtype());
  if (type == nullptr) type = &named_type(array, what);
  if ((array.flags() & kInRows) != kInRows) array = py::array::ensure(array, kInRows);
  if (!array) throw std::bad_alloc();
  kept.push_back(array);
  return Tensor::share(type->type, shape_of(array), array.data(),
                       static_cast<std::size_t>(array.nbytes()), nullptr);
}

std::vector<NamedTensor> tensors_of(const py::dict& arrays, std::vector<py::array>& kept) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, array] : arrays) {
    const std::string text = text_of_name(name, "arrays by name");
    tensors.push_back({text, tensor_of(array, text, kept)});
  }
  return tensors;
}

}  // namespace morton::python
