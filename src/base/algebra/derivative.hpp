// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/algebra/chain.hpp"

namespace morton {

/// What a gradient of the chain's value says of its input `input`: a chain over the gradient (input
/// 0) and the chain's own inputs (i becomes i + 1), which is the product of the gradient and the
/// chain's derivative. Nothing where the value does not depend on that input but in steps, as floor
/// and comparisons do.
///
/// Where a derivative does not exist: abs has 0 at 0; of two equal arguments of min and max the
/// constant one counts as the result, else the first; select follows what it selects. This is what
/// PyTorch 2 does for relu, relu6 and abs.
[[nodiscard]] std::optional<Chain> gradient_chain(const Chain& chain, int input);

}  // namespace morton
