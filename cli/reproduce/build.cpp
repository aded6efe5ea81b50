// SPDX-License-Identifier: Apache-2.0
#include "reproduce/build.hpp"

#include <morton/commit.hpp>

#include "morton/version.hpp"

namespace morton::cli {

std::string build_text() {
  const std::string commit = MORTON_COMMIT;
  return MORTON_VERSION + (commit.empty() ? "" : ", commit " + commit);
}

}  // namespace morton::cli
