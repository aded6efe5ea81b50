// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "formats/quotes.hpp"

namespace morton::formats {

/// Reads the next `count` bytes of something that is read once, front to back. Throws ModelError
/// when fewer remain.
using ReadBytes = std::function<void(std::byte* to, std::size_t count)>;

/// How `InputFile::beneath` keeps a path inside its folder: by openat2, or, where the kernel has
/// none (before Linux 5.6) or a sandbox refuses it, by opening one folder after the other.
enum class Confinement : std::uint8_t { openat2_or_walk, walk };

/// The rule on links beneath a folder: no symbolic link on the way and one name for the file; or
/// any, as long as symbolic links lead nowhere outside. A hard link may be a second name of a file
/// that lies elsewhere, so only who made the folder can know of it.
enum class Links : std::uint8_t { refuse, inside };

/// A regular file that is open for reading.
class InputFile {
 public:
  /// Throws ModelError that names the file and what is wrong (missing, a folder, not readable).
  explicit InputFile(const std::filesystem::path& path);
  /// The file `relative` beneath `folder`, opened without looking at it before, so that nobody can
  /// replace it in between. With Links::refuse no part of `relative` may be "..". Throws ModelError
  /// for what leads outside, for links that `links` refuses, and for what is no regular file; a
  /// pipe or a device is never waited for.
  [[nodiscard]] static InputFile beneath(const std::filesystem::path& folder,
                                         const std::string& relative, Links links = Links::refuse,
                                         Confinement confinement = Confinement::openat2_or_walk);
  InputFile(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The path, for messages.
  [[nodiscard]] const std::string& where() const { return where_; }
  /// Reads the next `count` bytes; throws ModelError when fewer remain.
  void read(std::byte* to, std::size_t count);

 private:
  InputFile(int descriptor, std::string where, Links links);

  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
  std::string where_;
};

/// The bytes of a file, mapped read-only and privately: memory that the system may drop and read
/// again. The file must not shrink while it is mapped.
class MappedFile {
 public:
  explicit MappedFile(const InputFile& file);
  /// Of a file that was opened and not read yet the bytes as they are now: a copy in memory, which
  /// nobody who writes the file changes.
  [[nodiscard]] static std::shared_ptr<const MappedFile> copy_of(InputFile& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;  ///< that mmap gave
};

}  // namespace morton::formats
