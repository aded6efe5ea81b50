// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/commands.hpp"

namespace morton::cli {

/// Adds `compile`, as the functions of common/commands.hpp do.
void add_compile(CLI::App& app, Action& chosen);

}  // namespace morton::cli
