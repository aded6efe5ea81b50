// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "api/compile/model_at_shapes.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "morton/compile.hpp"
#include "plan/policy/kernel_policy.hpp"

namespace morton::api {

/// Who is told what happens.
struct Observer {
  std::function<void(const Message&)> log;  ///< CompileOptions::log
  std::function<void(double)> progress;     ///< CompileOptions::progress
  std::stop_token stop;                     ///< says that nobody wants the result any more

  void say(const Message& line) const {
    if (log) log(line);
  }
};
[[nodiscard]] MORTON_FOR_TOOLS Observer observer_of(const CompileOptions& options);

/// Where it is kept what was measured, and what self-tests found.
struct Store {
  std::filesystem::path folder;  ///< the cache's; an empty one holds nothing
  std::vector<std::string> tuning_files;
  CompileOptions::Tuning tuning = CompileOptions::Tuning::use;
  Message problem{};  ///< why the folder is left empty although one is named
};
/// For a device that need not be there.
[[nodiscard]] MORTON_FOR_TOOLS Store store_of(const CompileOptions& options);
/// For a device: one that keeps nothing on disk reads nothing there, unless a folder is named.
[[nodiscard]] Store store_of(const CompileOptions& options, const Device& device);

/// What was measured, of all sources that the store lets in; and what self-tests refuse. Throws
/// ModelError for a damaged file.
[[nodiscard]] MORTON_FOR_TOOLS std::shared_ptr<const TunedData> read_tuned(
    const Store& store, const Observer& observer);

/// The standard catalogue with the options' files. Throws ModelError for a bad file.
[[nodiscard]] MORTON_FOR_TOOLS std::shared_ptr<const Catalogue> catalogue_of(
    const CompileOptions& options);

/// What planning may consider. Throws UsageError where the options name what the catalogue has not,
/// and what reading the store and the catalogue's files throws.
[[nodiscard]] MORTON_FOR_TOOLS std::shared_ptr<const KernelPolicy> policy_of(
    const CompileOptions& options, const Store& store, const Observer& observer);

/// What CompileOptions ask for, each part made once. The functions below `compile` take what they
/// need of it and change nothing.
struct Job {
  std::shared_ptr<const ModelAtShapes> subject;
  std::shared_ptr<const KernelPolicy> policy;
  Observer observer;
  double policy_ms = 0.0;         ///< that making the policy took
  std::vector<InputShapes> also;  ///< CompileOptions::also
  CompileOptions::OtherShapes other_shapes = CompileOptions::OtherShapes::prepare;
  CompileOptions::SelfTest self_test = CompileOptions::SelfTest::once;
  CompileOptions::Fallback fallback = CompileOptions::Fallback::report;
  CompileOptions::Unkept unkept = CompileOptions::Unkept::report;
  std::vector<double> weights;      ///< CompileOptions::weights
  std::vector<Message> too_long{};  ///< kernels beyond CompileOptions::limits, and why
};

/// With CompileOptions::limits the subject's nodes are in as many parts as that asks for by
/// the plan's estimate on `device`. Throws what making its parts throws, and then what planning
/// throws.
[[nodiscard]] MORTON_FOR_TOOLS Job job_of(const Model& model, const CompileOptions& options,
                                          const Store& store, const DeviceInfo& device);

}  // namespace morton::api
