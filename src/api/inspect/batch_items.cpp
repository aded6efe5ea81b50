// SPDX-License-Identifier: Apache-2.0
#include "api/compile/model_at_shapes.hpp"
#include "base/error.hpp"
#include "morton/support.hpp"
#include "plan/split/split.hpp"

namespace morton {
namespace {

/// Where items lie, as the model with `batch` of them shows it. Throws UnsupportedError where they
/// meet, and what the passes throw where the model does not take so many.
plan::PortRows rows_with(const api::ModelAtShapes& given, std::int64_t batch) {
  const api::ModelAtShapes whole = given.with_rows(batch);
  const api::ModelAtShapes one = given.with_rows(1);
  const api::ModelAtShapes rest = given.with_rows(batch - 1);
  const plan::SplitPart parts[] = {{one.graph(), {}, 1}, {rest.graph(), {}, batch - 1}};
  plan::PortRows rows = plan::port_rows(whole.graph(), parts);
  for (std::size_t i = 0; i < rows.outputs.size(); ++i) {
    const graph::GraphTensor& output = whole.graph().tensor(whole.graph().outputs[i]);
    for (const plan::SplitPart& part : parts) {
      Shape expected = output.shape;
      expected.at(rows.outputs[i]) = part.rows;
      if (part.graph.tensor(part.graph.outputs[i]).shape == expected) continue;
      throw UnsupportedError("output '" + output.name + "' does not grow with the batch");
    }
  }
  return rows;
}

}  // namespace

BatchItems batch_items(const Model& model, const CompileOptions& options) {
  // Extents that a model fixes are seldom primes: another one shows what was the batch by chance.
  constexpr std::int64_t kBatch = 17, kOtherBatch = 127;
  const api::PassOptions passes = api::pass_options_of(options);
  BatchItems items;
  try {
    const api::ModelAtShapes given(model, passes);
    try {
      plan::PortRows rows = rows_with(given, kBatch);
      const plan::PortRows others = rows_with(given, kOtherBatch);
      if (rows.inputs != others.inputs || rows.outputs != others.outputs) {
        throw UnsupportedError("items lie in other dimensions in another batch");
      }
      items.inputs = std::move(rows.inputs);
      items.outputs = std::move(rows.outputs);
    } catch (const ModelError& error) {  // it fixes its batch inside
      items.obstacle = error.message();
    } catch (const UsageError& error) {
      items.obstacle = error.message();
    }
  } catch (const UnsupportedError& error) {
    items.obstacle = error.message();
  }
  return items;
}

}  // namespace morton
