// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/options.hpp"

namespace morton::cli {

/// `inspect --support`: one row for each node, the reasons and the totals. Returns the exit status:
/// 1 where a node is not supported.
[[nodiscard]] int show_support(const ModelOptions& model, const ResultOptions& result);

}  // namespace morton::cli
