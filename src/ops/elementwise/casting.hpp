// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// The element type that an attribute names by ONNX's number; throws where it names none.
[[nodiscard]] DType type_attribute(const NodeView& node, std::string_view name);

/// The conversion that the attributes `saturate` and `round_mode` ask for.
[[nodiscard]] ScalarOp conversion_of(const NodeView& node, DType target);

/// Input 0 converted to `target`. ONNX's rules: reals become integers towards zero, integers of
/// fewer bits keep the lowest, what is not 0 is true.
[[nodiscard]] Chain casting_chain(const NodeView& node, DType target);

}  // namespace morton::ops
