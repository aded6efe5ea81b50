// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/rooms.hpp"

namespace morton::test {

/// An ONNX model with one to three changes to its fields: an extent, an attribute, a tensor's
/// numbers, a node, an edge. It is a message again, so what reads it gets past the parser. The same
/// for the same seed; empty for bytes that are no message.
[[nodiscard]] std::string mutated_model(std::string_view bytes, std::uint32_t seed);

}  // namespace morton::test
