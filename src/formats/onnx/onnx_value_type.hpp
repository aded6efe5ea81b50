// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <string>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// A type of a value, taken apart.
struct OnnxValueType {
  ValueForm form;
  const onnx::TypeProto::Tensor* tensor = nullptr;  ///< the tensor's type, or the elements'
};

/// Without a tensor where the type is none that is known, or is not stated.
[[nodiscard]] OnnxValueType taken_apart(const onnx::TypeProto& type);

/// Throws UnsupportedError for maps, sparse tensors, and lists of lists. `here` names the value.
[[nodiscard]] OnnxValueType value_type_of(const onnx::TypeProto& type, const std::string& here);

/// An input of this element type as the model declares it. Throws as above, and ModelError.
[[nodiscard]] GraphTensor declared_input(const onnx::ValueInfoProto& proto, DType dtype,
                                         const std::string& here);

/// Gives an output what the model declares of it. That is for people: shape inference finds the
/// truth.
void take_declared_output(const onnx::ValueInfoProto& proto, const std::string& here,
                          GraphTensor& tensor);

}  // namespace morton::formats
