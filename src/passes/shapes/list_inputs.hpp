// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "base/rooms.hpp"
#include "passes/pipeline.hpp"

namespace morton::passes {

/// Makes lists and optional values among the inputs ordinary inputs, as far as the options give
/// them: a list becomes its elements and a node that makes it of them. An optional value is there
/// where the options name it. Otherwise a node without inputs stands for it.
///
/// A shape of one number, under the list's own name, is how many elements it has. Without it they
/// are those that are given by name. Those that are not given have the shape that the model fixes.
///
/// Returns the names of the lists. Throws UsageError where the options contradict the model or do
/// not say what a list holds, ModelError where an element has another tensor's name, and
/// UnsupportedError for a list that is too long.
std::set<std::string> open_list_inputs(Graph& graph, const PassOptions& options);

}  // namespace morton::passes
