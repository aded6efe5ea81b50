// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"
#include "morton/compile.hpp"

namespace morton::api {

/// Sets the option of this name, a member of CompileOptions, to what the text says; of a list or a
/// map it adds one. Throws UsageError, and leaves the options as they were.
void set_compile_option(CompileOptions& options, const std::string& name, const std::string& value);

}  // namespace morton::api
