// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "morton/device.hpp"
#include "run/run_arguments.hpp"
#include "run/run_report.hpp"

namespace morton::cli {

/// Refuses a file that the outputs cannot be written to, and options of pictures where none is
/// drawn, before anything runs.
void check_output(const RunArguments& options);

/// Writes the outputs where they are asked for, as tensors or as a picture, and prints them.
void emit_answer(const RunArguments& options, const Ranking& ranking, const Device& device,
                 const Json& facts, const std::vector<NamedTensor>& outputs,
                 const std::optional<Photograph>& photograph);

}  // namespace morton::cli
