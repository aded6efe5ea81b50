// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/table.hpp"

namespace morton::ops {

OperatorTable elementwise_table(InputCount inputs, const std::vector<ElementwiseRow>& rows) {
  OperatorTable table;
  table.reserve(rows.size());
  for (const ElementwiseRow& row : rows) {
    table.push_back({
        .name = row.name,
        .least_inputs = inputs.least,
        .most_inputs = inputs.most,
        .attributes = row.rest.attributes,
        .since_opset = row.since_opset,
        .chain = row.chain,
        .types = row.types(),
        .gradient = row.rest.gradient,
        .parameters = row.rest.parameters,
    });
  }
  return table;
}

}  // namespace morton::ops
