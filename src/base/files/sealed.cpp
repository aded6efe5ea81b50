// SPDX-License-Identifier: Apache-2.0
#include "base/files/sealed.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace morton {
namespace {

/// The rest of the next line, which must begin with `label`; moves `at` behind it.
std::string_view take_line(std::string_view bytes, std::size_t& at, std::string_view label,
                           const Fail& fail) {
  constexpr std::size_t kLongestLine = 200;
  const std::string_view rest = bytes.substr(at, kLongestLine);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || !rest.starts_with(label)) {
    fail("expected a line '" + std::string(label) + "...' at byte " + std::to_string(at));
  }
  at += end + 1;
  return rest.substr(label.size(), end - label.size());
}

}  // namespace

std::string sealed(const Seal& seal, std::string_view body) {
  std::string head = std::string(seal.magic) + std::to_string(seal.version) + "\nschema " +
                     seal.schema + "\nbytes " + std::to_string(body.size()) + "\ndigest " +
                     digest_of(body) + "\n";
  head += "header " + digest_of(head) + "\n";
  return head.append(body);
}

std::string_view unsealed(const Seal& seal, std::string_view bytes, std::string_view& rest,
                          const Fail& fail) {
  std::size_t at = 0;
  const std::string_view version = take_line(bytes, at, seal.magic, fail);
  if (version != std::to_string(seal.version)) {
    fail("its format is '" + std::string(version.substr(0, 20)) + "', expected " +
         std::to_string(seal.version));
  }
  const std::string_view schema = take_line(bytes, at, "schema ", fail);
  const std::string_view size = take_line(bytes, at, "bytes ", fail);
  const std::string_view digest = take_line(bytes, at, "digest ", fail);
  const std::string header = digest_of(bytes.substr(0, at));
  if (take_line(bytes, at, "header ", fail) != header) {
    fail("the digest of its header is wrong, it is damaged");
  }
  if (schema != seal.schema) {
    fail(std::string("another version of Morton wrote it (this is ") + MORTON_VERSION + ")");
  }
  std::uint64_t body_bytes = 0;
  const auto [end, problem] = std::from_chars(size.data(), size.data() + size.size(), body_bytes);
  if (problem != std::errc() || end != size.data() + size.size() ||
      body_bytes > bytes.size() - at) {
    fail("expected " + std::string(size) + " bytes behind its header, got " +
         std::to_string(bytes.size() - at));
  }
  const std::string_view body = bytes.substr(at, body_bytes);
  if (digest_of(body) != digest) fail("the digest of its plan is wrong, it is damaged");
  rest = bytes.substr(at + body_bytes);
  return body;
}

}  // namespace morton
