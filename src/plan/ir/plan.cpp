// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/plan.hpp"

namespace morton::plan {

int memory_root(const std::vector<Value>& values, int index) {
  while (values[static_cast<std::size_t>(index)].memory_of >= 0) {
    index = values[static_cast<std::size_t>(index)].memory_of;
  }
  return index;
}

std::string_view name_of(PlannedBlock::Kind kind) {
  switch (kind) {
    case PlannedBlock::Kind::weights:
      return "weights";
    case PlannedBlock::Kind::state:
      return "state";
    case PlannedBlock::Kind::activations:
      return "activations";
    case PlannedBlock::Kind::workspace:
      return "workspace";
  }
  return "";
}

std::int64_t block_bytes(const Plan& plan, PlannedBlock::Kind kind) {
  std::int64_t bytes = 0;
  for (const auto& block : plan.blocks) {
    if (block.kind == kind) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace morton::plan
