// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <morton/dtype.hpp>
#include <optional>
#include <string_view>

namespace morton::serve {

/// What the Open Inference Protocol calls an element type ("FP32"); empty for one that it has no
/// name for.
[[nodiscard]] std::string_view datatype_of(DType type);
/// The element type that it calls so; none for another text.
[[nodiscard]] std::optional<DType> dtype_of(std::string_view datatype);

}  // namespace morton::serve
