// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "plan/search/choose.hpp"
#include "plan/search/formats.hpp"

namespace morton::plan {

/// Tries every other choice for each task in turn while the network's estimated time gets less: for
/// where paths join, which the search over chains counts once for each path. What a choice changes
/// is the time of its own kernels and of the copies of the tensors that it reads and writes, so
/// only that is added up again. `wishes` are wished_formats.
void improve(Selections& selections, const CandidateLists& candidates,
             const Indexed<TensorId, Formats>& wishes, const PlanContext& context,
             const LeftOut& left_out);

}  // namespace morton::plan
