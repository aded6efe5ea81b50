// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/output.hpp"

namespace morton::cli {

/// What `tune --static` searches and how it reports.
struct StaticTuning {
  bool wanted = false;
  std::string device_info;  ///< file that describes the GPU; empty: the device that builds
  std::string check_on;     ///< device that executes candidates; empty: the first CPU, if any
  std::vector<std::string> kernels;
  double timeout_ms = 60e3;
  std::string output;
  Format format = Format::table;
};

/// --static, --device-info and --check-on.
void add_static_options(CLI::App& command, StaticTuning& what);

/// Searches tunables by what the device's compiler says of the kernels: those of the model's plan,
/// or all where no model is named. 0 where all candidates were built and right, else 1.
int tune_static_command(const StaticTuning& what, const ModelOptions& model,
                        const DeviceOptions& device);

}  // namespace morton::cli
