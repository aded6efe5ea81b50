// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "morton/device.hpp"
#include "morton/export.hpp"

namespace morton {

/// What came of a kernel on a small problem of its family.
struct KernelCheck {
  enum class Outcome : std::uint8_t {
    right,
    wrong,       ///< wrong results, memory beyond its operands, no build, a process that it ended
    impossible,  ///< the device lacks what the kernel requires
  } outcome = Outcome::right;
  std::string why;                               ///< empty where it is right
  std::map<std::string, std::int64_t> tunables;  ///< the values that it was built with
  double milliseconds = 0.0;
};

/// Runs the catalogue's entry `kernel` on a small problem whose sizes fill no tile, and compares
/// each element with the family's definition. The operands lie between guards: of memory that must
/// not change, and on a CPU of pages that end the process that touches them. Throws UsageError for
/// a kernel that there is not, and for a routine of a library; ModelError for a bad file of the
/// catalogue's.
[[nodiscard]] MORTON_API KernelCheck
check_kernel(const std::string& kernel, const Device& device,
             const std::vector<std::string>& catalogue_files = {});

/// Checks kernels in a process of its own, which may end; the next kernel gets a new one.
class MORTON_API KernelChecker {
 public:
  struct Options {
    std::string device;               ///< as Device::open takes it
    std::vector<std::string> worker;  ///< program and arguments that call run_tune_worker()
    std::vector<std::string> catalogue_files = {};
    double timeout_ms = 120e3;  ///< of one kernel, its build included
  };

  explicit KernelChecker(Options options);
  ~KernelChecker();
  KernelChecker(const KernelChecker&) = delete;
  KernelChecker& operator=(const KernelChecker&) = delete;

  /// As check_kernel. Throws DeviceError where the device does not open.
  [[nodiscard]] KernelCheck check(const std::string& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Has plans leave out kernels that were found wrong, by name, with those values of their tunables,
/// on the device and its driver, as a self-test does. Throws Error where the device's cache folder
/// cannot be written.
MORTON_API void refuse_kernels(const std::map<std::string, KernelCheck>& wrong,
                               const Device& device,
                               const std::vector<std::string>& catalogue_files = {});

}  // namespace morton
