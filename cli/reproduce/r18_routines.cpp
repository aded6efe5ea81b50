// SPDX-License-Identifier: Apache-2.0
//
// R18's section 4.2: CLBlast's routines alone, beside its product.
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

constexpr double kMsOfSecond = 1000.0;

std::vector<std::string> routine_command(const std::string& routine, const std::string& sizes,
                                         Scale scale) {
  return {"bench", "clblast", routine, "--sizes", sizes, "-n", scale == Scale::quick ? "2" : "10"};
}

Column batch_column(std::size_t batch, std::vector<double> seconds) {
  for (double& time : seconds) time *= kMsOfSecond;
  return {fmt::format("batch of {}", batch), "ms", Origin::published, std::move(seconds)};
}

/// Whether four products in one call take less than four times one of them.
std::string batch_growth(const Finding& finding) {
  constexpr double kFour = 4.0;
  const auto growth = [&](const auto& value_at) {
    std::vector<double> ratios;
    for (std::size_t row = 0; row < finding.figures.size(); ++row) {
      const auto one = value_at(row, 0), four = value_at(row, 3);
      if (one && four) ratios.push_back(*four / *one);
    }
    return ratios;
  };
  const auto saving = [](const std::vector<double>& ratios) {
    return std::ranges::count_if(
        ratios, [](double ratio) { return ratio * (1.0 + kLeastDifference) < kFour; });
  };
  const std::vector<double> ours =
      growth([&](std::size_t row, std::size_t column) { return finding.ours(row, column); });
  const std::vector<double> theirs =
      growth([&](std::size_t row, std::size_t column) { return finding.published(row, column); });
  if (ours.empty() || theirs.empty()) return "";
  return fmt::format(
      "Here it saves time at {} of {} sizes, in R18 at {} of {}: four products in one call take {} "
      "as long as one here, and {} in R18.",
      saving(ours), ours.size(), saving(theirs), theirs.size(), times_text(ours),
      times_text(theirs));
}

Experiment table_4_4(Scale scale) {
  const std::vector<std::int64_t> sizes{96, 128, 256, 384, 512, 640, 768, 896, 1024, 1152};
  Experiment e{
      .source = "r18",
      .id = "table-4.4",
      .where = "section 4.2.5, table 4.4 and figure 4.6",
      .title = "several products in one call",
      .question =
          "If a library computes several products in one call (xGEMMBATCHED), does that save time?",
      .method = "One to four products of square matrices, in one call of CLBlast.",
      .row_heading = "size",
      .rows = texts_of(sizes),
      .columns = {batch_column(1, {.37, .37, .45, .66, 1.07, 1.73, 2.73, 4.13, 6.00, 8.39}),
                  batch_column(2, {.38, .39, .55, .99, 1.80, 3.11, 5.13, 7.91, 11.63, 16.42}),
                  batch_column(3, {.37, .39, .62, 1.25, 2.47, 4.48, 7.48, 11.68, 17.26, 24.45}),
                  batch_column(4, {.38, .40, .71, 1.55, 3.18, 5.86, 9.86, 15.45, 22.90, 32.48})},
      .notes =
          {"R18 prints seconds.",
           "Here each number is one median, without a ±: from 3 % on they count as different.",
           "R18's text gives 0.09 GFLOPS for four products of 1152. It counts one of the four: "
           "it is 0.38."},
      .answer = all_of({batch_growth, beside_published("batch of 1")}),
      .share = 5.0};
  const std::size_t most = scale == Scale::quick ? 2 : sizes.size();
  for (std::size_t row = 0; row < most; ++row) {
    Cell cell;
    cell.arguments = routine_command("gemm-batched", std::to_string(sizes[row]), scale);
    cell.arguments.insert(cell.arguments.end(), {"--batch", "1,2,3,4"});
    for (std::size_t batch = 0; batch < 4; ++batch) {
      cell.places.push_back(
          {row, batch,
           number_at(fmt::format("rows/size={} x {}/median_ms", batch + 1, sizes[row]))});
    }
    cell.work = 10.0 * flop_of(square(sizes[row]));
    e.cells.push_back(std::move(cell));
  }
  return e;
}

std::string copy_answer(const Finding& finding) {
  const auto slope = finding.ours(0, 0);
  const auto call = finding.ours(0, 1);
  if (!slope || !call) return "";
  if (*slope > 0.0 && *call <= 0.0) {
    return fmt::format(
        "Here an element costs {} ns, and a call too little to be told beside the noise of the "
        "times; on R18's board 5 ns and 76,403 us.",
        rounded(*slope * 1e3));
  }
  if (*slope <= 0.0) {
    return "Here the line has no meaning: it falls, so noise outweighs what is copied.";
  }
  const double elements = *call / *slope;
  return fmt::format(
      "Here a call costs {} us and an element {} ns, so a call as much as copying {} "
      "elements; on R18's board 76,403 us and 5 ns, as much as 15 million.",
      rounded(*call), rounded(*slope * 1e3),
      elements >= 1e6 ? rounded(elements * 1e-6) + " million"
                      : rounded(elements * 1e-3) + " thousand");
}

Experiment figure_4_2(Scale scale) {
  Experiment e{
      .source = "r18",
      .id = "figure-4.2",
      .where = "section 4.2.2, figure 4.2",
      .title = "a library's copy",
      .question = "What does a call of a library cost, and what each element that it copies?",
      .method = "CLBlast's xCOPY over sizes, and the line of least squares through the times.",
      .row_heading = "line",
      .rows = {"T(x) = slope x + call"},
      .columns = {{"slope", "us per element", Origin::published, {0.005}},
                  {"call", "us", Origin::published, {76403}}},
      .notes =
          {"R18 gives no units. Microseconds and elements fit its table 5.3, and miss conv1-2 of "
           "its table A.1 by 13 %."},
      .answer = copy_answer,
      .share = 0.5};
  const char* sizes = scale == Scale::quick
                          ? "1024,65536,1048576"
                          : "1024,65536,131072,262144,524288,1048576,2097152,4194304";
  e.cells.push_back(
      {routine_command("copy", sizes, scale),
       {{0, 0, number_at("fit/slope_us_per_element")}, {0, 1, number_at("fit/intercept_us")}}});
  return e;
}

/// The largest unfolding that was done, of all columns.
std::string unfolding_answer(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  for (std::size_t row = experiment.rows.size(); row-- > 0;) {
    for (std::size_t column = experiment.columns.size(); column-- > 0;) {
      const auto ms = finding.ours(row, column);
      if (!ms) continue;
      return fmt::format(
          "Images of {0} x {0} with {1} unfold here, in {2} ms; in R18 256 channels of 160 x 160 "
          "were the most. {3}",
          experiment.rows[row], experiment.columns[column].name, rounded(*ms),
          trend(experiment.columns[column].name)(finding));
    }
  }
  return "";
}

Experiment figure_4_4(Scale scale) {
  const std::vector<std::int64_t> squares{32, 64, 128, 160, 192};
  const std::vector<std::int64_t> channels{1, 16, 64, 256};
  Experiment e{
      .source = "r18",
      .id = "figure-4.4",
      .where = "section 4.2.3, figure 4.4",
      .title = "a library's unfolding",
      .question =
          "Unfolding an image for a product makes it 25 times as large. How long does it take, "
          "and up to which size can it be done?",
      .method = "CLBlast's xIM2COL with filters of 5 x 5, for square images of several channels.",
      .row_heading = "image",
      .rows = texts_of(squares),
      .published =
          "The figure is a picture: its values are not available. At 256 channels R18's "
          "program was killed beyond 160 x 160.",
      .notes =
          {"256 channels of 160 x 160 unfold to 594 MiB. R18's board has 1.95 GiB, of which one "
           "buffer may take a quarter."},
      .answer = unfolding_answer,
      .share = 1.0};
  for (const std::int64_t count : channels) {
    e.columns.push_back({fmt::format("{} {}", count, count == 1 ? "channel" : "channels"), "ms",
                         Origin::not_available});
  }
  for (std::size_t column = 0; column < channels.size(); ++column) {
    if (scale == Scale::quick && channels[column] > 64) continue;
    Cell cell;
    cell.arguments =
        routine_command("im2col", scale == Scale::quick ? "32,64" : "32,64,128,160,192", scale);
    cell.arguments.insert(cell.arguments.end(), {"--channels", std::to_string(channels[column])});
    const std::size_t run = scale == Scale::quick ? 2 : squares.size();
    for (std::size_t row = 0; row < run; ++row) {
      cell.places.push_back({row, column,
                             number_at(fmt::format("rows/size={0} x {1}x{1}/median_ms",
                                                   channels[column], squares[row]))});
    }
    e.cells.push_back(std::move(cell));
  }
  return e;
}

}  // namespace

std::vector<Experiment> r18_routines(Scale scale) {
  return {figure_4_2(scale), figure_4_4(scale), table_4_4(scale)};
}

}  // namespace morton::cli
