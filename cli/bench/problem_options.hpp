// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/field.hpp"
#include "bench/single_problem.hpp"
#include "common/options.hpp"

namespace morton::cli {

/// Several sizes at once, as they were typed.
struct SizeLists {
  std::vector<std::int64_t> squares;
  std::vector<std::string> shapes;  ///< "64x3136x576": M, N and K; of a matrix rows and columns
  std::vector<std::int64_t> batch;  ///< products at once; empty: one, of matrices
};

/// Other libraries that take part.
struct PeerOptions {
  std::vector<std::string> names;
  std::string folder, clblast_parameters;
};

/// How a contender is timed.
struct SampleOptions {
  std::string buffers = "warm";
  std::int64_t count = 0;  ///< 0: as `duration` says, else kSamples
  std::string duration, warmup = "100ms";
  std::string budget;  ///< of each size and kernel; empty: none
  std::uint64_t seed = 1;
};

/// What `bench gemm` and `bench bias` and its like were told.
struct BenchProblemArguments {
  std::string matrix_family;  ///< empty: a product
  GemmOptions gemm;
  std::int64_t rows = 0, columns = 0;
  SizeLists lists;
  bool all = false;
  std::vector<std::string> kernel_names;
  PeerOptions peers;
  SampleOptions samples;
  DeviceOptions device;
  KernelOptions kernels;
  ResultOptions result;
};

/// The options of `bench gemm`, or those of `bench FAMILY` where options.matrix_family says so.
void add_options(CLI::App& command, BenchProblemArguments& options);

/// Whether a table over several sizes is asked for. Throws CLI::RequiredError where no size is
/// given, and CLI::ValidationError where one is given in two ways.
[[nodiscard]] bool is_sweep(const BenchProblemArguments& options);

/// The shape of each product that is asked for, in the order given. Throws UsageError.
[[nodiscard]] std::vector<GemmShape> shapes_of(const BenchProblemArguments& options);
/// Likewise each problem.
[[nodiscard]] std::vector<SingleProblem> problems_of(const BenchProblemArguments& options);

/// Which kernels take part.
[[nodiscard]] Entrants entrants_of(const BenchProblemArguments& options);

}  // namespace morton::cli
