// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/error.hpp"

namespace morton::cli {

/// A message of the library that begins with a setting, or advises one at its end, with the name of
/// its option there.
[[nodiscard]] std::string with_option_name(const std::string& message);

/// What `call` returns; a UsageError of a setting names the option.
template <typename Call>
auto naming_options(const Call& call) {
  try {
    return call();
  } catch (const UsageError& error) {
    throw UsageError(with_option_name(error.what()));
  }
}

}  // namespace morton::cli
