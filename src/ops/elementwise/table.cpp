// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/table.hpp"

namespace morton::ops {

OperatorTable elementwise_table(InputCount inputs, const std::vector<ElementwiseRow>& rows) {
  OperatorTable table;
  table.reserve(rows.size());
  for (const ElementwiseRow& row : rows) {
    table.push_back({
        .name = row.name,
        .inputs = {.least = inputs.least, .most = inputs.most, .parameters = row.rest.parameters},
        .attributes = row.rest.attributes,
        .since_opset = row.since_opset,
        .chain = row.chain,
        .types = row.types(),
        .gradient = row.rest.gradient,
    });
  }
  return table;
}

}  // namespace morton::ops
