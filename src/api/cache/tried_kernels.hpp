// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "plan/measured/tuned.hpp"

namespace morton::api {

/// The folder of what self-tests found, in a cache folder; empty for an empty one. For each device
/// and driver it has a file of the kernels that computed rightly, and one, as tuning data are kept,
/// with verdicts on those that did not.
[[nodiscard]] MORTON_FOR_TOOLS std::filesystem::path self_test_folder(
    const std::filesystem::path& cache);

/// The keys of kernels in a file that TriedKernels wrote. Throws ModelError for another one.
[[nodiscard]] MORTON_FOR_TOOLS std::set<std::string> read_tried_kernels(
    const std::filesystem::path& file);

/// Adds the verdicts of every device to `data`. Returns what is wrong with files that are damaged,
/// which count for nothing: what they refused is tried anew.
std::vector<std::string> read_self_test_verdicts(const std::filesystem::path& cache,
                                                 TunedData& data);

/// What tells whether a step's kernel was tried: the digest of its text, or of a library its name.
/// Empty for a transfer.
[[nodiscard]] std::string trial_key(const Plan& plan, const Step& step);

/// Which kernels computed rightly on a device and driver.
class TriedKernels {
 public:
  /// Reads the file. Where it is damaged nothing counts as tried, and `problem` says why; it also
  /// says where the verdicts are damaged.
  MORTON_FOR_TOOLS TriedKernels(const std::filesystem::path& cache, const DeviceInfo& device);

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool contains(const std::string& key) const { return keys_.contains(key); }
  /// Adds keys to the file, beside those that other processes have added meanwhile. Throws Error
  /// where it cannot be written.
  void add(const std::set<std::string>& keys);
  /// Adds verdicts on kernels of `catalogue` to their file, which is replaced where it is damaged.
  /// Throws Error where it cannot be written.
  MORTON_FOR_TOOLS void add(const TunedData& verdicts, const Catalogue& catalogue) const;

 private:
  std::filesystem::path folder_;
  TunedDevice device_;
  std::filesystem::path file_;
  std::set<std::string> keys_;
  std::string problem_;
};

}  // namespace morton::api
