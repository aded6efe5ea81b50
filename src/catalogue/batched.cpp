// SPDX-License-Identifier: Apache-2.0
#include "catalogue/batched.hpp"

#include "problems/products/gemm.hpp"

namespace morton::catalogue {

std::optional<Entry> batched(const Entry& entry) {
  const std::optional<Family> family = batch_of_products(entry.family);
  if (!family || entry.launch.global.size() > 2) return std::nullopt;
  if (entry.where_named) return std::nullopt;
  if (entry.program.code.find("ARGUMENTS") == std::string::npos) return std::nullopt;
  Entry twin = entry;
  twin.family = *family;
  twin.name = "batched_" + entry.name;
  twin.origin.batch_of = entry.name;
  for (auto& [role, format] : twin.operands) {
    format.outer = 1;
    format.layout.reset();
    if (format.memory == MemoryKind::image) return std::nullopt;
  }
  twin.launch.global.resize(2, Expression(1));
  twin.launch.local.resize(2, Expression(1));
  twin.launch.global.push_back(Expression::variable("B"));
  twin.launch.local.emplace_back(1);
  twin.cost.flop = Expression::variable("B") * entry.cost.flop;
  twin.cost.work = Expression::variable("B") * entry.cost.work;
  twin.cost.bytes = Expression::variable("B") * entry.cost.bytes;
  return twin;
}

}  // namespace morton::catalogue
