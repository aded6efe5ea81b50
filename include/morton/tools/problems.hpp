// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "morton/export.hpp"
#include "morton/model.hpp"

namespace morton {

/// A matrix product dst[M,N] = lhs[M,K] * rhs[K,N], and how the caller holds its operands; or a
/// batch of such products, each of matrices of its own.
struct GemmShape {
  /// A transposed operand is held as [K, M] or [N, K].
  enum class Order : std::uint8_t { plain, transposed };
  std::int64_t m = 1, n = 1, k = 1;
  Order lhs = Order::plain, rhs = Order::plain;
  DType type = DType::f32;  ///< of both operands: f32, or u8 or i8, whose sums are i32
  std::int64_t batch = 0;   ///< products [B,M,K] * [B,K,N]; 0: one, of matrices
};

/// The product as a model: inputs "lhs" and "rhs", output "dst" [M, N], or [B, M, N] of a batch.
/// Throws UsageError unless the extents are positive, and for operands of 8 bits or of a batch that
/// are held transposed.
[[nodiscard]] MORTON_API Model gemm_model(const GemmShape& shape);

/// dst[r,c] = src[r,c] + bias[r]: inputs "src" [rows, columns] and "bias" [rows, 1], output "dst";
/// each column is one input of a network, as in R17's layers. Throws UsageError.
[[nodiscard]] MORTON_API Model bias_model(std::int64_t rows, std::int64_t columns);

/// dst = function(src), element by element: input "src" [rows, columns], output "dst". `function`
/// is "sigmoid", "relu" or "tanh"; throws UsageError for another.
[[nodiscard]] MORTON_API Model activation_model(std::string_view function, std::int64_t rows,
                                                std::int64_t columns);

/// The declarations of a kernel of the catalogue, for people and tools.
struct KernelInfo {
  enum class Kind : std::uint8_t { entry, recipe };
  std::string name;
  Kind kind = Kind::entry;
  std::string family;  ///< the problem that it solves
  std::string file;
  /// Its demand of each operand: "R_2_4_R, padding zero"; none for a recipe.
  std::vector<std::pair<std::string, std::string>> operands;
  DType precision = DType::f32;  ///< what CompileOptions::precision.operands must be
  DType sums = DType::f32;       ///< likewise precision.sums
  std::string padding;     ///< what extents are padded to multiples of: "M 8, N 32, K 4"; or empty
  std::string work_group;  ///< "4x16", or its tunables with the values they take
};

/// Kernels and recipes of a family ("gemm"), by name: those built in (or of MORTON_KERNEL_DIR) and
/// those of `catalogue_files`, with what `use` (CompileOptions::use) makes kernels of. Throws
/// UsageError for a family that there is not, ModelError for a bad file.
[[nodiscard]] MORTON_API std::vector<KernelInfo> kernels_of(
    std::string_view family, const std::vector<std::string>& catalogue_files = {},
    const std::map<std::string, std::string>& use = {});

/// A demand of KernelInfo::operands with these values in place of tunables: "R_*_{TILE_N}_R" with
/// TILE_N = 64 is "R_*_64_R". As it is where a value is missing.
[[nodiscard]] MORTON_API std::string demand_with(
    const std::string& demand, const std::map<std::string, std::int64_t>& tunables);

}  // namespace morton
