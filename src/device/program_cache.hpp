// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/device_info.hpp"
#include "device/opencl.hpp"

namespace morton {

/// Where programs came from, for reports ("kernels: 7 from cache, 0 built").
struct BuildReport {
  int kernels_from_memory = 0;
  int kernels_from_disk = 0;
  int kernels_built = 0;
  double build_ms = 0.0;
  /// What went wrong with cache entries that were dropped; the programs were built from source.
  std::vector<std::string> dropped;
};

/// A program on a device.
struct CachedProgram {
  cl::Program program;
  std::string key;
  std::vector<std::string> kernels;  ///< their names
  enum class Origin { source, disk } origin = Origin::source;
  /// The binary is on disk already or must not be written (again).
  bool stored = false;
};

/// Programs of one device, in memory for the life of the process and on disk between processes.
///
/// The key is a digest of source, build options, device, driver and the format version. A disk entry
/// holds a header (format, key, owner checked, size, digest of the binary) and the driver's binary: it
/// is checked in full before the driver sees it, since a damaged one can crash PoCL. Entries are
/// written by `store`, which must follow a run of every kernel with its work-group size (PoCL's binary
/// holds only code that has been launched, and the first query freezes it). Any failure falls back to
/// source and is reported in BuildReport::dropped; a failure to write is reported, not thrown.
class ProgramCache {
 public:
  /// `folder` empty: memory only.
  ProgramCache(cl::Context context, cl::Device device, const DeviceInfo& info,
               std::filesystem::path folder);

  /// The program for `source`; from memory, from disk, or built. Throws DeviceError with the build log
  /// (shortened), the kernels' names and the device when it does not compile.
  [[nodiscard]] std::shared_ptr<CachedProgram> get(const std::string& source,
                                                   const std::vector<std::string>& kernels,
                                                   BuildReport& report);
  /// Writes the program's binary unless it is stored; call after all its kernels ran. Returns an
  /// explanation when it could not be written, else an empty text.
  std::string store(CachedProgram& program);
  /// Options of every build.
  [[nodiscard]] const std::string& options() const { return options_; }
  /// Number of programs compiled from source so far.
  [[nodiscard]] int builds() const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  std::shared_ptr<CachedProgram> load(const std::string& key, BuildReport& report);
  std::shared_ptr<CachedProgram> build(const std::string& source, const std::string& key,
                                       const std::vector<std::string>& kernels);

  cl::Context context_;
  cl::Device device_;
  std::string owner_;  ///< fingerprint of the device
  std::string device_name_;
  std::filesystem::path folder_;
  std::string options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CachedProgram>> programs_;
  int builds_ = 0;
};

}  // namespace morton
