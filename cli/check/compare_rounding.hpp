// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "check/compare_subject.hpp"
#include "common/output.hpp"
#include "morton/compile.hpp"
#include "morton/model.hpp"

namespace morton::cli {

/// How far an output lies from what the model gives in f32.
struct RoundedOutput {
  std::string name;
  double largest = 0.0;    ///< difference of an element
  double deviation = 0.0;  ///< standard deviation in f32
};

/// What rounding changes, apart from what is compared: the model once more, in f32. Nothing where
/// nothing is rounded, or the subject brings what it is compared with.
[[nodiscard]] std::vector<RoundedOutput> rounding_of(const CompiledModel& rounded,
                                                     const Model& model, CompileOptions options,
                                                     const Subject& subject);

/// "rounding: 'y' differs from f32 by 0.001 at most, 0.07 % of its standard deviation".
[[nodiscard]] std::string text_of(const std::vector<RoundedOutput>& outputs);
[[nodiscard]] Json json_of(const std::vector<RoundedOutput>& outputs);

}  // namespace morton::cli
