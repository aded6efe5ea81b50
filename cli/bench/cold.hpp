// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/commands.hpp"
#include "common/given_model.hpp"
#include "common/options.hpp"

namespace morton::cli {

/// What `bench --cold` was told.
struct ColdOptions {
  DeviceOptions device;
  ModelOptions model;
  MeasureOptions measure;
  ResultOptions result;
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
};

/// Measures, in child processes, the time from a process's start to its first result: with empty
/// caches, with kept ones, and from a compiled file. Returns the exit status.
[[nodiscard]] int bench_cold(const ColdOptions& options);

/// Adds the hidden `first-result`, which it starts.
void add_first_result(CLI::App& app, Action& chosen);

}  // namespace morton::cli
