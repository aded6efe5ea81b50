// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/decision.hpp"

#include <algorithm>

#include "layout/arrangement.hpp"

namespace morton::plan {

void BuiltKernels::add(const std::map<std::string, TaskDecision>& decided) {
  for (const auto& [task, decision] : decided) {
    auto& known = decisions[task];
    const bool is_new = std::ranges::find(known, decision) == known.end();
    if (is_new && known.size() < kMostDecisions) known.push_back(decision);
  }
}

std::string format_text(const Arrangement& arrangement) {
  std::string text(name_of(arrangement.dtype));
  for (const auto& group : arrangement.grouping) {
    text += " (";
    for (const int dimension : group) text += std::to_string(dimension) + ",";
    text += ")";
  }
  for (const Loop& loop : arrangement.layout.loops()) {
    text += " " + std::to_string(loop.dimension) + ":" + std::to_string(loop.extent);
  }
  if (arrangement.pitch != 0) text += " pitch";
  if (arrangement.memory == MemoryKind::image) {
    text += " image " + std::to_string(arrangement.image_rows) + "," +
            std::to_string(arrangement.image_texels);
  }
  return text;
}

}  // namespace morton::plan
