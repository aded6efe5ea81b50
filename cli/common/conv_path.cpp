// SPDX-License-Identifier: Apache-2.0
#include "common/conv_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "morton/error.hpp"
#include "morton/tools/near_names.hpp"
#include "morton/tools/passes.hpp"

namespace morton::cli {
namespace {

/// The columns of VGG-16's second layer take 110 MiB for one image.
constexpr std::int64_t kColumnBytes = std::int64_t{1} << 30;

constexpr auto kSparse = ConvPath::Subsampling::sparse_filters;

constexpr std::array kPaths{
    ConvPath{"auto", "the plan's own choice", "", "", ""},
    ConvPath{"clblast", "xCOPY, xIM2COL, then xGEMM or xGEMMBATCHED; xGEMV (R18, chapter 5)",
             "conv2d.clblast", "gemm.clblast", "gemm.clblast_gemv", "CLBlast", "", kSparse},
    ConvPath{"clblast-convgemm", "the same with CLBlast's xCONVGEMM for convolutions",
             "conv2d.clblast_convgemm", "gemm.clblast", "gemm.clblast_gemv", "CLBlast", "",
             kSparse},
    // Source 6.1 of an affine layer is product, bias and sigmoid in one, as gemm.naive with its
    // epilogue.
    ConvPath{"naive", "R18's baseline (chapter 6)", "conv2d.r18_naive", "gemm.naive", "gemm.naive",
             "", "naive"},
    ConvPath{"nhwc", "layouts and work-groups (R18, section 7.2.1)", "conv2d.r18_nhwc",
             "gemm.rm_rm", "gemm.rm_rm"},
    ConvPath{"vectorised", "products of four channels (R18, section 7.2.2)",
             "conv2d.r18_vectorised", "gemm.rm_rm", "gemm.r18_gemv"},
    ConvPath{"morton", "padding, im2col and Morton GEMM (R18, section 7.3)", "conv2d.r18_morton",
             "gemm.morton_4_2_rm", "gemm.r18_gemv"},
};

/// The number of inputs, as far as the options say it.
std::int64_t batch_of(const CompileOptions& options) {
  if (options.batch > 0) return options.batch;
  for (const auto& [name, shape] : options.shapes) {
    if (!shape.empty()) return shape.front();
  }
  return 1;
}

}  // namespace

std::vector<std::string> conv_path_names() {
  std::vector<std::string> names;
  for (const ConvPath& path : kPaths) names.emplace_back(path.name);
  return names;
}

const ConvPath& find_conv_path(std::string_view name) {
  if (name.empty()) return kPaths.front();
  const auto found = std::ranges::find(kPaths, name, &ConvPath::name);
  if (found != kPaths.end()) return *found;
  const std::vector<std::string> names = conv_path_names();
  throw UsageError(fmt::format("--conv {}: there is no such path; there are {}{}", name,
                               fmt::join(names, ", "), did_you_mean(std::string(name), names)));
}

void apply(const ConvPath& path, Limit limit, CompileOptions& options) {
  if (path.conv2d.empty()) return;
  const std::string_view product = batch_of(options) > 1 ? path.gemm : path.gemv;
  options.use.emplace("conv2d", path.conv2d);
  options.use.emplace("gemm", product);
  if (!path.pools.empty()) {
    for (const char* family : {"average_pool2d", "max_pool2d"}) {
      options.use.emplace(family, fmt::format("{}.{}", family, path.pools));
    }
  }
  if (limit == Limit::open) options.limits.workspace_bytes = kColumnBytes;
}

Model prepared_for(const ConvPath& path, const Model& model) {
  return path.subsampling == kSparse ? with_sparse_filters(model) : model;
}

}  // namespace morton::cli
