// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_value_type.hpp"

#include "base/error.hpp"
#include "base/numbers/onnx_numbers.hpp"
#include "formats/onnx/onnx_dimensions.hpp"

namespace morton::formats {

OnnxValueType taken_apart(const onnx::TypeProto& type) {
  OnnxValueType result;
  const onnx::TypeProto* inner = &type;
  if (inner->has_optional_type()) {
    result.form.is_optional = true;
    inner = &inner->optional_type().elem_type();
  }
  if (inner->has_sequence_type()) {
    result.form.is_list = true;
    inner = &inner->sequence_type().elem_type();
  }
  if (!inner->has_tensor_type()) return result;
  result.tensor = &inner->tensor_type();
  result.form.any_shape = !result.form.is_tensor() && !result.tensor->has_shape();
  return result;
}

OnnxValueType value_type_of(const onnx::TypeProto& type, const std::string& here) {
  OnnxValueType result = taken_apart(type);
  if (result.tensor != nullptr) return result;
  throw UnsupportedError(
      here + " is neither a dense tensor nor a list of them (a map, a sparse tensor, or lists " +
      "inside of lists)");
}

GraphTensor declared_input(const onnx::ValueInfoProto& proto, DType dtype,
                           const std::string& here) {
  const OnnxValueType type = value_type_of(proto.type(), here);
  if (type.form.is_tensor() && !type.tensor->has_shape()) {
    throw UnsupportedError(here + " declares no shape; state its rank in the model");
  }
  GraphTensor tensor;
  tensor.name = proto.name();
  tensor.kind = GraphTensor::Kind::input;
  tensor.form = type.form;
  tensor.dtype = dtype;
  tensor.declared = declared_dimensions(type.tensor->shape(), proto.name(), here);
  Shape fixed;
  for (const Dimension& dimension : tensor.declared) {
    if (dimension.symbol.empty()) fixed.push_back(dimension.value);
  }
  (void)element_count(fixed, here.c_str());
  if (type.form.is_tensor() && fixed.size() == tensor.declared.size()) tensor.shape = fixed;
  return tensor;
}

void take_declared_output(const onnx::ValueInfoProto& proto, const std::string& here,
                          GraphTensor& tensor) {
  const OnnxValueType type = taken_apart(proto.type());
  if (!tensor.declared.empty() || type.tensor == nullptr) return;
  if (tensor.kind == GraphTensor::Kind::input && !tensor.form.is_tensor()) return;
  tensor.declared = declared_dimensions(type.tensor->shape(), proto.name(), here);
  if (tensor.kind != GraphTensor::Kind::activation) return;
  tensor.form = type.form;
  tensor.form.any_shape = !type.tensor->has_shape();
  const auto dtype = type_of_onnx(type.tensor->elem_type());
  if (dtype) tensor.dtype = *dtype;
}

}  // namespace morton::formats
