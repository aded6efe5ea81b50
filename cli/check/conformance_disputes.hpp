// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace morton::cli {

/// What is wrong with one of ONNX's own tests: where its data contradict ONNX's text. Empty for all
/// others. Of ONNX 1.12.
[[nodiscard]] std::string_view dispute_over(std::string_view test);

}  // namespace morton::cli
