// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/rooms.hpp"
#include "layout/arrangement.hpp"

namespace morton::plan {

/// The same memory in the terms of another shape: an arrangement that is demanded of a reshaped
/// tensor, as an arrangement of the tensor that it was reshaped from. Possible where each of the
/// reshaped tensor's dimensions is a run of `source` dimensions joined (Flatten); nothing
/// otherwise.
[[nodiscard]] std::optional<Arrangement> seen_from_source(const Arrangement& demanded,
                                                          const Shape& source);

}  // namespace morton::plan
