// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "base/rooms.hpp"

namespace morton::catalogue {

/// A file of src/kernels, kept in the program.
struct EmbeddedFile {
  std::string_view path;     ///< relative to src/kernels, such as "gemm/naive.cl"
  std::string_view content;  ///< its bytes, unchanged
};

/// Every .cl, .clh and .json file of src/kernels/<family>/ and src/kernels/tuned/ as it was when
/// the program was built, sorted by path; the views live as long as the program.
std::span<const EmbeddedFile> embedded_kernels();

}  // namespace morton::catalogue
