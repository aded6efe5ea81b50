// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "source/work_nodes.hpp"

namespace morton::source {

/// What a program computes: a number of elements, and the place of each in dst's memory where that
/// is not the element's own number.
struct WorkResult {
  std::int64_t elements = 0;
  WorkNodeId value;
  WorkNodeId place;  ///< none: the element's number
};

/// The words of the program (work_program says which they are). Throws UnsupportedError where there
/// are not registers enough.
[[nodiscard]] std::vector<std::int32_t> with_registers(const WorkNodes& nodes,
                                                       const WorkResult& result);

/// How many registers the chain may take, with those for its operands' places.
[[nodiscard]] int registers_of(const Chain& chain);

}  // namespace morton::source
