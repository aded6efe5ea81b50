// SPDX-License-Identifier: Apache-2.0
#include "formats/named_files.hpp"

#include <system_error>

#include "base/error.hpp"

namespace morton::formats {
namespace {

/// Where `folder` lies beneath `outer`, both with their links resolved; empty where it does not.
std::filesystem::path place_beneath(const std::filesystem::path& outer,
                                    const std::filesystem::path& folder) {
  std::error_code status;
  const auto inner = std::filesystem::canonical(folder.empty() ? "." : folder, status);
  if (status) return {};
  const std::filesystem::path place = inner.lexically_relative(outer);
  return place.empty() || *place.begin() == ".." ? std::filesystem::path() : place;
}

}  // namespace

NamedFiles::NamedFiles(const std::filesystem::path& folder, const LoadOptions& options)
    : folder_(folder) {
  if (options.weights_folder.empty()) return;
  std::error_code status;
  folder_ = std::filesystem::canonical(options.weights_folder, status);
  if (status || !std::filesystem::is_directory(folder_, status)) {
    throw ModelError(setting("weights_folder", options.weights_folder) + ": is no folder");
  }
  base_ = folder.empty() ? std::filesystem::path() : place_beneath(folder_, folder);
  links_ = Links::inside;
}

InputFile NamedFiles::open(const std::string& name) const {
  // A name from the root would take the place of what stands before it.
  const bool is_from_root = std::filesystem::path(name).is_absolute();
  return InputFile::beneath(folder_, is_from_root ? name : (base_ / name).string(), links_);
}

NamedFiles NamedFiles::beside(const std::string& name) const {
  NamedFiles files = *this;
  files.base_ /= std::filesystem::path(name).parent_path();
  return files;
}

}  // namespace morton::formats
