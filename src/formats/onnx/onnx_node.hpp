// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <map>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "formats/onnx/onnx_tensor.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// The domain of Morton's own operators.
inline constexpr std::string_view kMortonDomain = "morton";

/// The attributes of `node`, which are taken out of it; those that are graphs stay. `where` names
/// the node in messages. Throws ModelError for one that is given twice or without a type,
/// UnsupportedError for sparse tensors and types.
[[nodiscard]] std::map<std::string, Attribute> take_attributes(onnx::NodeProto& node,
                                                               ExternalData& external,
                                                               const std::string& where);

/// The value of a Constant node with these attributes. Throws ModelError, UnsupportedError.
[[nodiscard]] Tensor constant_value(const std::map<std::string, Attribute>& attributes,
                                    const std::string& where);

}  // namespace morton::formats
