// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/published.hpp"
#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

const std::vector<std::int64_t> kSizesOf71{128, 256, 384, 512, 640, 768, 896, 1024, 1152};

Experiment table_2_1(const Conditions& conditions) {
  Experiment e{
      .source = "r17",
      .id = "table-2.1",
      .where = "section 2.4, table 2.1",
      .title = "what the device says of itself",
      .question = "What can the device do: how many units, which clock, how much memory?",
      .method = "OpenCL is asked for the device's properties.",
      .row_heading = "property",
      .rows = {"compute units", "clock, MHz", "global memory, bytes", "global cache, bytes",
               "cache line, bytes", "local memory, bytes", "preferred vector of floats",
               "largest work-group", "peak, GFLOP/s"},
      .columns =
          {{"value", "", Origin::published, {4, 600, 2091724800, 131072, 64, 32768, 4, 256, 68}}},
      .published =
          "A Mali T-628 shows as two devices. This is the one of 4 units; the other has 2.",
      .notes = {"The peak here is what `morton probe` measured of multiply-adds in registers, and "
                "figure-10.1 divides by it. Where no probe ran, it is a guess from clock and "
                "units, and marked. R17's is 17 GFLOP/s for each unit.",
                "R18's board ran at 533 MHz (section 4.1), R17's at 600 MHz."},
      .share = 0.2};
  const std::vector<std::string> keys{
      "compute_units",    "clock_mhz",          "global_memory_bytes",  "global_cache_bytes",
      "cache_line_bytes", "local_memory_bytes", "preferred_vector_f32", "max_work_group_size"};
  Cell cell{{"devices"}, {}};
  const std::string device = "id=" + conditions.device_id + "/";
  for (std::size_t row = 0; row < keys.size(); ++row) {
    cell.places.push_back({row, 0, number_at(device + keys[row])});
  }
  cell.places.push_back({keys.size(), 0, peak_at(device + "roofs")});
  e.cells.push_back(std::move(cell));
  // What is measured takes the place of the guess.
  if (!conditions.has_peak) e.cells.push_back(peak_cell(keys.size(), 0));
  e.answer = [](const Finding& finding) -> std::string {
    const auto units = finding.ours(0, 0), clock = finding.ours(1, 0), peak = finding.ours(8, 0);
    if (!units || !clock || !peak) return "";
    return fmt::format(
        "This device has {:.0f} units at {:.0f} MHz and R17's 4 at 600 MHz; its peak is {} "
        "GFLOP/s{}, {} times the 68 GFLOP/s of R17's.",
        *units, *clock, rounded(*peak),
        finding.figures[8][0].ours->mark.empty() ? "" : " (a guess)", ratio_text(*peak / 68.0));
  };
  return e;
}

Experiment table_7_1(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "table-7.1",
      .where = "section 7.1.1, table 7.1",
      .title = "the right matrix by rows or by columns",
      .question =
          "A textbook product reads the right matrix along its columns. Is it faster if that "
          "matrix lies in memory column by column?",
      .method =
          "Two kernels multiply square matrices. RM means row by row in memory, CM column by "
          "column.",
      .notes = {"R17 leaves the work-group to the driver. Our kernels fix 64 x 1, for the size is "
                "compiled in.",
                "R17's ± is the standard error of 10 runs.",
                "`--exclude gemm.swapped` keeps the product from being turned round."},
      .answer = is_faster("RM x CM", "RM x RM"),
      .share = 2.0};
  add_ladder({kSizesOf71,
              scale == Scale::quick
                  ? std::vector<std::int64_t>{256, 128}
                  : std::vector<std::int64_t>{512, 128, 256, 384, 640, 768, 896, 1024, 1152},
              {{"rm_rm", "RM x RM"}, {"rm_cm", "RM x CM"}}},
             scale, e);
  Column& rows = e.columns[0];
  rows.origin = Origin::published;
  rows.published = {2.516, 0.448, 0.397, 0.330, 0.364, 0.352, 0.332, 0.304, 0.283};
  rows.spreads = {0.04684, 0.01002, 0.00215, 0.00070, 0.00052, 0.00042, 0.00058, 0.00029, 0.00023};
  Column& columns = e.columns[1];
  columns.origin = Origin::published;
  columns.published = {2.406, 0.599, 0.480, 0.409, 0.449, 0.447, 0.443, 0.428, 0.392};
  columns.spreads = {0.00216, 0.03241, 0.00116, 0.00035, 0.00042,
                     0.00011, 0.00008, 0.00012, 0.00006};
  return e;
}

Experiment table_8_2(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "table-8.2",
      .where = "section 8.5, table 8.2",
      .title = "Morton layouts against Arm's product",
      .question =
          "Matrices may lie in small tiles, so that a group's reads share cache lines. Does "
          "that beat the best product on plain layouts, and Arm's own?",
      .method =
          "Three kernels of 2 x 2 results for a work-item, in work-groups of 4 x 16, multiply "
          "square matrices. Packing is not counted.",
      .notes = {"Erratum: R17's row of 2880 has its columns mixed up. Morton 4-2 is 13.65 and the "
                "baseline 11.98; only so are its text's 1.44 GFLOPS and 12 % right.",
                "The 12 % are over Arm's numbers, as means of the six sizes: 13.84 and 12.40 "
                "GFLOP/s. Over R17's own baseline Morton 4-2 gains 9 %.",
                "Arm's numbers are published ones, and no kernel of Arm's runs here."},
      .answer =
          all_of({is_faster("Morton 4-2", "baseline"), speed_ratio("Morton 4-4", "baseline"),
                  [](const Finding&) -> std::string {
                    return "Not answered here: no product of Arm's runs; in R17 Morton 4-2 is "
                           "1.04 to 1.26 times as fast as Arm's.";
                  },
                  fastest_column(), beside_published("Morton 4-2")}),
      .share = 3.0};
  add_ladder(
      {{96, 192, 384, 768, 1440, 2880},
       scale == Scale::quick ? std::vector<std::int64_t>{192, 96}
                             : std::vector<std::int64_t>{384, 96, 192, 768, 1440, 2880},
       {{"rm_cm_blocked", "baseline"}, {"morton_4_2", "Morton 4-2"}, {"morton_4_4", "Morton 4-4"}}},
      scale, e);
  const std::vector<std::vector<double>> published{{11.65, 13.65, 13.08, 12.90, 12.98, 11.98},
                                                   {13.04, 14.86, 14.19, 13.67, 13.61, 13.65},
                                                   {12.05, 13.93, 12.94, 12.45, 12.02, 2.14}};
  const std::vector<std::vector<double>> spreads{{0.05, 0.05, 0.0, 0.0, 0.0, 0.0},
                                                 {0.03, 0.01, 0.0, 0.0, 0.0, 0.0},
                                                 {0.03, 0.01, 0.0, 0.0, 0.0, 0.23}};
  for (std::size_t column = 0; column < published.size(); ++column) {
    e.columns[column].origin = Origin::published;
    e.columns[column].published = published[column];
    e.columns[column].spreads = spreads[column];
  }
  e.columns.push_back(
      {"Arm's", "GFLOP/s", Origin::published, {11.2, 13.0, 13.2, 13.1, 13.1, 10.8}});
  return e;
}

}  // namespace

std::vector<Experiment> r17_products(const Conditions& conditions) {
  return {table_2_1(conditions), table_7_1(conditions.scale), table_8_2(conditions.scale)};
}

}  // namespace morton::cli
