// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace morton {

/// An environment variable that Morton reads, and what it does. The library reads them, never sets
/// any.
struct EnvironmentVariable {
  std::string_view name;
  std::string_view meaning;
  std::string_view example;
};

/// All of them, for help texts and documentation.
[[nodiscard]] std::span<const EnvironmentVariable> environment_variables();

/// The variable's value, or nothing when it is unset or empty. Throws InternalError for a name that
/// is not in the table.
[[nodiscard]] std::optional<std::string> environment_variable(std::string_view name);

}  // namespace morton
