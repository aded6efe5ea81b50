// SPDX-License-Identifier: Apache-2.0
#include "training/files/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.hpp"

namespace morton::training {

AppendFile::AppendFile(const std::filesystem::path& path) : where_(path.string()) {
  std::error_code status;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), status);
  if (status) throw UsageError(where_ + ": cannot create its folder: " + status.message());
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw UsageError(where_ + ": cannot open: " + std::strerror(errno));
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw UsageError(where_ + ": cannot write: " + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace morton::training
