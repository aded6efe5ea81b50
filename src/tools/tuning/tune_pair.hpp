// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/measured/tuned.hpp"
#include "problems/problem.hpp"

namespace morton::tools {

/// One kernel on one problem.
struct TunePair {
  BoundProblem bound;
  TunedProblem problem;
  const Entry* entry = nullptr;
};

}  // namespace morton::tools
