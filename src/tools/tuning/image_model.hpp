// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/model.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::tools {

/// Whether `image_model` poses problems of the family: convolutions, pools, or both.
[[nodiscard]] bool reads_an_image(Family family);

/// Whether the graph poses two problems that the plan makes one.
[[nodiscard]] bool is_made_of_two(Family family);

/// A graph that reads an image "src" and poses this problem, of a family that reads one; its output
/// is "dst". Throws UnsupportedError where the problem lacks a size, or no graph poses it.
[[nodiscard]] Model image_model(const TunedProblem& problem);

}  // namespace morton::tools
