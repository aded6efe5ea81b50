// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <morton/tensor.hpp>
#include <optional>
#include <span>
#include <string>

#include "limits/memory_budget.hpp"

namespace morton::serve {

/// The number of elements of a shape, or nothing where that is beyond `most`. Extents are 0 or
/// more.
[[nodiscard]] std::optional<std::size_t> elements_of(const Shape& shape, std::size_t most);

/// A tensor of the bytes that a request sent: these themselves where they are aligned for it, else
/// a copy, which `held` counts. Throws UsageError where the shape needs another number of bytes, or
/// a byte of BOOL is no truth; MemoryShort.
[[nodiscard]] Tensor tensor_of_bytes(DType type, const Shape& shape,
                                     std::span<const std::byte> bytes,
                                     const std::shared_ptr<const void>& owner, HeldMemory& held,
                                     const std::string& place);

}  // namespace morton::serve
