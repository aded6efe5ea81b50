// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/idx.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "formats/expansion.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

constexpr int kUnsignedBytes = 0x08;

/// Reads a file through zlib, which unpacks gzip and passes anything else on as it is.
class GzipFile {
 public:
  explicit GzipFile(const InputFile& file) : where_(file.where()) {
    const int descriptor = ::dup(file.descriptor());
    handle_ = descriptor < 0 ? nullptr : gzdopen(descriptor, "rb");
    if (handle_ != nullptr) return;
    if (descriptor >= 0) ::close(descriptor);
    fail(std::string("cannot open: ") + std::strerror(errno));
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile() { gzclose(handle_); }

  void read(std::byte* to, std::size_t count) {
    while (count > 0) {
      const std::size_t got = read_some(to, count);
      if (got == 0) fail("is cut short: " + std::to_string(count) + " more bytes expected");
      to += got;
      count -= got;
    }
  }

  /// Fails unless all has been read; the checksum is compared here.
  void finish() {
    std::byte extra{};
    if (read_some(&extra, 1) != 0) fail("is longer than its header says");
  }

 private:
  std::size_t read_some(std::byte* to, std::size_t count) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
    const int got = gzread(handle_, to, static_cast<unsigned>(std::min(count, kMostAtOnce)));
    int status = Z_OK;
    const char* message = gzerror(handle_, &status);
    // A stream that ends early gives what it has, and Z_BUF_ERROR.
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) {
      // zlib names the file by its descriptor first.
      const std::string_view text = message;
      const std::size_t named = text.starts_with("<fd:") ? text.find(": ") : text.npos;
      fail("is damaged or cut short: " +
           std::string(named == text.npos ? text : text.substr(named + 2)));
    }
    return static_cast<std::size_t>(got);
  }

  [[noreturn]] void fail(const std::string& what) const { throw ModelError(where_ + ": " + what); }

  std::string where_;
  gzFile handle_ = nullptr;
};

}  // namespace

Tensor read_idx(const std::filesystem::path& path) {
  const InputFile file(path);
  const std::string& where = file.where();
  GzipFile bytes(file);
  std::array<std::byte, 4> magic{};
  bytes.read(magic.data(), magic.size());
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    throw ModelError(where + ": not an IDX file: it does not begin with two zero bytes");
  }
  const int type = std::to_integer<int>(magic[2]);
  if (type != kUnsignedBytes) {
    throw UnsupportedError(where + ": IDX element type " + std::to_string(type) +
                           "; Morton reads unsigned bytes (8)");
  }
  const auto rank = std::to_integer<std::size_t>(magic[3]);
  if (rank > kMaxRank) {
    throw ModelError(where + ": " + std::to_string(rank) + " dimensions; at most " +
                     std::to_string(kMaxRank) + " are supported");
  }
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    std::array<std::byte, 4> extent{};
    bytes.read(extent.data(), extent.size());
    std::int64_t value = 0;
    for (const std::byte b : extent) value = value << 8 | std::to_integer<std::int64_t>(b);
    shape.push_back(value);
  }
  check_expansion(where, element_count(shape, where.c_str()), file.bytes());
  Tensor tensor = Tensor::allocate(DType::u8, shape);
  bytes.read(tensor.mutable_data(), tensor.bytes());
  bytes.finish();
  return tensor;
}

}  // namespace morton::formats
