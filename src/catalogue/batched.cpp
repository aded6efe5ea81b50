// SPDX-License-Identifier: Apache-2.0
#include "catalogue/batched.hpp"

namespace morton::catalogue {

std::optional<Entry> batched(const Entry& entry) {
  if (entry.family != families::gemm || entry.global.size() > 2) return std::nullopt;
  if (entry.where_named) return std::nullopt;
  if (entry.code.find("ARGUMENTS") == std::string::npos) return std::nullopt;
  Entry twin = entry;
  twin.family = families::batched_gemm;
  twin.name = "batched_" + entry.name;
  twin.batch_of = entry.name;
  for (auto& [role, format] : twin.operands) {
    format.outer = 1;
    format.layout.reset();
    if (format.memory == MemoryKind::image) return std::nullopt;
  }
  twin.global.resize(2, Expression(1));
  twin.local.resize(2, Expression(1));
  twin.global.push_back(Expression::variable("B"));
  twin.local.emplace_back(1);
  twin.flop = Expression::variable("B") * entry.flop;
  twin.work = Expression::variable("B") * entry.work;
  twin.bytes = Expression::variable("B") * entry.bytes;
  return twin;
}

}  // namespace morton::catalogue
