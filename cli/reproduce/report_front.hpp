// SPDX-License-Identifier: Apache-2.0
//
// What stands above the experiments: whose they are, what their words mean, and what they found.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// The sources of these findings: name, document, what it measured on.
[[nodiscard]] Table sources_table(const std::vector<Finding>& findings);

/// Words of the tables and what they mean.
[[nodiscard]] Table words_table();

/// Each experiment with its question and the first sentence of its answer.
[[nodiscard]] Table verdicts_table(const std::vector<Finding>& findings);

}  // namespace morton::cli
