// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/rooms.hpp"

namespace morton::formats {

/// A node of a model's graph, or of the body of a function that was called there.
struct WrittenNode {
  onnx::NodeProto proto;
  std::int64_t opset = 0;  ///< of ONNX's operator set, where a function states its own; else 0
};

/// The nodes of `graph`, the model's own or a body in it, those that call a function of the model
/// replaced by the function's own, to any depth. Values inside are named after the call
/// ("call/value"); attributes that refer to the function's take the call's, or the function's
/// default. Throws ModelError for functions that call themselves, calls with too many inputs or
/// outputs, and bodies that do not compute an output; UnsupportedError where more than a million
/// nodes result.
[[nodiscard]] std::vector<WrittenNode> nodes_without_calls(const onnx::ModelProto& model,
                                                           onnx::GraphProto& graph,
                                                           const std::string& where);

}  // namespace morton::formats
