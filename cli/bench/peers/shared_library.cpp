// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "morton/error.hpp"

namespace morton::cli {

SharedLibrary::SharedLibrary(const std::string& peer, const LibrarySearch& search)
    : peer_(peer), remedy_(search.remedy) {
  std::string tried;
  for (const std::string& name : search.names) {
    path_ = search.folder.empty() ? name : search.folder + "/" + name;
    handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* why = dlerror();
    tried += fmt::format("\n  {}", why != nullptr ? why : path_);
  }
  throw UsageError(
      fmt::format("--peer {}: its library does not load; {}:{}", peer_, remedy_, tried));
}

void* SharedLibrary::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found != nullptr) return found;
  throw UsageError(
      fmt::format("--peer {}: {} has no function {}; {}", peer_, path_, name, remedy_));
}

}  // namespace morton::cli
