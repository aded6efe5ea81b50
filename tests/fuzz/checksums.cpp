// SPDX-License-Identifier: Apache-2.0
#include "fuzz/checksums.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace morton::test {
namespace {

constexpr std::size_t kMostUnpacked = std::size_t{1} << 16;
constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kLocal = "PK\x03\x04", kCentral = "PK\x01\x02";
constexpr std::string_view kGzip("\x1f\x8b\x08\x00", 4);

std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// A number of `size` bytes, the lowest first.
std::size_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::size_t number = 0;
  for (std::size_t i = size; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

void put(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> 8 * i);
}

void put_highest_first(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> (24 - 8 * i));
}

/// What deflate has packed at the front of `packed`, and how many bytes that took.
struct Unpacked {
  std::string bytes;
  std::size_t taken = 0;
};

std::optional<Unpacked> unpacked(std::string_view packed) {
  z_stream stream{};
  constexpr int kNoHeader = -15;
  if (::inflateInit2(&stream, kNoHeader) != Z_OK) return std::nullopt;
  Unpacked result{std::string(kMostUnpacked, '\0')};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.bytes.data());
  stream.avail_out = static_cast<uInt>(result.bytes.size());
  const int status = ::inflate(&stream, Z_FINISH);
  result.bytes.resize(stream.total_out);
  result.taken = stream.total_in;
  ::inflateEnd(&stream);
  return status == Z_STREAM_END ? std::optional(std::move(result)) : std::nullopt;
}

/// Of the chunks behind the signature at `begin`, each: length, name, content, checksum.
void repair_png(std::string& bytes, std::size_t begin) {
  for (std::size_t at = begin + kPng.size(); at + 12 <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    if (length > bytes.size() - at - 12) return;
    const std::string_view covered = std::string_view(bytes).substr(at + 4, length + 4);
    put_highest_first(bytes, at + 8 + length, checksum_of(covered));
    at += 12 + length;
  }
}

/// Of the file that the central header at `central` lists, in both of its headers.
void repair_zipped(std::string& bytes, std::size_t archive, std::size_t central) {
  constexpr std::size_t kCentralBytes = 46, kLocalBytes = 30;
  if (bytes.size() - central < kCentralBytes) return;
  const std::size_t local = archive + number_at(bytes, central + 42, 4);
  if (local > bytes.size() || bytes.size() - local < kLocalBytes) return;
  const std::size_t content =
      local + kLocalBytes + number_at(bytes, local + 26, 2) + number_at(bytes, local + 28, 2);
  if (content > bytes.size()) return;
  std::string_view packed = std::string_view(bytes).substr(content);
  packed = packed.substr(0, number_at(bytes, central + 20, 4));
  std::uint32_t checksum = checksum_of(packed);
  if (number_at(bytes, central + 10, 2) == Z_DEFLATED) {
    const std::optional<Unpacked> file = unpacked(packed);
    if (!file) return;
    checksum = checksum_of(file->bytes);
  }
  put(bytes, central + 16, checksum);
  put(bytes, local + 14, checksum);
}

void repair_zip(std::string& bytes) {
  const std::size_t archive = bytes.find(kLocal);
  if (archive == std::string::npos) return;
  for (std::size_t at = archive; (at = bytes.find(kCentral, at)) != std::string::npos; ++at) {
    repair_zipped(bytes, archive, at);
  }
}

/// A header of ten bytes, what is packed, its checksum, its length.
void repair_gzip(std::string& bytes) {
  constexpr std::size_t kHeaderBytes = 10;
  if (!std::string_view(bytes).starts_with(kGzip) || bytes.size() < kHeaderBytes) return;
  const std::optional<Unpacked> file = unpacked(std::string_view(bytes).substr(kHeaderBytes));
  if (!file || bytes.size() - kHeaderBytes - file->taken < 8) return;
  put(bytes, kHeaderBytes + file->taken, checksum_of(file->bytes));
  put(bytes, kHeaderBytes + file->taken + 4, static_cast<std::uint32_t>(file->bytes.size()));
}

}  // namespace

std::string with_right_checksums(std::string bytes) {
  for (std::size_t at = 0; (at = bytes.find(kPng, at)) != std::string::npos; ++at) {
    repair_png(bytes, at);
  }
  repair_zip(bytes);
  repair_gzip(bytes);
  return bytes;
}

}  // namespace morton::test
