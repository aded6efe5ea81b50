// SPDX-License-Identifier: Apache-2.0
#include "api/cache/tried_kernels.hpp"

#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/files/folder.hpp"
#include "base/files/trusted.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/measured/tuned_store.hpp"

namespace morton::api {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeading = "morton tried kernels 1";
constexpr std::int64_t kFileLimitBytes = std::int64_t{16} << 20;

}  // namespace

std::set<std::string> read_tried_kernels(const fs::path& file) {
  std::istringstream lines(read_file(file, kFileLimitBytes));
  std::string line;
  if (!std::getline(lines, line) || line != kHeading) {
    throw ModelError(file.string() + ": its first line is not '" + kHeading + "'");
  }
  std::set<std::string> keys;
  while (std::getline(lines, line)) keys.insert(line);
  return keys;
}

fs::path self_test_folder(const fs::path& cache) {
  return cache.empty() ? cache : cache / "self_test";
}

std::vector<std::string> read_self_test_verdicts(const fs::path& cache, TunedData& data) {
  std::vector<std::string> problems;
  const fs::path folder = self_test_folder(cache);
  std::error_code status;
  if (folder.empty() || !fs::is_directory(folder, status)) return problems;
  for (const fs::path& file : entries_of(folder, status)) {
    if (file.extension() != ".json") continue;
    TunedData found;
    try {
      (void)read_tuning_file(file, found);
    } catch (const ModelError& error) {
      problems.emplace_back(error.what());
      continue;
    }
    for (Verdict verdict : found.verdicts()) {
      verdict.finder = Verdict::Finder::self_test;
      data.add(std::move(verdict));
    }
  }
  return problems;
}

std::string trial_key(const Plan& plan, const Step& step) {
  if (const KernelLaunch* launch = step.launch()) return plan.instances[launch->instance].key;
  return step.library_call() != nullptr ? "library " + step.kernel : "";
}

TriedKernels::TriedKernels(const fs::path& cache, const DeviceInfo& device)
    : folder_(self_test_folder(cache)),
      device_(TunedDevice::of(device)),
      file_(tuning_file(folder_, device_).replace_extension(".txt")) {
  std::error_code status;
  try {
    // The folder may be one that root filled, which this user only reads.
    require_own_tuning(tuning_file(folder_, device_), device_);
    if (fs::exists(file_, status)) keys_ = read_tried_kernels(file_);
  } catch (const ModelError& error) {
    problem_ = error.what();
  }
}

void TriedKernels::add(const std::set<std::string>& keys) {
  // What another process adds between here and the renaming is tried once more, which does no harm.
  std::error_code status;
  if (fs::exists(file_, status)) {
    try {
      keys_.merge(read_tried_kernels(file_));
    } catch (const ModelError&) {
      // It is said (`problem`), and the file is replaced.
    }
  }
  keys_.insert(keys.begin(), keys.end());
  std::string text = std::string(kHeading) + "\n";
  for (const std::string& key : keys_) text += key + "\n";
  write_trusted_file(file_, text);
  // The file of verdicts, though it may hold none, names the device.
  if (!fs::exists(tuning_file(folder_, device_), status) || !problem_.empty()) {
    add(TunedData(), Catalogue());
  }
}

void TriedKernels::add(const TunedData& verdicts, const Catalogue& catalogue) const {
  const fs::path file = tuning_file(folder_, device_);
  try {
    store_tuning(file, device_, verdicts, catalogue);
  } catch (const ModelError&) {
    // Damaged, which is said (`problem`).
    std::error_code status;
    fs::remove(file, status);
    store_tuning(file, device_, verdicts, catalogue);
  }
}

}  // namespace morton::api
