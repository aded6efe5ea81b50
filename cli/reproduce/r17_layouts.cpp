// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reproduce/experiments.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

std::string answer_of_8_1(const Finding& finding) {
  std::string text;
  for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
    const auto lines = finding.ours(row, 0), every = finding.ours(row, 1);
    if (!lines || !every) return "";
    text += fmt::format("{}for {} lines every {} {} with {}",
                        row == 0 ? "a work-group waits " : ", ", *lines, *every,
                        *every == 1.0 ? "step" : "steps", finding.experiment->rows[row]);
  }
  bool agrees = true;
  for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      agrees = agrees && finding.ours(row, column) == finding.published(row, column);
    }
  }
  return (agrees ? "Here as in R17: " : "Here unlike R17: ") + text + ".";
}

Experiment table_8_1() {
  Experiment e{
      .source = "r17",
      .id = "table-8.1",
      .where = "section 8.4, table 8.1",
      .title = "cache lines that a work-group needs at once",
      .question =
          "All work-items of a group may need new cache lines in the same step. How many "
          "are that, and how often, for each layout of the two matrices?",
      .method =
          "It is counted, not measured: groups of 4 x 16, 2 x 2 results each, 4 terms in a "
          "step, lines of 64 bytes.",
      .row_heading = "layouts of left and right",
      .rows = {"R and C (baseline)", "R_2_4_R and C_4_2_C (Morton 4-2)",
               "R_4_4_R and C_4_4_C (Morton 4-4)"},
      .columns = {{"lines at once", "", Origin::published, {40, 20, 10}},
                  {"every so many steps", "", Origin::published, {4, 2, 1}}},
      .notes = {"Figure 12.2 swaps left and right; the table is right.",
                "A count of lines predicts no time."},
      .answer = answer_of_8_1,
      .share = 0.1};
  const std::vector<std::pair<std::string, std::string>> layouts{
      {"R", "C"}, {"R_2_4_R", "C_4_2_C"}, {"R_4_4_R", "C_4_4_C"}};
  const Reader both_lines = [](const Json& report) -> std::optional<Reading> {
    const auto lhs = number_at("lhs_lines")(report), rhs = number_at("rhs_lines")(report);
    if (!lhs || !rhs) return std::nullopt;
    return Reading{lhs->value + rhs->value};
  };
  for (std::size_t row = 0; row < layouts.size(); ++row) {
    e.cells.push_back({{"layout", layouts[row].first, "--product", layouts[row].second},
                       {{row, 0, both_lines}, {row, 1, number_at("lhs_every")}}});
  }
  return e;
}

Experiment layout_pictures() {
  Experiment e{
      .source = "r17",
      .id = "figure-12.2",
      .where = "section 7.1, figure 7.1; section 8.2, figure 8.1; appendix 12.5, figure 12.2",
      .title = "where a layout puts the elements",
      .question =
          "At which place in memory does each layout put the neighbours of a matrix's first "
          "element?",
      .method = "The offsets are computed for a matrix of 8 x 8.",
      .row_heading = "layout",
      .rows = {"R", "C", "R_4_4_R", "C_4_4_C", "R_2_4_R", "C_4_2_C"},
      .columns = {{"row 0, column 1", "offset"},
                  {"row 0, column 4", "offset"},
                  {"row 1, column 0", "offset"},
                  {"row 4, column 0", "offset"}},
      .published = "R17 has pictures. `morton layout R_2_4_R 8x8 --svg FILE` draws such.",
      .notes = {"Figure 12.2 swaps left and right."},
      .share = 0.1};
  constexpr std::size_t kOffsets[] = {1, 4, 8, 32};
  for (std::size_t row = 0; row < e.rows.size(); ++row) {
    Cell cell{{"layout", e.rows[row], "8x8"}, {}};
    for (std::size_t column = 0; column < e.columns.size(); ++column) {
      cell.places.push_back({row, column, number_at(fmt::format("offsets/{}", kOffsets[column]))});
    }
    e.cells.push_back(std::move(cell));
  }
  e.answer = [](const Finding& finding) -> std::string {
    std::string near;
    for (std::size_t row = 2; row < finding.experiment->rows.size(); ++row) {
      const auto right = finding.ours(row, 0), down = finding.ours(row, 2);
      if (!right || !down) return "";
      near += fmt::format("{}{} {} and {}", near.empty() ? "" : ", ", finding.experiment->rows[row],
                          *right, *down);
    }
    return "In R the next column is 1 place away and the next row a whole row, in C the reverse; "
           "in "
           "tiles both are near. Columns and rows are " +
           near + " places away.";
  };
  return e;
}

}  // namespace

std::vector<Experiment> r17_layouts(Scale) { return {table_8_1(), layout_pictures()}; }

}  // namespace morton::cli
