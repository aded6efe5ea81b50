// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace morton::cli {

/// Where a library is looked for, and what to install where it is not found.
struct LibrarySearch {
  std::vector<std::string> names;  ///< file names, the first that loads is taken
  std::string folder;              ///< looked at instead of the loader's path; empty: that path
  std::string remedy;              ///< "install Debian's package libopenblas0-pthread"
};

/// A shared library, loaded at run time and never unloaded: libraries with threads do not bear it.
class SharedLibrary {
 public:
  /// Throws UsageError that names what was tried, why it does not load, and the remedy.
  SharedLibrary(const std::string& peer, const LibrarySearch& search);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Sets `function` to the symbol of that name; throws UsageError where the library has none.
  template <typename Function>
  void load(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  std::string peer_, path_, remedy_;
  void* handle_ = nullptr;
};

}  // namespace morton::cli
