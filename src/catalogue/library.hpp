// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::catalogue {

/// A library that entries may name in place of a source. Which of them a build can call
/// is known to the half that talks to devices (launch/library.hpp).
struct Library {
  std::string_view name;     ///< in entries and PlanOptions: "clblast"
  std::string_view title;    ///< "CLBlast"
  std::string_view package;  ///< Debian's, with its headers
  /// Who computes. On the host it takes memory that the device shares, and the run waits for it.
  enum class Place : std::uint8_t { device, host } place;
  enum class Choice : std::uint8_t {
    where_named,   ///< where PlanOptions::use names the entry
    where_it_pays  ///< also where its measured cost is the least
  } choice;
  std::span<const std::string_view> routines;
};

/// All libraries that Morton knows how to call.
[[nodiscard]] std::span<const Library> libraries();
/// The library named `name`, or nullptr.
[[nodiscard]] MORTON_FOR_TOOLS const Library* find_library(std::string_view name);

}  // namespace morton::catalogue
