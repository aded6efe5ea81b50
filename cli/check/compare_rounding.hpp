// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// How far an output lies from what the model gives in f32.
struct RoundedOutput {
  std::string name;
  double largest = 0.0;    ///< difference of an element
  double deviation = 0.0;  ///< standard deviation in f32
};

/// What rounding changes, apart from what is compared: the model once more, in f32.
[[nodiscard]] std::vector<RoundedOutput> rounding_of(const CompiledModel& rounded,
                                                     const Model& model, CompileOptions options,
                                                     const std::vector<NamedTensor>& inputs);

/// "rounding: 'y' differs from f32 by 0.001 at most, 0.07 % of its standard deviation".
[[nodiscard]] std::string text_of(const std::vector<RoundedOutput>& outputs);

}  // namespace morton::cli
