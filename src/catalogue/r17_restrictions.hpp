// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"

namespace morton::catalogue {

/// How a kernel of R17 is called, and which part of r one work-item computes.
struct R17Call {
  /// What it takes, in R17's letters: l, w, h (sizes), a, b, r (matrices).
  std::vector<std::string> parameters;
  bool in_place = false;            ///< r is a
  std::int64_t rows = 1, cols = 1;  ///< of r
  std::int64_t elements = 0;        ///< neighbours in memory; 0 where ids are of rows and columns
};

/// Reads what a kernel demands (r17_library.hpp) into an entry: its family, the formats of its
/// operands, its range. Throws ModelError that names the key.
[[nodiscard]] R17Call read_r17_restrictions(const JsonReader& restrictions, Entry& entry);

/// What R17's framework knows of the kernels of an operation, in the form of restrictions; "" for a
/// family that is none of its operations.
[[nodiscard]] std::string r17_convention(Family family);
/// "bias, gemm, relu, sigmoid": the families that have a convention.
[[nodiscard]] std::string r17_conventions();

}  // namespace morton::catalogue
