// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "morton/error.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/roofline_peaks.hpp"

namespace morton {

namespace device {
class OpenClDevice;
}
namespace api {
struct Inside;
}

/// How a device is opened.
struct DeviceConfig {
  /// Folder of the program cache and of measured peaks; empty: $MORTON_CACHE_DIR, else
  /// $XDG_CACHE_HOME/morton, else
  /// ~/.cache/morton.
  std::string cache_dir;
  /// Keeps programs only in memory, and takes no measured peaks.
  enum class DiskCache : std::uint8_t { use, none } disk_cache = DiskCache::use;
  /// What programs in the folder may take. After a build, those not used for longest are removed,
  /// of whatever device; those in use stay, and those used within the last minute.
  std::int64_t cache_limit_bytes = std::int64_t{1} << 30;
};

/// An OpenCL device: a handle that is cheap to copy; all copies share the context, the programs and
/// the memory pool. Thread-safe.
class MORTON_API Device {
 public:
  /// Opens the device that `selector` names: "P:D", "cpu", "gpu", "auto" (a GPU if there is one,
  /// else the CPU), part of a name, or "units=N". Empty: $MORTON_DEVICE, else "auto". Throws
  /// UsageError (no or several matches, with the list of devices) or DeviceError (none at all).
  [[nodiscard]] static Device open(const std::string& selector = "",
                                   const DeviceConfig& config = {});
  /// Facts of all devices, one JSON object each (schema in docs/devices.md), with the measured
  /// peaks of those that `config` keeps some of; `notes`, if given, says what is kept but useless.
  [[nodiscard]] static std::vector<std::string> list_json(const DeviceConfig& config = {},
                                                          std::vector<Message>* notes = nullptr);

  [[nodiscard]] std::string id() const;    ///< "P:D"
  [[nodiscard]] std::string name() const;  ///< as the driver gives it
  /// Name, platform, driver, compute units in one line.
  [[nodiscard]] std::string description() const;
  /// All facts as a JSON object.
  [[nodiscard]] std::string json() const;
  /// Its peaks: measured by `probe` (tools/probe.hpp), else guessed; `source` says
  /// which.
  [[nodiscard]] const RooflinePeaks& peaks() const;
  /// Why something that is kept for the device could not be used (damaged measured peaks); one line
  /// each.
  [[nodiscard]] const std::vector<Message>& notes() const;
  /// Device memory that Morton holds now, and the most it ever held, in bytes.
  [[nodiscard]] std::int64_t used_bytes() const;
  [[nodiscard]] std::int64_t peak_bytes() const;
  /// Programs compiled from source by this process on this device.
  [[nodiscard]] int program_builds() const;

 private:
  friend struct api::Inside;
  explicit Device(std::shared_ptr<device::OpenClDevice> device);

  std::shared_ptr<device::OpenClDevice> device_;
};

/// What device memory of the process may take, in bytes, on all devices together; unless it is set
/// it is $MORTON_MEMORY_LIMIT, else there is no limit. What does not fit is a DeviceError. Throws
/// UsageError unless `bytes` are positive.
MORTON_API void set_memory_limit(std::int64_t bytes);

}  // namespace morton
