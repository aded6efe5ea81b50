// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "morton/tensor.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Random elements of a type that is no real: of at most a byte all values there are (of stored
/// reals all codes), of more bytes some that products of three do not exceed.
[[nodiscard]] Tensor random_codes(DType type, const Shape& shape, std::uint64_t seed);

}  // namespace morton::test
