// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <string>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::formats {

/// Whether lists of the operator's attributes are kept as tensors: ensembles of trees have millions
/// of numbers.
[[nodiscard]] bool keeps_lists_as_tensors(const std::string& op);

/// Whether an attribute holds such a list.
[[nodiscard]] bool is_long_list(const onnx::AttributeProto& proto);

/// The list as a tensor, which copies share. The modes of nodes become their numbers in
/// TreeEnsemble. Throws ModelError for a mode that is none; `where` names the attribute.
[[nodiscard]] Tensor to_tensor_list(const onnx::AttributeProto& proto, const std::string& where);

/// The attribute as a file has it: a list where it was one.
[[nodiscard]] Attribute as_in_file(const Node& node, const std::string& name,
                                   const Attribute& value);

}  // namespace morton::formats
