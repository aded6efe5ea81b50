// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// Subsampling as convolution (R18, section 5.1.3), for libraries that know no pooling: an
/// AveragePool without padding whose result is multiplied by one constant for each channel, and
/// maybe another added, becomes a Conv. Its filters are zeros but for the own channel, where they
/// hold the factor divided by the window's elements; so it does as many times the work as there are
/// channels. Returns how many it changed. It is none of the pipeline's passes: the result is slower
/// wherever there are pooling kernels.
MORTON_FOR_TOOLS int spread_subsampling(Graph& graph);

}  // namespace morton::passes
