// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/commands.hpp"

namespace morton::cli {

/// `compare MODEL`: the compare command itself, beside its subcommands.
void add_compare_model(CLI::App& command, Action& chosen);

}  // namespace morton::cli
