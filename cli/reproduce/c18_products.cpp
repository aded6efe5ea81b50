// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

Experiment table_1(Scale scale) {
  struct Product {
    std::string name;
    ProductSize size;
  };
  const std::vector<Product> products{{"MLP, 100x784 by 784x50", {100, 50, 784}},
                                      {"MLP, 100x50 by 50x50", {100, 50, 50}},
                                      {"MLP, 100x50 by 50x10", {100, 10, 50}},
                                      {"CNN, 100x3136 by 3136x1024", {100, 1024, 3136}},
                                      {"CNN, 100x1024 by 1024x10", {100, 10, 1024}}};
  Experiment e{
      .source = "c18",
      .id = "table-1",
      .where = "section V.C, table 1",
      .title = "the products of its two networks",
      .question =
          "Which products does the training of the two networks need, and which kernel suits "
          "them?",
      .method =
          "The products of the table, for batches of 100. Rates are of whole calls, with "
          "packing, on the host's clock: Eigen's can only be timed so.",
      .row_heading = "product",
      .columns = {{"version 1", "GFLOP/s"},
                  {"version 3, float16 (groups of 64)", "GFLOP/s"},
                  {"Eigen on the CPU", "GFLOP/s"}},
      .published = "C18 lists the shapes; it has no times of them alone.",
      .notes = {"C18 counts N^3 operations for a product; 2 N^3 are counted here."},
      .answer =
          all_of({fastest_column(), speed_ratio("version 3, float16 (groups of 64)", "version 1")}),
      .share = 1.0};
  const std::vector<std::string> kernels{"c18_v1", "c18_v3_16", "eigen"};
  for (std::size_t row = 0; row < products.size(); ++row) {
    e.rows.push_back(products[row].name);
    if (scale == Scale::quick && row != 0) continue;
    for (std::size_t column = 0; column < kernels.size(); ++column) {
      e.cells.push_back({product_command(products[row].size, kernels[column], scale),
                         {{row, column, call_rate_of("gemm." + kernels[column])}},
                         flop_of(products[row].size)});
    }
  }
  return e;
}

Experiment table_2(Scale scale) {
  const std::vector<std::string> groups{"8", "16", "32", "64", "128"};
  Experiment e{.source = "c18",
               .id = "table-2",
               .where = "section C.5, table 2",
               .title = "the best work-group for each vector width",
               .question = "How many work-items should a work-group of version 3 have?",
               .method = "Version 3 multiplies matrices of 256, in each of five work-groups.",
               .row_heading = "work-group",
               .rows = groups,
               .columns = {{"float4", "GFLOP/s"}, {"float8", "GFLOP/s"}, {"float16", "GFLOP/s"}},
               .published = "C18's best are 16 (float4), 16 (float8) and 64 (float16).",
               .share = 1.0};
  const std::vector<std::string> kernels{"c18_v3_4", "c18_v3_8", "c18_v3_16"};
  for (const std::size_t column : {2U, 0U, 1U}) {
    if (scale == Scale::quick && column != 2U) continue;
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (scale == Scale::quick && row != 1 && row != 3) continue;
      std::vector<std::string> command = product_command(square(256), kernels[column], scale);
      command.insert(command.end(), {"--set", "gemm." + kernels[column] + ":LOCAL=" + groups[row]});
      e.cells.push_back({std::move(command), {{row, column, rate_of("gemm." + kernels[column])}}});
    }
  }
  e.answer = best_rows("The best work-groups", "16 (float4), 16 (float8) and 64 (float16)");
  return e;
}

Experiment figure_15(Scale scale) {
  Experiment e{
      .source = "c18",
      .id = "figure-15",
      .where = "section VII.A.3, figure 15",
      .title = "what a framework adds to a call",
      .question =
          "Does the same routine take longer inside a framework than when a program calls it?",
      .method =
          "CLBlast's product as a step of a Morton session, and called directly, in turns. "
          "Both are host's times of whole calls.",
      .row_heading = "size",
      .rows = texts_of({64, 128, 256, 512}),
      .columns = {{"inside", "us", Origin::not_available},
                  {"outside", "us", Origin::not_available}},
      .published = "The figure is a picture whose values our copy has lost: not available.",
      .answer = is_faster("outside", "inside"),
      .share = 0.8};
  const std::vector<std::int64_t> sizes{64, 128, 256, 512};
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    if (scale == Scale::quick && row != 1) continue;
    std::vector<std::string> command = product_command(square(sizes[row]), "clblast", scale);
    command.insert(command.end(), {"--peer", "clblast"});
    e.cells.push_back(
        {std::move(command),
         {{row, 0, call_time_of("gemm.clblast", 1e3)}, {row, 1, call_time_of("clblast", 1e3)}}});
  }
  return e;
}

Experiment appendix_f(Scale scale) {
  const std::vector<std::string> kernels{"c18_v1",   "c18_v2",    "c18_v3_4",
                                         "c18_v3_8", "c18_v3_16", "c18_v3_16_f16"};
  Experiment e{
      .source = "c18",
      .id = "appendix-F",
      .where = "section VII.B and appendix F",
      .title = "are the products right?",
      .question = "How far are the products from the CPU's, on random numbers of normal(0, 5)?",
      .method = "Each kernel's product of 256 is compared with Eigen's, element by element.",
      .row_heading = "kernel",
      .rows = kernels,
      .columns = {{"mean error", ""},
                  {"largest error", ""},
                  {"wrong signs", ""},
                  {"errors above 1", ""}},
      .published = "C18 describes the test and has no numbers. Of halves it says errors of 0.1.",
      .notes = {"The error of halves comes from rounding the operands; sums are in f32."},
      .share = 0.8};
  const std::vector<std::string> keys{"mean_error", "max_error", "sign_errors", "errors_above_1"};
  for (std::size_t row = 0; row < kernels.size(); ++row) {
    if (scale == Scale::quick && row != 0 && row < 4) continue;
    Cell cell{{"compare", "gemm", "--m", "256", "--n", "256", "--k", "256", "--use",
               "gemm=gemm." + kernels[row], "--exclude", "gemm.swapped"},
              {}};
    if (kernels[row].ends_with("f16")) {
      cell.arguments.insert(cell.arguments.end(), {"--precision", "f16"});
    }
    for (std::size_t column = 0; column < keys.size(); ++column) {
      cell.places.push_back({row, column, number_at("outcomes/0/" + keys[column])});
    }
    e.cells.push_back(std::move(cell));
  }
  e.answer = [](const Finding& finding) -> std::string {
    double most = 0.0, above = 0.0;
    std::size_t measured = 0;
    for (std::size_t row = 0; row + 1 < finding.experiment->rows.size(); ++row) {
      if (!finding.ours(row, 1)) continue;
      most = std::max(most, *finding.ours(row, 1));
      above += finding.ours(row, 3).value_or(0.0);
      ++measured;
    }
    if (measured == 0) return "";
    std::string text = fmt::format(
        "Here {}: the largest error of {} kernels in f32 is {}, and {:.0f} errors are above 1.",
        above == 0.0 ? "they agree" : "they do not agree", measured, rounded(most), above);
    if (const auto half = finding.ours(finding.experiment->rows.size() - 1, 0)) {
      text += fmt::format(" Halves are {} off on average; C18 says 0.1.", rounded(*half));
    }
    return text;
  };
  return e;
}

}  // namespace

std::vector<Experiment> c18_products(Scale scale) {
  return {table_1(scale), table_2(scale), figure_15(scale), appendix_f(scale)};
}

}  // namespace morton::cli
