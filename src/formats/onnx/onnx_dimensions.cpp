// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_dimensions.hpp"

#include "base/error.hpp"
#include "base/shape.hpp"

namespace morton::formats {
namespace {

/// Whether a dimension is a number; exporters also write -1 for an open one.
bool is_number(const onnx::TensorShapeProto::Dimension& dimension) {
  return dimension.has_dim_value() && dimension.dim_value() != -1;
}

}  // namespace

std::vector<Dimension> declared_dimensions(const onnx::TensorShapeProto& shape,
                                           const std::string& name, const std::string& here) {
  if (static_cast<std::size_t>(shape.dim_size()) > kMaxRank) {
    throw ModelError(here + " has " + std::to_string(shape.dim_size()) + " dimensions; at most " +
                     std::to_string(kMaxRank) + " are supported");
  }
  std::vector<Dimension> declared;
  for (const onnx::TensorShapeProto::Dimension& dimension : shape.dim()) {
    if (is_number(dimension)) {
      declared.push_back({dimension.dim_value(), {}});
    } else if (!dimension.dim_param().empty() && dimension.dim_param() != "?") {
      declared.push_back({0, dimension.dim_param()});
    } else {
      declared.push_back({0, name + "." + std::to_string(declared.size())});
    }
  }
  return declared;
}

}  // namespace morton::formats
