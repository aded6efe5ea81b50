// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "morton/error.hpp"

namespace morton::cli {

/// A message of the library that begins with a setting, with the name of its option in front.
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
