// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// Elements of 2, 4 and 6 bits, which a file holds without a gap, the first in the lowest bits. In
/// memory each takes a byte.

/// Whether a file holds elements of the type so.
[[nodiscard]] bool is_packed(DType type);
/// Bytes that `count` elements of any type take in a file.
[[nodiscard]] std::int64_t file_bytes(DType type, std::int64_t count);
/// The tensor whose packed elements are `bytes`, as many as `file_bytes` says.
[[nodiscard]] Tensor unpacked(DType type, const Shape& shape, std::string_view bytes);
/// A tensor's packed elements.
[[nodiscard]] std::string packed(const Tensor& tensor);

}  // namespace morton::formats
