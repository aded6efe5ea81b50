// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rooms.hpp"

namespace morton::device {

/// Whether the processor fails at its instruction that adds up products of bytes (x86: vpdpbusd,
/// for vectors of 16 or 8 sums). A child process executes it, and must live and find the right
/// sums: a virtual machine may describe instructions that it traps. The first call tries, others
/// remember. False where there is nothing to try.
[[nodiscard]] bool dot_products_fail(std::int64_t lanes);

}  // namespace morton::device
