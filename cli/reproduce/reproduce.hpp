// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/commands.hpp"

namespace morton::cli {

/// `reproduce`: the sources' experiments, repeated on a device.
void add_reproduce(CLI::App& app, Action& chosen);

}  // namespace morton::cli
