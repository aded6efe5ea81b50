// SPDX-License-Identifier: Apache-2.0
//
// What a training says of itself, in words.
#pragma once

#include <optional>
#include <string>

#include "morton/training_run.hpp"

namespace morton::cli {

/// "1 h 03 min", "4 min 09 s", "12 s"
[[nodiscard]] std::string duration_text(double seconds);

/// "97.13 %"; "-" for nothing.
[[nodiscard]] std::string percent_text(const std::optional<double>& share);

/// "0.0454"; what that would hide or stretch has four digits of its own: "4.539e-05", "1.250e+09".
[[nodiscard]] std::string loss_text(double loss);

/// What the line that changes says.
[[nodiscard]] std::string moving_line(const TrainingProgress& progress);

/// What stays of an epoch, or of a look at the validation data.
[[nodiscard]] std::string lasting_line(const TrainingProgress& progress);

}  // namespace morton::cli
