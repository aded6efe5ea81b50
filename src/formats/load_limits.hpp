// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "morton/load.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// Throws the UnsupportedError of all limits: "<where>: more than 1000 nodes; limits nodes=N allows
/// more". `name` is the limit's as `with_limits` has it.
[[noreturn]] void refuse_beyond(std::string_view name, std::int64_t limit, std::string_view what,
                                const std::string& where);

/// Throws it for a shape of more elements, and ModelError for none.
void require_elements(const LoadLimits& limits, const Shape& shape, const std::string& where);

/// Throws UnsupportedError where `seconds` are more than the limit, if there is one.
void require_seconds(const LoadLimits& limits, double seconds, const std::string& where);

}  // namespace morton::formats
