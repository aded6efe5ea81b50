// SPDX-License-Identifier: Apache-2.0
//
// gemmlowp as a library to load: `morton bench gemm --type u8 --peer gemmlowp`. gemmlowp is headers
// alone, and what they compute with is decided when they are compiled. So this file has
// instructions of its own (cmake/MortonTests.cmake), and stands apart from the program.
#include <gemmlowp/public/gemmlowp.h>

#include <cstdint>
#include <tuple>

#define MORTON_PEER extern "C" __attribute__((visibility("default")))

namespace {

using Parameters = gemmlowp::DefaultL8R8BitDepthParams;
constexpr auto kRows = gemmlowp::MapOrder::RowMajor;
using Bytes = gemmlowp::MatrixMap<const std::uint8_t, kRows>;

}  // namespace

/// "AVX, 24x8, depth 2".
MORTON_PEER const char* morton_gemmlowp_kernel() {
  static const gemmlowp::DefaultKernel<Parameters> kKernel;
  return kKernel.Name();
}

/// Whether this processor has the instructions.
MORTON_PEER int morton_gemmlowp_runs_here() {
#ifdef __AVX2__
  return __builtin_cpu_supports("avx2") ? 1 : 0;
#else
  return 1;
#endif
}

/// dst [m, n] = lhs [m, k] * rhs [k, n], all row-major, by at most so many threads. Calls come from
/// one thread.
MORTON_PEER void morton_gemmlowp_product(const std::uint8_t* lhs, const std::uint8_t* rhs,
                                         std::int32_t* dst, int m, int n, int k, int threads) {
  static gemmlowp::GemmContext context;
  context.set_max_num_threads(threads);
  gemmlowp::MatrixMap<std::int32_t, kRows> result(dst, m, n);
  gemmlowp::GemmWithOutputPipeline<std::uint8_t, std::int32_t, Parameters>(
      &context, Bytes(lhs, m, k), Bytes(rhs, k, n), &result, 0, 0, std::make_tuple());
}
