// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/files/archive.hpp"
#include "base/files/file.hpp"
#include "morton/version.hpp"

namespace morton {

/// What the lines before an archived body say of it.
struct Seal {
  std::string_view magic;  ///< "morton compiled ", with which the file begins
  int version = 1;
  std::string schema;  ///< digest of what is archived, and how (ArchiveSchema)
};

/// Of files that hold a T: another Morton's, or those that archive other things, are not read.
template <typename T>
[[nodiscard]] Seal seal_of(std::string_view magic, int version) {
  ArchiveSchema schema;
  schema(T());
  return {magic, version, digest_of(MORTON_VERSION + schema.text())};
}

/// The body behind lines that show any flipped, missing or added byte of it:
///
///     <magic><version>
///     schema <schema>
///     bytes <size of the body>
///     digest <of the body>
///     header <digest of all lines above>
[[nodiscard]] std::string sealed(const Seal& seal, std::string_view body);

/// What `sealed` was given; `rest` becomes what follows it. Calls `fail`, which throws, with what
/// is wrong of anything else.
using Fail = std::function<void(const std::string& why)>;
[[nodiscard]] std::string_view unsealed(const Seal& seal, std::string_view bytes,
                                        std::string_view& rest, const Fail& fail);

}  // namespace morton
