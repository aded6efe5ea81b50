// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/options.hpp"

namespace morton::cli {

/// Prints the statistics of all kernels in a file, which holds what a board's compiler printed
/// while any program ran.
int read_statistics(const std::string& path, const ResultOptions& result);

}  // namespace morton::cli
