// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/data_options.hpp"
#include "common/options.hpp"
#include "morton/compare.hpp"

namespace morton::cli {

/// A second model to compare the first with, and the examples that both see.
struct OtherModel {
  std::string path;  ///< empty: none
  DataOptions data;  ///< without a path: -i, or random numbers
  std::int64_t examples = 512;
};

/// What `compare MODEL` was told.
struct CompareModelArguments {
  ModelOptions model;
  OtherModel against;
  DeviceOptions device;
  std::vector<std::string> inputs;
  std::string reference = "reference";
  std::int64_t sample = 50;  ///< millions of multiplications
  std::uint64_t seed = 1;
  Tolerance tolerance;
  bool layers = false;
  ResultOptions result;
};

}  // namespace morton::cli
