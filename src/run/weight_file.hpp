// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/rooms.hpp"

namespace morton::run {

/// Bytes in a file without a name, which the system may write to the disk and read again as it
/// needs memory. The file goes with the object.
class WeightFile {
 public:
  /// In the folder, which is made where it is missing; in the system's for temporary files where
  /// its name is empty. Throws UsageError where there is no room for
  /// so many bytes (at least 1).
  WeightFile(const std::string& folder, std::int64_t bytes);
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;
  ~WeightFile();
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Gives the memory of the whole file back to the system.
  void drop_pages() const;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace morton::run
