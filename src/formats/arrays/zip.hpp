// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"

namespace morton::formats {

/// One file of a zip archive.
struct ZipEntry {
  std::string name;
  std::int64_t bytes = 0;  ///< unpacked, as the archive says
};

/// Reads a zip archive (stored or deflated entries, zip64) that lies in memory, by way of minizip.
class ZipReader {
 public:
  /// `archive` must outlive the reader; `where` names it in messages. Throws ModelError for what is
  /// no zip archive, lists an entry twice, or says that it unpacks to more than deflate can pack
  /// into its length; UnsupportedError for encrypted entries and other methods.
  ZipReader(std::string_view archive, std::string where);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  /// Starts to read entry `index` (one at a time).
  void open(std::size_t index);
  /// The next `count` bytes of the open entry; throws ModelError when fewer can be had.
  void read(std::byte* to, std::size_t count);
  /// Ends the open entry, all of which has been read; throws ModelError when its checksum is wrong.
  void close();

 private:
  struct Archive;
  [[noreturn]] void fail(const std::string& what) const;

  std::unique_ptr<Archive> archive_;
  std::string where_;
  std::vector<ZipEntry> entries_;
  std::size_t open_ = 0;
};

/// Writes a zip archive into memory: deflated entries that all bear the same date, so that equal
/// content gives equal bytes.
class ZipWriter {
 public:
  ZipWriter();
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// Adds the file `name` that consists of `parts`, one after the other.
  void add(const std::string& name, std::span<const std::span<const std::byte>> parts);
  /// Ends the archive and returns it; the writer is then spent.
  [[nodiscard]] std::string finish();

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace morton::formats
