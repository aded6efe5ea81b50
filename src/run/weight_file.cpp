// SPDX-License-Identifier: Apache-2.0
#include "run/weight_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace morton::run {
namespace {

/// A file without a name in the folder.
int open_nameless(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // Not every file system has such files.
  std::string name = folder + "/weights-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

WeightFile::WeightFile(const std::string& given, std::int64_t bytes) {
  std::error_code status;
  const std::string folder =
      given.empty() ? std::filesystem::temp_directory_path(status).string() : given;
  const auto fail = [&](int why) {
    throw UsageError("no room for " + std::to_string(bytes) + " bytes of weights in " + folder +
                     ": " + std::strerror(why));
  };
  std::filesystem::create_directories(folder, status);
  const int file = open_nameless(folder);
  if (file < 0) fail(errno);
  // The room is taken now: a write to a mapping of a full disk would end the process.
  int problem = 0;
  while ((problem = ::posix_fallocate(file, 0, bytes)) == EINTR) {
  }
  if (problem != 0) {
    ::close(file);
    fail(problem);
  }
  const auto size = static_cast<std::size_t>(bytes);
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int why = errno;
  ::close(file);
  if (memory == MAP_FAILED) fail(why);
  bytes_ = {static_cast<std::byte*>(memory), size};
}

WeightFile::~WeightFile() { ::munmap(bytes_.data(), bytes_.size()); }

void WeightFile::drop_pages() const { ::madvise(bytes_.data(), bytes_.size(), MADV_DONTNEED); }

}  // namespace morton::run
