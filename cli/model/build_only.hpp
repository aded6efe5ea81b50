// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/options.hpp"

namespace morton::cli {

/// What `compile --build-only` builds and how it reports.
struct BuildOnly {
  bool wanted = false;
  bool all = false;  ///< every kernel of the catalogue, not those of a model's plan
  std::string
      device_info;       ///< file that describes the device to plan for; empty: the one that builds
  ResultOptions result;  ///< the report
};

/// Builds kernels on a device and launches nothing. 0 where all were built, else 1.
int build_only(const BuildOnly& what, const ModelOptions& model, const DeviceOptions& device);

}  // namespace morton::cli
