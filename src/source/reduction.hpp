// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/rooms.hpp"
#include "problems/problem.hpp"
#include "source/element.hpp"

namespace morton::source {

/// What a kernel of the family reduce computes with, by the problem's structure; the macros take
/// scalars and vectors of the accumulator's type, and arguments without side effects:
/// START, which changes nothing that it is combined with; MAPPED(v), COMBINED(a, b), FINISHED(v).
/// A NaN among what is combined stays one. Empty for other families. Throws UnsupportedError for an
/// accumulator that no reduction has.
[[nodiscard]] std::vector<MacroText> reduction_macros(const Problem& problem);

}  // namespace morton::source
