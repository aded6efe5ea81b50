// SPDX-License-Identifier: Apache-2.0
#include "device/open/program_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/error.hpp"
#include "base/files/file.hpp"

namespace morton::device {
namespace {

constexpr std::string_view kMagic = "morton program ";
/// Of a small kernel.
constexpr std::size_t kProbeBytes = std::size_t{64} << 10;

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
  return file;
}

std::optional<std::string> why_not_trusted(const std::filesystem::path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return path.string() + ": cannot examine: " + std::strerror(errno);
  }
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    return path.string() + ": is neither a file nor a folder";
  }
  if (facts.st_uid != ::geteuid()) {
    return path.string() + ": belongs to user " + std::to_string(facts.st_uid) +
           ", not to this one (" + std::to_string(::geteuid()) + "), so it is not believed";
  }
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return path.string() + ": others may write it, so it is not believed (chmod go-w it)";
  }
  return std::nullopt;
}

void make_trusted_folder(const std::filesystem::path& folder) {
  std::error_code status;
  if (!std::filesystem::exists(folder, status)) {
    std::filesystem::create_directories(folder.parent_path(), status);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      throw UsageError(folder.string() + ": cannot create the folder: " + std::strerror(errno));
    }
  }
  if (const auto why = why_not_trusted(folder)) throw ModelError(*why);
}

std::string why_not_kept_in(const std::filesystem::path& folder) {
  try {
    make_trusted_folder(folder);
  } catch (const Error& error) {
    return error.what();
  }
  // The name is one of unfinished programs, which clearing the cache removes.
  std::string path = (folder / "probe.bin.XXXXXX").string();
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return folder.string() + ": cannot be written: " + std::strerror(errno);
  const std::string bytes(kProbeBytes, '\0');
  int problem = 0;
  for (std::size_t done = 0; done < bytes.size() && problem == 0;) {
    const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) problem = errno;
  }
  if (::close(file) != 0 && problem == 0) problem = errno;
  ::unlink(path.c_str());
  return problem == 0 ? "" : folder.string() + ": cannot be written: " + std::strerror(problem);
}

void write_trusted_file(const std::filesystem::path& path, std::string_view bytes) {
  write_trusted_file(path, std::span(&bytes, 1));
}

void write_trusted_file(const std::filesystem::path& path, std::span<const std::string_view> parts,
                        Flush flush) {
  make_trusted_folder(path.parent_path());
  write_file_atomically(path, parts, flush);
  // The user's mask may let a group write; such a file would not be believed later.
  if (::chmod(path.c_str(), 0600) != 0) {
    throw ModelError(path.string() + ": cannot set the mode: " + std::strerror(errno));
  }
}

}  // namespace morton::device
