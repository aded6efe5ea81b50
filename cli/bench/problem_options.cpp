// SPDX-License-Identifier: Apache-2.0
#include "bench/problem_options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

bool has_lists(const SizeLists& lists) { return !lists.squares.empty() || !lists.shapes.empty(); }

/// "64x3136x576" as `names` many extents.
Shape parse_size(const std::string& text, std::size_t count, const char* example) {
  Shape extents = parse_extents("--shapes", text, example);
  if (extents.size() == count && std::ranges::min(extents) > 0) return extents;
  throw UsageError(fmt::format("--shapes {}: expected {} extents of 1 or more, such as {}", text,
                               count, example));
}

/// Extents of each size, `count` of them.
std::vector<Shape> sizes_of(const SizeLists& lists, std::size_t count, const char* example) {
  std::vector<Shape> sizes;
  for (const std::int64_t square : lists.squares) sizes.emplace_back(count, square);
  for (const std::string& text : lists.shapes) sizes.push_back(parse_size(text, count, example));
  return sizes;
}

/// The extents that say one size, by their options.
std::vector<std::pair<std::string, std::int64_t>> single_size(
    const BenchProblemArguments& options) {
  if (!options.matrix_family.empty()) {
    return {{"--rows", options.rows}, {"--columns", options.columns}};
  }
  return {{"--m", options.gemm.m}, {"--n", options.gemm.n}, {"--k", options.gemm.k}};
}

void add_size_lists(CLI::App& command, BenchProblemArguments& options) {
  const bool product = options.matrix_family.empty();
  SizeLists& lists = options.lists;
  const auto add = [&](const char* name, auto& list, const std::string& what) {
    return command.add_option(name, list, what)->allow_extra_args(false)->delimiter(',');
  };
  add("--squares", lists.squares, "Sizes with all extents alike: a table over them")
      ->option_text("N,...")
      ->check(whole_number(1));
  add("--shapes", lists.shapes,
      product ? "Sizes M, N, K: a table over them" : "Sizes of rows, columns: a table over them")
      ->option_text(product ? "MxNxK,..." : "ROWSxCOLUMNS,...");
  if (!product) return;
  add("--batch", lists.batch, "So many products at once, of the family batched_gemm; or a list")
      ->option_text("B,...")
      ->check(whole_number(1));
}

void add_peer_options(CLI::App& command, PeerOptions& peers) {
  command
      .add_option("--peer", peers.names,
                  fmt::format("Measure other libraries too, in the same turns: {}",
                              fmt::join(peer_names(), ", ")))
      ->option_text("NAME,...")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(offers(peer_names()))
      ->check(a_name());
  command
      .add_option("--peer-folder", peers.folder,
                  "Folder of the peers' libraries, instead of the loader's path")
      ->option_text("FOLDER");
  command
      .add_option("--clblast-parameters", peers.clblast_parameters,
                  "Tuned parameters for --peer clblast, as bench/clblast_tune.py writes them")
      ->option_text("FILE");
}

void add_sample_options(CLI::App& command, SampleOptions& options) {
  command.add_option("-n,--iterations", options.count, "Samples of each contender (15)")
      ->option_text("N")
      ->check(whole_number(1));
  command.add_option("--duration", options.duration, "Time to take samples for, instead of -n")
      ->option_text("TIME");
  command
      .add_option("--warmup", options.warmup, "Time to run each contender before measuring (100ms)")
      ->option_text("TIME");
  command
      .add_option("--budget", options.budget,
                  "Most time for one kernel at one size: checks, warm-up and samples")
      ->option_text("TIME");
  command
      .add_option(
          "--buffers", options.buffers,
          "warm: every call uses the same operands; rotate: calls use others, out of the caches")
      ->option_text("WHICH");
  command.add_option("--seed", options.seed, "Seed of the random inputs (1)")
      ->option_text("N")
      ->check(whole_number(0));
}

void add_single_size(CLI::App& command, BenchProblemArguments& options) {
  if (options.matrix_family.empty()) {
    add_options(command, options.gemm);
    add_type_option(command, options.gemm);
  } else {
    add_size(command, "--rows", options.rows, "Rows of the matrix");
    add_size(command, "--columns", options.columns, "Columns of the matrix");
  }
  // --squares and --shapes stand in their place.
  for (const auto& [name, extent] : single_size(options)) command.get_option(name)->required(false);
}

}  // namespace

void add_options(CLI::App& command, BenchProblemArguments& options) {
  add_single_size(command, options);
  add_size_lists(command, options);
  if (options.matrix_family.empty()) add_peer_options(command, options.peers);
  CLI::Option* all = command.add_flag("--all", options.all,
                                      "Every kernel and recipe that can compute the problem");
  command.add_option("--kernels", options.kernel_names, "These kernels and recipes of the family")
      ->option_text("KERNEL,...")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(a_name())
      ->excludes(all);
  add_options(command, options.kernels);
  add_sample_options(command, options.samples);
  add_options(command, options.device);
  add_options(command, options.result, every_format());
}

bool is_sweep(const BenchProblemArguments& options) {
  const bool lists = has_lists(options.lists);
  for (const auto& [name, extent] : single_size(options)) {
    if (lists && extent > 0) {
      throw CLI::ValidationError(name, "--squares and --shapes stand in its place");
    }
    if (!lists && extent == 0) throw CLI::RequiredError(name + " (or --squares, or --shapes)");
  }
  return lists || options.lists.batch.size() > 1;
}

std::vector<GemmShape> shapes_of(const BenchProblemArguments& options) {
  std::vector<Shape> sizes = sizes_of(options.lists, 3, "64x3136x576");
  if (sizes.empty()) sizes.push_back({options.gemm.m, options.gemm.n, options.gemm.k});
  std::vector<std::int64_t> batches = options.lists.batch;
  if (batches.empty()) batches.push_back(0);
  std::vector<GemmShape> shapes;
  for (const Shape& size : sizes) {
    for (const std::int64_t batch : batches) {
      GemmOptions one = options.gemm;
      one.m = size[0];
      one.n = size[1];
      one.k = size[2];
      shapes.push_back(shape_of(one));
      shapes.back().batch = batch;
    }
  }
  return shapes;
}

std::vector<SingleProblem> problems_of(const BenchProblemArguments& options) {
  std::vector<SingleProblem> problems;
  if (options.matrix_family.empty()) {
    for (const GemmShape& shape : shapes_of(options)) problems.push_back(gemm_problem(shape));
    return problems;
  }
  std::vector<Shape> sizes = sizes_of(options.lists, 2, "256x4096");
  if (sizes.empty()) sizes.push_back({options.rows, options.columns});
  for (const Shape& size : sizes) {
    problems.push_back(matrix_problem(options.matrix_family, size[0], size[1]));
  }
  return problems;
}

Entrants entrants_of(const BenchProblemArguments& options) {
  Entrants entrants;
  entrants.compile = compile_options(options.kernels);
  entrants.names = options.kernel_names;
  if (options.all) entrants.kernels = Entrants::Kernels::every;
  if (options.lists.batch.empty()) return entrants;
  // A batch has kernels of its own, which are named by those of one product.
  for (const char* one : {"gemm", "integer_gemm"}) {
    const auto use = entrants.compile.use.extract(one);
    if (!use.empty()) entrants.names.push_back(use.mapped());
  }
  return entrants;
}

}  // namespace morton::cli
