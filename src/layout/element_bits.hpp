// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "morton/dtype.hpp"

namespace morton::layout {

/// Returns `use(bits)`, where `bits` is a zero of the unsigned type that has the size of `type`'s
/// elements: what moves elements without looking at them is compiled once for each size.
template <typename Use>
auto with_element_bits(DType type, const Use& use) {
  switch (size_of(type)) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    case 8:
      return use(std::uint64_t{});
    default:
      throw InternalError("pack: no copy for " + std::string(name_of(type)));
  }
}

}  // namespace morton::layout
