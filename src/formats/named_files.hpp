// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/rooms.hpp"
#include "formats/input_file.hpp"
#include "morton/load.hpp"

namespace morton::formats {

/// The one way to the files that a model names (external data, matrices beside a definition).
class NamedFiles {
 public:
  /// Of a model in `folder`; empty: a model in memory, which has none unless `options` name a
  /// folder for them. Throws ModelError where that is no folder.
  NamedFiles(const std::filesystem::path& folder, const LoadOptions& options);

  /// Whether there is no folder that files could lie in.
  [[nodiscard]] bool empty() const { return folder_.empty(); }
  /// The file of that name. Throws ModelError for what LoadOptions::weights_folder does not allow,
  /// for no regular file, and where there is none.
  [[nodiscard]] InputFile open(const std::string& name) const;
  /// Those that the file `name` names in its turn: their names begin in its own folder.
  [[nodiscard]] NamedFiles beside(const std::string& name) const;

 private:
  std::filesystem::path folder_;  ///< from which no name leads out
  std::filesystem::path base_;    ///< beneath it, where names begin
  Links links_ = Links::refuse;
};

}  // namespace morton::formats
