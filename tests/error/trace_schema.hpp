// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace morton::test {

/// What is wrong with a trace, one line each: the parts of Chrome's Trace Event Format that Morton
/// writes (complete events "X", metadata "M"), and what its readers ask for beyond it. Perfetto and
/// speedscope build a stack for each thread: its slices come in the order of their starts, and lie
/// within or beside each other.
[[nodiscard]] std::vector<std::string> wrong_in_trace(const nlohmann::json& trace);

}  // namespace morton::test
