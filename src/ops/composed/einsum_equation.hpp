// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// An equation with a label for each dimension of each term. Those that an ellipsis stands for have
/// labels too, which no letter is.
struct EinsumEquation {
  std::vector<std::string> terms;
  std::string result;
};

/// The equation of an Einsum, checked against its inputs. Throws ModelError.
[[nodiscard]] EinsumEquation einsum_equation(const NodeView& node);

}  // namespace morton::ops
