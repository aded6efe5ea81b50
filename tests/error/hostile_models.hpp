// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/rooms.hpp"

namespace morton::test {

/// A model file that must be refused.
struct HostileModel {
  std::string name;
  /// Part of the one message: what is wrong, or the name of what is.
  std::string part;
  /// Writes the files into an empty folder; returns the model's path.
  std::function<std::string(const std::filesystem::path& folder)> write;
};

/// At least two hundred, made from scratch: shapes, names, cycles, external data, bytes,
/// attributes, operators.
[[nodiscard]] std::vector<HostileModel> hostile_models();

}  // namespace morton::test
