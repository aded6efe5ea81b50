// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/export.hpp"
#include "morton/model.hpp"
#include "morton/tools/compiler_statistics.hpp"

namespace morton {

/// What tunables are searched by, where nothing can be measured: what the compiler of a GPU makes
/// of each kernel.
struct StaticTuneOptions {
  std::vector<std::string> kernels;   ///< by name; empty: those of `families`
  std::vector<std::string> families;  ///< empty: all
  std::vector<std::string> catalogue_files;
  std::string device;        ///< that compiles, as Device::open takes it
  std::string device_json;   ///< the facts of the GPU that it compiles for
  std::string check_device;  ///< that executes candidates to see that they are right; empty: none
  std::string cache_dir;
  /// File for the result; empty: the device's own in the cache folder, which plans read.
  std::string output;
  /// Command that starts a process which calls `run_tune_worker`.
  std::vector<std::string> worker;
  double candidate_timeout_ms = 60e3;  ///< a candidate that takes longer to build is left out
  std::function<void(double, const std::string&)> progress;  ///< share done, and what is built
};

/// A kernel with values of its tunables, and what its compiler says.
struct StaticTuneResult {
  std::string kernel;
  std::map<std::string, std::int64_t> tunables;
  bool is_standard = false;    ///< the entry's standard values
  bool is_checked = false;     ///< executed on `check_device`, with right results
  double per_operation = 0.0;  ///< multiply-adds' worth of one operation of the kernel's example
  CompilerStatistics statistics;
};

/// A kernel, or values of its tunables, without a result.
struct StaticTuneFailure {
  std::string kernel, tunables, why;
};

/// What tune_static found.
struct StaticTuneReport {
  std::vector<StaticTuneResult> results;
  std::vector<StaticTuneFailure> refused;  ///< kernels that compute nothing on the device
  std::vector<StaticTuneFailure> failed;   ///< that its compiler does not build
  std::vector<StaticTuneFailure> wrong;    ///< that `check_device` computed wrongly
  std::int64_t untried = 0;  ///< values that were not built: a kernel's texts are 64 at most
  std::string file;          ///< that holds the result
};

/// Builds each kernel on its family's example with the values of its tunables that its entry has
/// tuning try, the size of work-groups apart, and stores what the compiler makes of it. Values that
/// spill, and those that cost more than others with as many work-items, are left out, but for the
/// standard ones. What the file had of these kernels is replaced. Plans for this GPU then take, for
/// each problem, the values of the least cost. Throws UsageError for kernels that there are not,
/// DeviceError where no worker runs, UnsupportedError where the compiler prints no statistics.
[[nodiscard]] MORTON_API StaticTuneReport tune_static(const StaticTuneOptions& options);

/// The families of the problems that the model's plan for the device poses.
[[nodiscard]] MORTON_API std::vector<std::string> families_of_plan(const Model& model,
                                                                   const std::string& device_json,
                                                                   const CompileOptions& options);

}  // namespace morton
