// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli11_names.hpp"
#include "morton/dataset.hpp"
#include "morton/model.hpp"

namespace morton::cli {

/// Which examples a command works on, and how their values are prepared.
struct DataOptions {
  std::string path;
  std::vector<float> mean, deviation;
};

/// --data, --mean and --deviation.
void add_options(CLI::App& command, DataOptions& options);

/// Says so where pictures are larger than the input, which sees their middle then.
void say_what_is_cut(const Dataset& data, const PortInfo& input);

/// The name of a class of the data, or its number.
[[nodiscard]] std::string class_name(const Dataset& data, std::int64_t label);

}  // namespace morton::cli
