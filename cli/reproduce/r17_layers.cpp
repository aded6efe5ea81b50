// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reproduce/answers/answers.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

struct MatrixKernels {
  std::string family;
  std::vector<std::pair<std::string, std::string>> kernels;  ///< entry and R17's name
};

/// Figures 9.1 and 9.2: the kernels of a family on three shapes.
void add_matrix_cells(const MatrixKernels& kernels, Scale scale, Experiment& e) {
  const std::vector<std::pair<std::string, std::string>> shapes{
      {"1024", "1024"}, {"256", "4096"}, {"4096", "256"}};
  e.row_heading = "rows x columns";
  for (const auto& [rows, columns] : shapes) e.rows.push_back(rows + "x" + columns);
  for (const auto& [entry, name] : kernels.kernels) {
    e.columns.push_back({name, "ms", Origin::not_available});
  }
  const std::size_t last = scale == Scale::quick ? 1 : shapes.size();
  for (std::size_t row = 0; row < last; ++row) {
    for (std::size_t column = 0; column < kernels.kernels.size(); ++column) {
      const std::string entry = kernels.family + "." + kernels.kernels[column].first;
      e.cells.push_back(
          {{"bench", kernels.family, "--rows", shapes[row].first, "--columns", shapes[row].second,
            "--use", kernels.family + "=" + entry, "-n", samples_text(scale), "--warmup", "10ms"},
           {{row, column, time_of(entry)}}});
    }
  }
}

Experiment figure_9_1(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "figure-9.1",
      .where = "section 9.1.1, figure 9.1",
      .title = "seven ways to add a bias",
      .question =
          "Each column of a matrix gets the same column added. Which layout and which "
          "work-group are best for that?",
      .method = "Seven kernels add a bias to a matrix of 1 M numbers. Packing is not counted.",
      .published =
          "The figure is a picture whose values our copy has lost: not available. The text "
          "says that groups hurt CM and vectorised CM, and that vectorised CM is best.",
      .notes = {"Source 12.6, called the bias of C_4_2_C, indexes C_4_4_C and is not vectorised. "
                "Ours is what section 9.1 describes."},
      .answer = all_of({fastest_column("'vectorised CM'"), slowest_column(),
                        speed_ratio("grouped CM", "CM", {"that groups hurt"}),
                        speed_ratio("vectorised CM", "CM", {"that vectors are best"}),
                        speed_ratio("grouped Morton 4-2", "CM", {"about as fast"})}),
      .share = 1.5};
  add_matrix_cells({"bias",
                    {{"cm", "CM"},
                     {"cm_vectorised", "vectorised CM"},
                     {"cm_4x16", "grouped CM"},
                     {"morton_4_2_1x16", "grouped Morton 4-2"},
                     {"rm", "RM"},
                     {"cm_vectorised_4x16", "grouped vectorised CM"},
                     {"morton_4_2", "Morton 4-2"}}},
                   scale, e);
  return e;
}

Experiment figure_9_2(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "figure-9.2",
      .where = "section 9.2.1, figure 9.2",
      .title = "five ways to apply a sigmoid",
      .question =
          "A sigmoid looks at each number alone. Does it matter whether its kernel knows the "
          "matrix's layout, and how its work-groups lie?",
      .method = "Five kernels apply a sigmoid to 1 M numbers. Packing is not counted.",
      .published =
          "The figure is a picture whose values our copy has lost: not available. The text "
          "says that unbound, which takes any layout, is best, and that groups do not "
          "help.",
      .notes = {"Source 12.8, called ReLU, prints the sigmoid."},
      .answer = all_of({slowest_column(), fastest_column("'unbound'"), speed_ratio("unbound", "RM"),
                        speed_ratio("grouped CM", "CM", {"that groups do not help"})}),
      .share = 1.2};
  add_matrix_cells({"sigmoid",
                    {{"unbound", "unbound"},
                     {"rm", "RM"},
                     {"cm", "CM"},
                     {"cm_4x16", "grouped CM"},
                     {"morton_4_2_4x16", "grouped Morton 4-2"}}},
                   scale, e);
  return e;
}

}  // namespace

std::vector<Experiment> r17_layers(Scale scale) { return {figure_9_1(scale), figure_9_2(scale)}; }

}  // namespace morton::cli
