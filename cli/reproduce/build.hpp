// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace morton::cli {

/// "0.1.0, commit 37add9e", or the version alone where it was not built from a repository.
[[nodiscard]] std::string build_text();

}  // namespace morton::cli
