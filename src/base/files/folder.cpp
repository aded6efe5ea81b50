// SPDX-License-Identifier: Apache-2.0
#include "base/files/folder.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace morton {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                              std::error_code& status) {
  struct Closed {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  std::vector<std::filesystem::path> paths;
  const std::unique_ptr<DIR, Closed> opened(::opendir(folder.c_str()));
  while (opened != nullptr) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr) {
      status.assign(errno, std::generic_category());
      return paths;
    }
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") paths.push_back(folder / name);
  }
  status.assign(errno, std::generic_category());
  return paths;
}

}  // namespace morton
