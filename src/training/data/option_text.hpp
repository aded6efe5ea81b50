// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"

namespace morton::training {

/// A part of an option's text: "name=value", or a name alone (its value is then empty).
struct OptionPart {
  std::string name;
  std::string value;
};

/// The parts between commas, in order. `what` is the setting that messages name. Throws UsageError
/// for empty parts and for a name that comes twice.
[[nodiscard]] std::vector<OptionPart> option_parts(const std::string& what, std::string_view text);

/// The part's value as a whole number of `least` or more; throws UsageError.
[[nodiscard]] std::int64_t whole_of(const std::string& what, const OptionPart& part,
                                    std::int64_t least);

/// The part's value as a finite number; throws UsageError.
[[nodiscard]] double real_of(const std::string& what, const OptionPart& part);

}  // namespace morton::training
