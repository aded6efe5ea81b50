// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"
#include "morton/tools/problems.hpp"

namespace morton {

/// How far tuning has come.
struct TuneProgress {
  double done = 0.0;  ///< share of the work, or of the time if that ends first
  /// "gemm.tile M=64 N=64 K=64: 7 of 15, best 120.5 GFLOP/s (TILE_M=6 TILE_N=64)".
  std::string text;
};

/// How tuning is done.
struct TuneOptions {
  /// `fast` samples candidates and follows the best one's neighbours, with short samples; `normal`
  /// does so with more of them; `full` tries all. Each stops when the time is over.
  enum class Effort : std::uint8_t { fast, normal, full } effort = Effort::normal;
  double budget_ms = 60e3;
  /// Kernels to tune, by name; empty: those that the plan estimates to be quick (`full`: all that
  /// can compute the problem).
  std::vector<std::string> kernels;
  std::vector<std::string> catalogue_files;
  std::string device;  ///< as Device::open takes it
  std::string cache_dir;
  /// File for the result; empty: the device's own in the cache folder, which compiling reads.
  std::string output;
  /// Command that starts a process which calls `run_tune_worker`.
  std::vector<std::string> worker;
  /// A candidate that takes longer, building and checking included, is refused.
  double candidate_timeout_ms = 60e3;
  std::uint64_t seed = 1;
  std::function<void(const TuneProgress&)> progress;  ///< may be empty
  std::function<void(const Message&)> log;            ///< likewise
};

/// The finding for one kernel and problem.
struct TuneResult {
  std::string problem;  ///< "gemm M=64 N=3136 K=576"
  std::string kernel;
  std::map<std::string, std::int64_t> tunables;
  double ms = 0.0, gflops = 0.0;  ///< of the kernel alone, by the least sample
  double share_of_peak = 0.0;     ///< of the device's peak, the highest in the same turns
  double standard_ms = 0.0;       ///< with the entry's standard values; 0: not measured
  std::int64_t tried = 0, space = 0;
};

/// A candidate that no plan may use on the device from now on.
struct TuneRefusal {
  std::string kernel;
  std::map<std::string, std::int64_t> tunables;
  std::string why;
};

/// What `tune` found.
struct TuneReport {
  std::vector<TuneResult> results;
  std::vector<TuneRefusal> refused;
  std::vector<Message> notes;  ///< kernels and problems that could not be tuned, and why
  std::string file;            ///< that holds the result; empty where nothing is stored
  std::int64_t recalled = 0;   ///< candidates that an earlier process had tried
};

/// A problem whose kernels can be tuned.
struct TuneProblem {
  std::string text;  ///< "conv2d C=3 H=224 ..."
  std::string json;  ///< as tuning files name it
};

/// The problem of `gemm_model(shape)`. Throws UsageError unless the extents are positive.
[[nodiscard]] MORTON_API TuneProblem product_to_tune(const GemmShape& shape);

/// Searches the tunables of the problems' kernels and stores what it finds. Candidates are built,
/// checked and timed in a process of their own. A run that was killed goes on where it was. Throws
/// UsageError for kernels that there are not, DeviceError where no worker runs.
[[nodiscard]] MORTON_API TuneReport tune(const std::vector<TuneProblem>& problems,
                                         const TuneOptions& options);

/// The distinct problems in the model's plan for the device that can be tuned: products, those in
/// batches (as single ones), convolutions, pools, and both in one step. `notes` names what else
/// computes.
[[nodiscard]] MORTON_API std::vector<TuneProblem> problems_to_tune(const Model& model,
                                                                   const std::string& device_json,
                                                                   const CompileOptions& options,
                                                                   std::vector<std::string>& notes);

/// Of a problem that was tuned: what the plan would take if nothing had been, and what is best.
struct FirstGuess {
  std::string problem;
  std::string guess;      ///< kernel, with its standard values
  double guess_ms = 0.0;  ///< 0: not measured
  std::string best;
  std::map<std::string, std::int64_t> tunables;
  double best_ms = 0.0, best_gflops = 0.0, share_of_peak = 0.0;
};
/// From the tuning data of the device (shipped, of the cache folder, of `options.tuning_files`).
[[nodiscard]] MORTON_API std::vector<FirstGuess> first_guesses(const std::string& device_json,
                                                               const CompileOptions& options);

/// Measures what its standard input asks for until that ends; for the process that
/// TuneOptions::worker starts.
MORTON_API int run_tune_worker();

}  // namespace morton
