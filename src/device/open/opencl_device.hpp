// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/memory_pool.hpp"
#include "device/open/opencl.hpp"
#include "device/open/program_cache.hpp"

namespace morton::device {

struct DeviceOptions {
  /// Folder of the program cache and of measured peaks on disk; empty means none are kept.
  std::filesystem::path cache_folder;
  /// What programs on disk may take.
  std::int64_t cache_limit_bytes = kDefaultCacheLimitBytes;
  /// Why there is no folder although one was named: the device's first note.
  Message cache_problem{};
};

/// One opened OpenCL device: its facts, its context, its programs and its memory. Immutable but for
/// the caches, which lock themselves; shared between threads.
class OpenClDevice {
 public:
  /// Facts of every device that the loader finds, in the order of their ids. Empty without a
  /// loader, platform or device. Devices that their driver cannot describe are left out;
  /// `problems`, if given, says which and why.
  [[nodiscard]] MORTON_FOR_TOOLS static std::vector<DeviceInfo> list(
      std::vector<std::string>* problems = nullptr);
  /// Opens the device that `selector` names: "P:D", "cpu", "gpu", "auto" (a GPU if there is one,
  /// else the CPU; of several the one with the most compute units), part of a name (any case), or
  /// "units=N" (number of compute units, as R17 chose).
  /// Throws UsageError for no match or several, listing the devices; DeviceError when there is
  /// none.
  [[nodiscard]] MORTON_FOR_TOOLS static std::shared_ptr<OpenClDevice> open(
      const std::string& selector, const DeviceOptions& options);
  /// Works in a caller's context; retains both. The id is "adopted" for a device that `list` does
  /// not know (a sub-device). Throws UsageError when the device does not belong to the context.
  [[nodiscard]] static std::shared_ptr<OpenClDevice> adopt(const cl::Context& context,
                                                           const cl::Device& device,
                                                           const DeviceOptions& options);
  OpenClDevice(cl::Context context, cl::Device device, DeviceInfo info,
               const DeviceOptions& options);

  /// Its peaks are the measured ones where `options.cache_folder` keeps some (kept_peaks.hpp).
  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  /// Why something that is kept for the device could not be used; one line each.
  [[nodiscard]] const std::vector<Message>& notes() const { return notes_; }
  [[nodiscard]] const cl::Context& context() const { return context_; }
  [[nodiscard]] const cl::Device& device() const { return device_; }
  /// An in-order queue; events of a profiling queue carry device times.
  enum class QueueKind { plain, profiling };
  [[nodiscard]] MORTON_FOR_TOOLS cl::CommandQueue make_queue(QueueKind kind) const;
  /// Empty where nothing is kept on disk.
  [[nodiscard]] const std::filesystem::path& cache_folder() const { return cache_folder_; }
  [[nodiscard]] ProgramCache& programs() { return *programs_; }
  [[nodiscard]] MemoryPool& memory() { return *memory_; }

 private:
  cl::Context context_;
  cl::Device device_;
  DeviceInfo info_;
  std::filesystem::path cache_folder_;
  std::vector<Message> notes_;
  std::unique_ptr<ProgramCache> programs_;
  std::unique_ptr<MemoryPool> memory_;
};

/// There is less memory than was asked for; nothing else is wrong.
struct OutOfMemory : DeviceError {
  using DeviceError::DeviceError;
};

/// Runs `call`, turning a cl::Error into a DeviceError: "<what>: clEnqueueNDRangeKernel returned
/// CL_INVALID_WORK_GROUP_SIZE (-54) on <device>"; into OutOfMemory, if it is one.
MORTON_FOR_TOOLS void with_device_errors(const std::string& what, const DeviceInfo& info,
                                         const std::function<void()>& call);
/// "CL_INVALID_VALUE (-30)".
[[nodiscard]] MORTON_FOR_TOOLS std::string opencl_error_text(int code);

}  // namespace morton::device
