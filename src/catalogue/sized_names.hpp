// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "catalogue/reader.hpp"

namespace morton::catalogue {

/// What the expressions of an entry or recipe may name, and what its "sizes" stand for.
struct SizedNames {
  NameSet known;
  std::map<std::string, Expression> sizes;  ///< over names of the problem, tunables and the device
};

/// Of an entry whose tunables and operands are read, without sizes.
[[nodiscard]] SizedNames names_of(const Entry& entry);
/// Adds "sizes": the file's own names for expressions, which may use one another.
void read_sizes(const JsonReader& reader, SizedNames& names);
/// An expression in which no size is left.
[[nodiscard]] Expression read_sized(const JsonReader& reader, const SizedNames& names);
/// An array of them.
[[nodiscard]] std::vector<Expression> read_all_sized(const JsonReader& reader,
                                                     const SizedNames& names);

}  // namespace morton::catalogue
