// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/compile/model_at_shapes.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "morton/support.hpp"
#include "plan/split/split.hpp"

namespace morton {

BatchItems batch_items(const Model& model, const CompileOptions& options) {
  // Any batch shows it that is no other extent of the model by chance: the proof compares extents.
  constexpr std::int64_t kBatch = 17;
  BatchItems items;
  try {
    const api::ModelAtShapes given(model, api::pass_options_of(options));
    const api::ModelAtShapes whole = given.with_rows(kBatch);
    const api::ModelAtShapes one = given.with_rows(1);
    const api::ModelAtShapes rest = given.with_rows(kBatch - 1);
    const plan::SplitPart parts[] = {{one.graph(), {}, 1}, {rest.graph(), {}, kBatch - 1}};
    plan::PortRows rows = plan::port_rows(whole.graph(), parts);
    items.inputs = std::move(rows.inputs);
    items.outputs = std::move(rows.outputs);
  } catch (const UnsupportedError& error) {
    items.obstacle = error.message();
  }
  return items;
}

}  // namespace morton
