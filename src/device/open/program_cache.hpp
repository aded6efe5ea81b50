// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl.hpp"

namespace morton::device {

/// What programs may take on disk, unless somebody says otherwise.
inline constexpr std::int64_t kDefaultCacheLimitBytes = std::int64_t{1} << 30;

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
  /// The binary is on disk already or must not be written (again). Models compiled at the same time
  /// share a program.
  std::atomic<bool> stored = false;
};

/// A program that the cache does not hold, and where it is to lie.
struct MissingProgram {
  std::string key, owner;  ///< as in ProgramFile
  std::filesystem::path path;
};

/// Programs of one device, in memory for the life of the process and on disk between processes.
///
/// Build options: "-cl-std=CL1.2" (1.1 or 1.0 where the device has no more), "-w" (no warnings,
/// which PoCL counts on the terminal) and nothing that loosens numbers: no -cl-fast-relaxed-math,
/// no -cl-mad-enable. The language lets compilers contract a*b+c by default, which is all that
/// fused multiply-adds need; a kernel that must not be contracted says so itself (#pragma OPENCL
/// FP_CONTRACT OFF).
///
/// The key is a digest of the source's code (bare_code), names of the kernels, build options,
/// device, driver and the format version. Sources that differ in comments and line numbers alone
/// share a program: the one that was built first. A disk entry (program_file.hpp) is
/// `<folder>/programs/<key>.bin`: it is checked in full, its owner and mode too, before the driver
/// sees its binary, since a damaged one can crash PoCL. Entries are written by `store`, which must
/// follow a run of every kernel with its work-group size (PoCL's binary holds only code that has
/// been launched, and the first query freezes it). A work-group size that `store` did not see is
/// compiled again in each later process. Any failure falls back to source and is reported in
/// BuildReport::dropped; a failure to write is reported, not thrown. Thread-safe: different
/// programs are built at the same time, each of them once.
class ProgramCache {
 public:
  /// Where programs lie between processes.
  struct Disk {
    std::filesystem::path folder;  ///< empty: memory only
    std::int64_t limit_bytes = kDefaultCacheLimitBytes;
  };
  MORTON_FOR_TOOLS ProgramCache(cl::Context context, cl::Device device, const DeviceInfo& info,
                                Disk disk);

  /// The program for `source`; from memory, from disk, or built. Throws DeviceError with the build
  /// log (shortened), the kernels' names and the device when it does not compile.
  [[nodiscard]] MORTON_FOR_TOOLS std::shared_ptr<CachedProgram> get(
      const std::string& source, const std::vector<std::string>& kernels, BuildReport& report);
  /// Writes the program's binary unless it is stored; call after all its kernels ran. Returns an
  /// explanation when it could not be written, else an empty text.
  MORTON_FOR_TOOLS std::string store(CachedProgram& program);
  /// Where the program for `source` is to lie, if it is neither in memory nor on disk. Nothing
  /// where it is, or where nothing is kept on disk.
  [[nodiscard]] std::optional<MissingProgram> missing(
      const std::string& source, const std::vector<std::string>& kernels) const;
  /// Why programs cannot be kept on disk (why_not_kept_in); empty where they can, and where none
  /// are to be kept.
  [[nodiscard]] std::string why_not_kept() const;
  /// Says that a worker built the program of `key` for this process: `get` finds it on disk and
  /// counts it as built.
  void built_by_worker(const std::string& key);
  /// Removes what was not used for longest, of all devices, where programs on disk take more than
  /// the limit (cache_limit.hpp).
  void keep_within_limit() const;
  /// Options of every build.
  [[nodiscard]] const std::string& options() const { return options_; }
  /// Number of programs compiled from source so far.
  [[nodiscard]] int builds() const;

 private:
  using Pending = std::shared_future<std::shared_ptr<CachedProgram>>;

  /// From disk or from source.
  [[nodiscard]] std::shared_ptr<CachedProgram> make(const std::string& source,
                                                    const std::string& key,
                                                    const std::vector<std::string>& kernels,
                                                    BuildReport& report);
  [[nodiscard]] std::string key_of(const std::string& source,
                                   const std::vector<std::string>& kernels) const;
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  /// From disk; null when there is no good entry. What was wrong with a bad one goes to `report`.
  std::shared_ptr<CachedProgram> load(const std::string& key,
                                      const std::vector<std::string>& kernels,
                                      BuildReport& report) const;
  /// Makes the program of a checked entry; throws cl::Error or DeviceError if the driver refuses
  /// it.
  [[nodiscard]] cl::Program program_from(const std::string& binary) const;
  std::shared_ptr<CachedProgram> build(const std::string& source, const std::string& key,
                                       const std::vector<std::string>& kernels) const;

  cl::Context context_;
  cl::Device device_;
  DeviceInfo info_;
  std::string owner_;  ///< digest of the device's fingerprint
  std::filesystem::path folder_;
  std::int64_t limit_bytes_;
  std::string options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CachedProgram>> programs_;
  std::map<std::string, Pending> pending_;  ///< programs that some thread makes now
  std::set<std::string> built_by_workers_;  ///< keys that `get` has not met yet
  int builds_ = 0;
};

}  // namespace morton::device
