// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// The extents that the model states for the input or output `name`; an open one without a name
/// gets one. Exporters write "?" for extents that have no name: two of those need not be equal.
/// Throws ModelError, which begins with `here`, for more dimensions than a tensor may have.
[[nodiscard]] std::vector<Dimension> declared_dimensions(const onnx::TensorShapeProto& shape,
                                                         const std::string& name,
                                                         const std::string& here);

}  // namespace morton::formats
