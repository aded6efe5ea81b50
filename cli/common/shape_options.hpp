// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/options.hpp"

namespace morton::cli {

/// --batch and --shape, for commands that need no kernels.
void add_shape_options(CLI::App& command, ModelOptions& options);

}  // namespace morton::cli
