// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/tasks/batch_rows.hpp"

namespace morton::plan {

/// One device's share of a batch.
struct SplitPart {
  Graph graph;  ///< the model after its passes, with `rows` as its batch
  DeviceInfo device;
  std::int64_t rows = 0;
};

/// Where the inputs and outputs of a model have rows, by port.
struct PortRows {
  std::vector<RowDimension> inputs;  ///< none of one that is the same for every part
  std::vector<std::size_t> outputs;
};

/// Those of `whole`, whose batch is cut into the parts' rows. Throws UnsupportedError where an
/// output's rows do not depend on the inputs' same rows alone.
[[nodiscard]] PortRows port_rows(const Graph& whole, std::span<const SplitPart> parts);

/// One plan over several devices: the batch of `whole` (the model after its passes, with the whole
/// batch) is cut into the parts' rows, in their order; part i runs on device i. The batch may be
/// any extent of an input or output. Inputs and outputs lie whole on the first device. Its part
/// works in place on their first rows where those are one stretch, else on a copy. Transfers come
/// first and bring the other parts their rows of the inputs (inputs without a batch go to all in
/// full), then follow all parts' steps, then the transfers that gather the outputs.
///
/// Throws UnsupportedError where an output's rows do not depend on the inputs' same rows alone, and
/// whatever `make_plan` throws.
[[nodiscard]] Plan make_split_plan(const Graph& whole, std::span<const SplitPart> parts,
                                   const KernelPolicy& policy);

}  // namespace morton::plan
