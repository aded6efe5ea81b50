// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers/answers.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

std::size_t row_of(const std::vector<std::int64_t>& rows, std::int64_t size) {
  return static_cast<std::size_t>(std::ranges::find(rows, size) - rows.begin());
}

Experiment table_4_2(Scale scale) {
  const std::vector<std::int64_t> sizes{96,   128,  256,  384,  512,  640,  768,  896,
                                        1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920};
  const std::vector<std::int64_t> measured =
      scale == Scale::quick
          ? std::vector<std::int64_t>{256, 128}
          : std::vector<std::int64_t>{512,  128,  896, 768,  1024, 256,  384,  640,
                                      1152, 1280, 96,  1408, 1536, 1664, 1792, 1920};
  Experiment e{
      .source = "r18",
      .id = "table-4.2",
      .where = "section 4.2.1, table 4.2 and figure 4.1",
      .title = "CLBlast's product",
      .question = "How fast is the product of a library, CLBlast, over the size of the matrices?",
      .method = "CLBlast's xGEMM multiplies square matrices, as CLBlast is shipped.",
      .row_heading = "size",
      .rows = texts_of(sizes),
      .columns = {{"time",
                   "ms",
                   Origin::published,
                   {327.94, 328.14, 371.12, 486.82, 711.93, 1084.99, 1639.94, 548.39, 654.98,
                    789.73, 966.69, 1173.08, 1434.94, 1730.32, 2096.49, 2499.03}},
                  {"rate",
                   "GFLOP/s",
                   Origin::published,
                   {0.01, 0.01, 0.09, 0.23, 0.38, 0.48, 0.55, 2.62, 3.28, 3.87, 4.34, 4.76, 5.05,
                    5.33, 5.49, 5.66}}},
      .notes =
          {"CLBlast goes over from one kernel to another at 896 in R18 (XGEMM_MIN_INDIRECT_SIZE).",
           "R18's calls take 330 ms at any small size: the board compiled in each call."},
      .answer = all_of({highest("rate"), trend("rate"), beside_published("rate")}),
      .share = 3.0};
  for (const std::int64_t size : measured) {
    const std::size_t row = row_of(sizes, size);
    e.cells.push_back({product_command(square(size), "clblast", scale),
                       {{row, 0, time_of("gemm.clblast")}, {row, 1, rate_of("gemm.clblast")}},
                       flop_of(square(size))});
  }
  return e;
}

Experiment table_4_3(Scale scale) {
  const std::vector<std::int64_t> sizes{512,  1024, 1536, 2048, 2560, 3072, 3584,
                                        4096, 4608, 5120, 5632, 6144, 6656};
  const std::vector<std::int64_t> measured =
      scale == Scale::quick ? std::vector<std::int64_t>{1024}
                            : std::vector<std::int64_t>{4096, 1024, 2048, 512,  6656, 3072, 1536,
                                                        2560, 3584, 4608, 5120, 5632, 6144};
  Experiment e{
      .source = "r18",
      .id = "table-4.3",
      .where = "section 4.2.4, table 4.3 and figure 4.5",
      .title = "a matrix times one vector",
      .question =
          "For one vector, is CLBlast's routine for that (xGEMV) faster than its product of "
          "matrices (xGEMM)?",
      .method = "A square matrix times one column, by either routine.",
      .row_heading = "size",
      .rows = texts_of(sizes),
      .columns = {{"xGEMV",
                   "ms",
                   Origin::published,
                   {150, 140, 160, 150, 200, 170, 280, 220, 440, 260, 600, 310, 810}},
                  {"xGEMM",
                   "ms",
                   Origin::published,
                   {330, 370, 440, 530, 650, 790, 960, 1180, 1400, 1650, 1920, 2220, 2550}}},
      .notes =
          {"R18 prints seconds. Its caption says \"different batch sizes\", but there are none."},
      .answer = all_of({is_faster("xGEMV", "xGEMM"), beside_published("xGEMV")}),
      .share = 1.5};
  for (const std::int64_t size : measured) {
    const std::size_t row = row_of(sizes, size);
    const ProductSize product{size, 1, size};
    e.cells.push_back({product_command(product, "clblast_gemv", scale),
                       {{row, 0, time_of("gemm.clblast_gemv")}},
                       flop_of(product)});
    e.cells.push_back({product_command(product, "clblast", scale),
                       {{row, 1, time_of("gemm.clblast")}},
                       flop_of(product)});
  }
  return e;
}

}  // namespace

std::vector<Experiment> r18_clblast(Scale scale) { return {table_4_2(scale), table_4_3(scale)}; }

}  // namespace morton::cli
