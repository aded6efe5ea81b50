// SPDX-License-Identifier: Apache-2.0
#include "device/open/program_file.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/files/file.hpp"

namespace morton::device {
namespace {

constexpr std::string_view kMagic = "morton program ";

/// The lines of a header, taken one by one from the front of the file.
class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  /// The rest of the next line, which must begin with `label`.
  std::string_view take(std::string_view label) {
    const std::size_t end = bytes_.find('\n', at_);
    const std::string_view line = bytes_.substr(at_, end - at_);
    if (end == std::string_view::npos || !line.starts_with(label)) {
      fail("expected a line '" + std::string(label) + "...' at byte " + std::to_string(at_));
    }
    at_ = end + 1;
    return line.substr(label.size());
  }
  [[nodiscard]] std::string_view taken() const { return bytes_.substr(0, at_); }
  [[nodiscard]] std::string_view rest() const { return bytes_.substr(at_); }
  [[noreturn]] void fail(const std::string& why) const {
    throw ModelError(where_ + ": is no whole program entry: " + why);
  }

 private:
  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::string encode(const ProgramFile& file) {
  std::string names;
  for (const std::string& kernel : file.kernels) names += (names.empty() ? "" : " ") + kernel;
  std::string bytes = std::string(kMagic) + std::to_string(kProgramFileVersion) + "\nkey " +
                      file.key + "\nowner " + file.owner + "\nkernels " + names + "\nbytes " +
                      std::to_string(file.binary.size()) + "\ndigest " + digest_of(file.binary) +
                      "\n";
  bytes += "header " + digest_of(bytes) + "\n";
  return bytes + file.binary;
}

ProgramFile decode_program_file(std::string_view bytes, const std::string& where) {
  HeaderReader reader(bytes, where);
  const std::string_view version = reader.take(kMagic);
  if (version != std::to_string(kProgramFileVersion)) {
    reader.fail("its format is '" + std::string(version.substr(0, 20)) + "', expected " +
                std::to_string(kProgramFileVersion));
  }
  ProgramFile file;
  file.key = reader.take("key ");
  file.owner = reader.take("owner ");
  file.kernels = words_of(reader.take("kernels "));
  const std::string_view size = reader.take("bytes ");
  const std::string_view digest = reader.take("digest ");
  const std::string header_digest = digest_of(reader.taken());
  if (reader.take("header ") != header_digest) {
    reader.fail("the digest of its header is wrong, it is damaged");
  }
  if (size != std::to_string(reader.rest().size())) {
    reader.fail("expected " + std::string(size) + " bytes of binary, got " +
                std::to_string(reader.rest().size()));
  }
  if (digest != digest_of(reader.rest())) {
    reader.fail("the digest of its binary is wrong, it is damaged");
  }
  file.binary = reader.rest();
  // PoCL leaves its own code out where its cache is removed meanwhile, and ends the process that
  // loads the rest.
  if (file.binary.starts_with("poclbin") && file.binary.find("/program.bc") == std::string::npos) {
    reader.fail("PoCL's binary has no code");
  }
  return file;
}

}  // namespace morton::device
