// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"

namespace morton::catalogue {

/// A file of OpenCL C that several kernels include: functions, types and macros.
struct SharedText {
  std::string file;                 ///< "shared/vectors.clh", for messages
  std::string text;                 ///< as it stands there
  std::vector<std::string> names;   ///< of its functions and types
  std::vector<std::string> macros;  ///< that it defines
};

/// Takes a file's text apart. Outside of functions it may hold directives but `#include`, `static`
/// functions and `typedef TYPE NAME ...;`. Throws ModelError for anything else.
[[nodiscard]] SharedText read_shared_text(std::string file, std::string text);

}  // namespace morton::catalogue
