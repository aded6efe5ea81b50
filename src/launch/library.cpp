// SPDX-License-Identifier: Apache-2.0
#include "launch/library.hpp"

#include "base/error.hpp"
#ifdef MORTON_HAS_CLBLAST
#include "launch/clblast.hpp"
#endif

namespace morton {

std::set<std::string> available_libraries() {
  std::set<std::string> names;
#ifdef MORTON_HAS_CLBLAST
  names.insert("clblast");
#endif
  return names;
}

std::unique_ptr<LaunchedStep> launch_library(const Step& step, const BufferOf& buffer_of) {
#ifdef MORTON_HAS_CLBLAST
  if (step.library == "clblast") return launch_clblast(step, buffer_of);
#endif
  static_cast<void>(buffer_of);
  throw UnsupportedError("run: step " + step.name + " needs the library '" + step.library +
                         "', which this build has not");
}

}  // namespace morton
