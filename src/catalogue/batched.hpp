// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"

namespace morton::catalogue {

/// The kernel of a gemm entry (integer_gemm's likewise) as one of the family batched_gemm: the same
/// text, launched once for each product along the third dimension, its operands one after another
/// in memory. Nothing for entries of other families, for kernels that use the third dimension
/// themselves, and for those that write their parameters by hand, and those that are considered
/// only where they are named.
[[nodiscard]] std::optional<Entry> batched(const Entry& entry);

}  // namespace morton::catalogue
