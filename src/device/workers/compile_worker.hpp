// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::device {

/// The main of `morton-compile`: reads jobs (kernel_job.hpp) from standard input, a line each, and
/// answers each with a line on standard output: {"compiled": objects that the driver compiled} or
/// {"problem": "..."}. Works in a folder of its own for PoCL's cache, which it removes at the end
/// of the input. Returns the exit status.
[[nodiscard]] MORTON_FOR_TOOLS int serve_compile_jobs();

}  // namespace morton::device
