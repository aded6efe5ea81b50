// SPDX-License-Identifier: Apache-2.0
#include "launch/library.hpp"

#include "base/error.hpp"
#include "launch/eigen.hpp"
#ifdef MORTON_HAS_CLBLAST
#include "launch/clblast.hpp"
#endif

namespace morton::launch {

std::set<std::string> available_libraries() {
  std::set<std::string> names{"eigen"};
#ifdef MORTON_HAS_CLBLAST
  names.insert("clblast");
#endif
  return names;
}

std::unique_ptr<LaunchedStep> launch_library(const Step& step, const OpenClDevice& device,
                                             const BufferOf& buffer_of) {
  const std::string& library = std::get<LibraryCall>(step.action).library;
  if (library == "eigen") return launch_eigen(step, device, buffer_of);
#ifdef MORTON_HAS_CLBLAST
  if (library == "clblast") return launch_clblast(step, device, buffer_of);
#endif
  throw UnsupportedError("run: step " + step.name + " needs the library '" + library +
                         "', which this build has not");
}

}  // namespace morton::launch
