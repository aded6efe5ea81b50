// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// The element type that an attribute names by ONNX's number (TensorProto.DataType), `otherwise`
/// where the node has no such attribute. Throws UnsupportedError for one that is no type of numbers
/// or bool.
[[nodiscard]] DType type_attribute(const NodeView& node, std::string_view name, DType otherwise);

}  // namespace morton::ops
