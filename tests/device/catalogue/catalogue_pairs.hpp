// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>

#include "device/catalogue/catalogue_ways.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// An operator, and two cases of it.
using CasePair = std::pair<std::string, std::array<std::string, 2>>;

/// Two cases of the same structure, for each family and for some ways of their own.
[[nodiscard]] const std::map<std::string, CasePair>& case_pairs();
/// The pair for a way: its family's, but for convolutions of a kind of their own.
[[nodiscard]] std::string pair_of(const Way& way);

}  // namespace morton::test
