// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/zip.hpp"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "formats/expansion.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

constexpr std::size_t kLongestMemberName = 1024;
constexpr std::size_t kEndRecordBytes = 22;
/// minizip counts the bytes of one call in an unsigned int, and returns them in an int.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

/// What minizip takes for a file: an archive in memory, read from `view` or written to `grown`.
struct MemoryFile {
  std::string_view view;
  std::string grown;
  std::uint64_t position = 0;
  bool cut_short = false;  ///< whether more was asked for than there is
};

MemoryFile& file_of(voidpf opaque) { return *static_cast<MemoryFile*>(opaque); }

voidpf open_memory(voidpf opaque, const void*, int) { return opaque; }
int close_memory(voidpf, voidpf) { return 0; }
/// minizip takes zeros for what lies behind the end unless it hears of an error.
int error_of_memory(voidpf, voidpf stream) { return file_of(stream).cut_short ? 1 : 0; }

uLong read_memory(voidpf, voidpf stream, void* to, uLong count) {
  MemoryFile& file = file_of(stream);
  const std::uint64_t size = file.view.size();
  const std::uint64_t left = file.position < size ? size - file.position : 0;
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(count, left));
  if (taken > 0) std::memcpy(to, file.view.data() + file.position, taken);
  file.position += taken;
  file.cut_short = file.cut_short || taken < count;
  return taken;
}

uLong write_memory(voidpf, voidpf stream, const void* from, uLong count) {
  MemoryFile& file = file_of(stream);
  const auto at = static_cast<std::size_t>(file.position);
  if (at + count > file.grown.size()) file.grown.resize(at + count);
  if (count > 0) std::memcpy(file.grown.data() + at, from, count);
  file.position += count;
  return count;
}

ZPOS64_T tell_memory(voidpf, voidpf stream) { return file_of(stream).position; }

long seek_memory(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  MemoryFile& file = file_of(stream);
  const std::uint64_t size = std::max(file.view.size(), file.grown.size());
  std::uint64_t base = 0;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) base = file.position;
  if (origin == ZLIB_FILEFUNC_SEEK_END) base = size;
  // minizip only moves forward from each origin, and never past the end of a sound archive.
  if (base > size || offset > size - base) return -1;
  file.position = base + offset;
  return 0;
}

zlib_filefunc64_def functions_for(MemoryFile& file) {
  zlib_filefunc64_def functions{};
  functions.zopen64_file = open_memory;
  functions.zread_file = read_memory;
  functions.zwrite_file = write_memory;
  functions.ztell64_file = tell_memory;
  functions.zseek64_file = seek_memory;
  functions.zclose_file = close_memory;
  functions.zerror_file = error_of_memory;
  functions.opaque = &file;
  return functions;
}

}  // namespace

struct ZipReader::Archive {
  MemoryFile file;
  unzFile handle = nullptr;
  std::vector<unz64_file_pos> positions;  ///< parallel to `entries_`
  ~Archive() {
    if (handle != nullptr) unzClose(handle);
  }
};

ZipReader::ZipReader(std::string_view archive, std::string where)
    : archive_(std::make_unique<Archive>()), where_(std::move(where)) {
  archive_->file.view = archive;
  // minizip does not find the end record of an empty archive, which consists of nothing else.
  if (archive.size() == kEndRecordBytes && archive.starts_with("PK\x05\x06")) return;
  zlib_filefunc64_def functions = functions_for(archive_->file);
  archive_->handle = unzOpen2_64("", &functions);
  if (archive_->handle == nullptr) fail("not a zip archive (such as .npz is), or cut short");
  std::set<std::string> names;
  std::int64_t total = 0;
  int status = unzGoToFirstFile(archive_->handle);
  for (; status == UNZ_OK; status = unzGoToNextFile(archive_->handle)) {
    unz_file_info64 info{};
    std::string name(kLongestMemberName, '\0');
    unz64_file_pos position{};
    if (unzGetCurrentFileInfo64(archive_->handle, &info, name.data(), kLongestMemberName, nullptr,
                                0, nullptr, 0) != UNZ_OK ||
        unzGetFilePos64(archive_->handle, &position) != UNZ_OK) {
      fail("the list of its files is damaged");
    }
    if (info.size_filename == 0 || info.size_filename >= kLongestMemberName) {
      fail("a file in it has a name of " + std::to_string(info.size_filename) + " bytes");
    }
    name.resize(info.size_filename);
    if ((info.flag & 1U) != 0)
      throw UnsupportedError(where_ + ": " + in_quotes(name) + " is encrypted");
    if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
      throw UnsupportedError(where_ + ": " + in_quotes(name) + " is packed by method " +
                             std::to_string(info.compression_method) +
                             "; only stored and deflated files are read");
    }
    if (!names.insert(name).second) fail("it lists " + in_quotes(name) + " twice");
    if (info.uncompressed_size > static_cast<std::uint64_t>(kMaxUnpackedBytes)) {
      fail(in_quotes(name) + " says that it has " + std::to_string(info.uncompressed_size) +
           " bytes");
    }
    total += static_cast<std::int64_t>(info.uncompressed_size);
    check_expansion(where_, total, static_cast<std::int64_t>(archive.size()));
    entries_.push_back({name, static_cast<std::int64_t>(info.uncompressed_size)});
    archive_->positions.push_back(position);
  }
  if (status != UNZ_END_OF_LIST_OF_FILE) fail("the list of its files is damaged");
}

ZipReader::~ZipReader() = default;

void ZipReader::fail(const std::string& what) const { throw ModelError(where_ + ": " + what); }

void ZipReader::open(std::size_t index) {
  open_ = index;
  if (unzGoToFilePos64(archive_->handle, &archive_->positions.at(index)) != UNZ_OK ||
      unzOpenCurrentFile(archive_->handle) != UNZ_OK) {
    fail(in_quotes(entries_[index].name) + " is damaged: its two headers do not agree");
  }
}

void ZipReader::read(std::byte* to, std::size_t count) {
  while (count > 0) {
    const auto wanted = static_cast<unsigned>(std::min(count, kMostAtOnce));
    const int got = unzReadCurrentFile(archive_->handle, to, wanted);
    if (got <= 0) {
      fail(in_quotes(entries_[open_].name) + " is damaged or cut short: " + std::to_string(count) +
           " more bytes expected");
    }
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

void ZipReader::close() {
  if (unzeof(archive_->handle) != 1)
    fail(in_quotes(entries_[open_].name) + " is longer than expected");
  if (unzCloseCurrentFile(archive_->handle) != UNZ_OK) {
    fail(in_quotes(entries_[open_].name) + " is damaged: its checksum is wrong");
  }
}

struct ZipWriter::Archive {
  MemoryFile file;
  zipFile handle = nullptr;
  ~Archive() {
    if (handle != nullptr) zipClose(handle, nullptr);
  }
};

ZipWriter::ZipWriter() : archive_(std::make_unique<Archive>()) {
  zlib_filefunc64_def functions = functions_for(archive_->file);
  archive_->handle = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
  if (archive_->handle == nullptr) throw InternalError("zip: cannot start an archive");
}

ZipWriter::~ZipWriter() = default;

void ZipWriter::add(const std::string& name, std::span<const std::span<const std::byte>> parts) {
  std::uint64_t bytes = 0;
  for (const std::span<const std::byte>& part : parts) bytes += part.size();
  zip_fileinfo info{};
  info.dosDate = 1U << 21 | 1U << 16;  // the first day that the format knows, 1980-01-01
  const int big = bytes >= std::numeric_limits<std::uint32_t>::max() ? 1 : 0;
  int status = zipOpenNewFileInZip64(archive_->handle, name.c_str(), &info, nullptr, 0, nullptr, 0,
                                     nullptr, Z_DEFLATED, Z_DEFAULT_COMPRESSION, big);
  for (std::span<const std::byte> part : parts) {
    while (status == ZIP_OK && !part.empty()) {
      const std::size_t now = std::min(part.size(), kMostAtOnce);
      status = zipWriteInFileInZip(archive_->handle, part.data(), static_cast<unsigned>(now));
      part = part.subspan(now);
    }
  }
  if (status == ZIP_OK) status = zipCloseFileInZip(archive_->handle);
  if (status != ZIP_OK) {
    throw InternalError("zip: cannot add " + in_quotes(name) + " (" + std::to_string(status) + ")");
  }
}

std::string ZipWriter::finish() {
  const int status = zipClose(std::exchange(archive_->handle, nullptr), nullptr);
  if (status != ZIP_OK) {
    throw InternalError("zip: cannot end the archive (" + std::to_string(status) + ")");
  }
  return std::move(archive_->file.grown);
}

}  // namespace morton::formats
