// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <optional>

namespace morton::serve {

/// Bytes that a ModelInferRequest takes in memory, at most; none where it is no such message. Two
/// bytes of a message may become hundreds, so this is asked before it is read.
[[nodiscard]] std::optional<std::size_t> memory_of(grpc::ByteBuffer& message);

}  // namespace morton::serve
