// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "morton/dtype.hpp"

namespace morton {

/// The element type that ONNX gives this number (TensorProto.DataType), of those that Morton has.
[[nodiscard]] std::optional<DType> type_of_onnx(std::int64_t number);
/// The number of a type; nothing of tf32, which ONNX lacks.
[[nodiscard]] std::optional<std::int32_t> onnx_number_of(DType type);

}  // namespace morton
