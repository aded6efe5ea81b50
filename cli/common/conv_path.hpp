// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "morton/compile.hpp"
#include "morton/model.hpp"

namespace morton::cli {

/// A way to compute a whole network that R18 describes, or a peer of it: a named set of kernels and
/// recipes (docs/convolution.md).
struct ConvPath {
  std::string_view name;          ///< as --conv has it
  std::string_view summary;       ///< one line
  std::string_view conv2d;        ///< entry or recipe of convolutions; empty: whichever is best
  std::string_view gemm;          ///< of fully-connected layers of several inputs, likewise
  std::string_view gemv;          ///< of one input
  std::string_view library = {};  ///< "CLBlast"; empty: kernels of ours
  std::string_view pools = {};    ///< kernel of both families of pools; empty: whichever is best
  enum class Subsampling : std::uint8_t { pools, sparse_filters } subsampling = Subsampling::pools;
};

/// "auto", "clblast", ... as --conv takes them.
[[nodiscard]] std::vector<std::string> conv_path_names();
/// The first where `name` is empty. Throws UsageError that lists the names.
[[nodiscard]] const ConvPath& find_conv_path(std::string_view name);

/// Names the path's kernels in `options`, where those do not name others for the family, and lets
/// the columns of im2col have the memory that they take unless `limit` says how much they may.
enum class Limit : std::uint8_t { given, open };
void apply(const ConvPath& path, Limit limit, CompileOptions& options);

/// The model as the path runs it.
[[nodiscard]] Model prepared_for(const ConvPath& path, const Model& model);

}  // namespace morton::cli
