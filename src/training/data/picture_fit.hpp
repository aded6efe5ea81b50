// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "morton/dataset.hpp"

namespace morton::training {

/// Throws UsageError: the data's examples and the network's input do not fit.
[[noreturn]] void fail_to_fit(const Dataset& data, const Shape& input);

}  // namespace morton::training
