// SPDX-License-Identifier: Apache-2.0
#include "base/files/trusted.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/error.hpp"
#include "base/files/folder.hpp"

namespace morton {
namespace {

namespace fs = std::filesystem;

/// A folder of the cache.
struct KeptFolder {
  const char* name;
  enum class Files : std::uint8_t { checked_on_use, checked_here } files;
};
constexpr KeptFolder kKeptFolders[] = {
    {"plans", KeptFolder::Files::checked_on_use}, {"programs", KeptFolder::Files::checked_on_use},
    {"roofs", KeptFolder::Files::checked_on_use}, {"self_test", KeptFolder::Files::checked_here},
    {"tuning", KeptFolder::Files::checked_here},
};

/// Of a small kernel.
constexpr std::size_t kProbeBytes = std::size_t{64} << 10;

std::optional<std::string> why_owner_not_trusted(const fs::path& path, const struct stat& facts) {
  if (facts.st_uid == ::geteuid() || facts.st_uid == 0) return std::nullopt;
  return path.string() + ": belongs to user " + std::to_string(facts.st_uid) +
         ", neither to this one (" + std::to_string(::geteuid()) +
         ") nor to root, so it is not believed";
}

std::optional<std::string> why_mode_not_trusted(const fs::path& path, const struct stat& facts) {
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return std::nullopt;
  return path.string() + ": others may write it, so it is not believed (chmod go-w it)";
}

std::string cannot_examine(const fs::path& path) {
  return path.string() + ": cannot examine: " + std::strerror(errno);
}

/// `folder` itself may be a link.
std::optional<std::string> why_folder_not_trusted(const fs::path& folder) {
  struct stat link {};
  struct stat facts {};
  if (::lstat(folder.c_str(), &link) != 0 || ::stat(folder.c_str(), &facts) != 0) {
    return cannot_examine(folder);
  }
  if (!S_ISDIR(facts.st_mode)) return folder.string() + ": is no folder";
  if (const auto why = why_owner_not_trusted(folder, link)) return why;
  if (const auto why = why_owner_not_trusted(folder, facts)) return why;
  return why_mode_not_trusted(folder, facts);
}

}  // namespace

std::optional<std::string> why_not_trusted(const fs::path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return cannot_examine(path);
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    return path.string() + ": is neither a file nor a folder";
  }
  if (const auto why = why_owner_not_trusted(path, facts)) return why;
  return why_mode_not_trusted(path, facts);
}

std::optional<std::string> why_cache_not_trusted(const fs::path& folder) {
  std::error_code status;
  if (!fs::exists(fs::symlink_status(folder, status))) return std::nullopt;
  if (const auto why = why_folder_not_trusted(folder)) return why;
  for (const KeptFolder& kept : kKeptFolders) {
    const fs::path place = folder / kept.name;
    if (!fs::exists(fs::symlink_status(place, status))) continue;
    if (const auto why = why_not_trusted(place)) return why;
    if (kept.files == KeptFolder::Files::checked_on_use) continue;
    for (const fs::path& file : entries_of(place, status)) {
      if (const auto why = why_not_trusted(file)) return why;
    }
  }
  return std::nullopt;
}

void make_private_folder(const fs::path& folder) {
  std::error_code status;
  if (folder.empty() || fs::exists(folder, status)) return;
  make_private_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw UsageError(folder.string() + ": cannot create the folder: " + std::strerror(errno));
  }
}

void make_trusted_folder(const fs::path& folder) {
  make_private_folder(folder);
  if (const auto why = why_folder_not_trusted(folder)) throw ModelError(*why);
}

std::string why_not_kept_in(const fs::path& folder) {
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

void write_trusted_file(const fs::path& path, std::string_view bytes) {
  write_trusted_file(path, std::span(&bytes, 1));
}

void write_trusted_file(const fs::path& path, std::span<const std::string_view> parts,
                        Flush flush) {
  make_trusted_folder(path.parent_path());
  write_file_atomically(path, parts, flush, Access::owner_alone);
}

}  // namespace morton
