// SPDX-License-Identifier: Apache-2.0
#include "reproduce/report_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "pages/charts.hpp"
#include "pages/page.hpp"
#include "reproduce/report_front.hpp"

namespace morton::cli {
namespace {

/// A row's heading as a number, where it is one: sizes and steps make curves.
std::optional<double> number_of(const std::string& text) {
  const bool is_number = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  if (!is_number) return std::nullopt;
  return std::stod(text);
}

bool rows_are_numbers(const Experiment& experiment) {
  return experiment.rows.size() > 1 &&
         std::ranges::all_of(experiment.rows,
                             [](const std::string& row) { return number_of(row).has_value(); });
}

/// The columns that a picture can hold together: those of the first one's unit.
std::vector<std::size_t> drawn_columns(const Experiment& experiment) {
  std::vector<std::size_t> columns;
  const std::string& unit = experiment.columns.front().unit;
  for (std::size_t i = 0; i < experiment.columns.size() && !unit.empty(); ++i) {
    if (experiment.columns[i].unit == unit) columns.push_back(i);
  }
  return columns;
}

/// A row of numbers of a table: ours of a column, or the published ones.
struct NumberSeries {
  std::string name;
  bool is_published = false;
  std::vector<std::optional<double>> values;  ///< by row
};

/// Those of them that have a number.
std::vector<NumberSeries> series_of(const Finding& finding,
                                    const std::vector<std::size_t>& columns) {
  const Experiment& experiment = *finding.experiment;
  std::vector<NumberSeries> all;
  const auto add = [&](NumberSeries series, const auto& value_at) {
    for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
      series.values.push_back(value_at(row));
    }
    const bool any =
        std::ranges::any_of(series.values, [](auto value) { return value.has_value(); });
    if (any) all.push_back(std::move(series));
  };
  for (const std::size_t column : columns) {
    const std::string& name = experiment.columns[column].name;
    add({name + ", here", false, {}}, [&](std::size_t row) { return finding.ours(row, column); });
    add({name + ", " + source_name(experiment), true, {}},
        [&](std::size_t row) { return finding.published(row, column); });
  }
  return all;
}

/// A curve of them, which breaks where a number is missing between two.
pages::LineChart::Series curve_of(const NumberSeries& numbers, const Experiment& experiment) {
  constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
  pages::LineChart::Series series;
  series.name = numbers.name;
  bool has_gap = false;
  for (std::size_t row = 0; row < numbers.values.size(); ++row) {
    const double x = *number_of(experiment.rows[row]);
    const std::optional<double>& value = numbers.values[row];
    if (value && has_gap && !series.points.empty()) series.points.push_back({x, kGap, "", ""});
    if (value) series.points.push_back({x, *value, "", ""});
    has_gap = !value;
  }
  return series;
}

/// Whether the values are so unlike that small ones would vanish.
pages::Axis::Scale scale_of(const std::vector<NumberSeries>& all) {
  constexpr double kWide = 10.0;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const NumberSeries& series : all) {
    for (const std::optional<double>& value : series.values) {
      if (!value) continue;
      least = std::min(least, *value);
      most = std::max(most, *value);
    }
  }
  return least > 0.0 && most > kWide * least ? pages::Axis::Scale::log : pages::Axis::Scale::linear;
}

pages::Drawing bars_of(const std::vector<NumberSeries>& all, const Experiment& experiment) {
  pages::BarChart chart;
  chart.mode = pages::BarChart::Mode::grouped;
  chart.axis.label = experiment.columns.front().unit;
  chart.axis.scale = scale_of(all);
  for (const NumberSeries& series : all) chart.series.push_back(series.name);
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    pages::BarChart::Bar bar;
    bar.name = experiment.rows[row];
    for (const NumberSeries& series : all) {
      bar.values.push_back(series.values[row].value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    chart.bars.push_back(std::move(bar));
  }
  return pages::draw(chart);
}

/// "GFLOP/s by size, here and as published; on a logarithmic axis."
std::string caption_of(const std::vector<NumberSeries>& drawn, const Experiment& experiment,
                       bool left_out) {
  const bool theirs = std::ranges::any_of(drawn, &NumberSeries::is_published);
  const bool ours = !std::ranges::all_of(drawn, &NumberSeries::is_published);
  std::string text =
      fmt::format("{} by {}, {}", experiment.columns.front().unit, experiment.row_heading,
                  ours && theirs ? "here and as published"
                  : ours         ? "here"
                                 : "as published");
  if (left_out) text += "; the published numbers are in the table";
  if (scale_of(drawn) == pages::Axis::Scale::log) text += "; the axis is logarithmic";
  return text + ".";
}

/// The picture of a table, where one helps.
std::optional<pages::Figure> figure_of(const Finding& finding) {
  constexpr std::size_t kMostBars = 40;  // side by side
  const Experiment& experiment = *finding.experiment;
  std::vector<NumberSeries> drawn = series_of(finding, drawn_columns(experiment));
  if (std::ranges::all_of(drawn, &NumberSeries::is_published)) return std::nullopt;
  if (rows_are_numbers(experiment)) {
    pages::LineChart chart;
    chart.x.label = experiment.row_heading;
    chart.y.label = experiment.columns.front().unit;
    chart.y.scale = scale_of(drawn);
    for (const NumberSeries& series : drawn) chart.series.push_back(curve_of(series, experiment));
    return pages::Figure{experiment.title, pages::draw(chart), caption_of(drawn, experiment, false),
                         answer_of(finding)};
  }
  const bool too_many = drawn.size() * experiment.rows.size() > kMostBars;
  const bool left_out = too_many && std::erase_if(drawn, [](const NumberSeries& one) {
                                      return one.is_published;
                                    }) > 0;
  return pages::Figure{experiment.title, bars_of(drawn, experiment),
                       caption_of(drawn, experiment, left_out), answer_of(finding)};
}

void add_lines(const char* lead, const std::vector<std::string>& lines, pages::Section& section) {
  if (!lines.empty()) section.blocks.push_back(pages::LineList{lead, lines});
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void add_list(const char* heading, const std::vector<std::string>& lines, pages::Section& section) {
  if (!lines.empty()) section.blocks.push_back(pages::FoldedText{heading, joined(lines)});
}

pages::Section section_of(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  pages::Section section;
  section.heading = source_name(experiment) + " " + experiment.id + ": " + experiment.title;
  const auto say = [&](const char* lead, const std::string& text) {
    section.blocks.push_back(pages::Paragraph{text, lead});
  };
  say("Question", experiment.question);
  say("Answer", answer_of(finding));
  say("Measured", measured_text(finding));
  say("Source", source_name(experiment) + ", " + experiment.where +
                    (experiment.published.empty() ? "" : ". " + experiment.published));
  if (std::optional<pages::Figure> figure = figure_of(finding)) {
    section.blocks.push_back(std::move(*figure));
  }
  section.blocks.push_back(pages::PageTable{"Ours beside the published", table_of(finding)});
  add_lines("Cut", shown_cuts(finding), section);
  add_lines("Left out by --quick", finding.left_out, section);
  add_lines("Notes", experiment.notes, section);
  add_list("Commands", finding.commands, section);
  add_list("Failed", finding.failures, section);
  return section;
}

}  // namespace

std::string page_of(const ReportHead& head, const std::vector<Finding>& findings,
                    const std::string& command) {
  pages::Page page;
  page.title = "The sources' experiments, repeated";
  page.command = command;
  page.facts = {
      {"device", head.device},
      {"Morton", head.version},
      {"date", head.date},
      {"scale", head.scale == Scale::quick ? "quick: few sizes, few repetitions" : "full"},
      {"time", fmt::format("{:.0f} s of {:.0f} s", head.seconds, head.budget_s)}};
  if (!head.shortage.empty()) page.facts.push_back({"cut", head.shortage});
  pages::Section front{"Sources, words, answers", {}};
  front.blocks = {pages::Paragraph{kWhatItIs},
                  pages::PageTable{"The sources", sources_table(findings)},
                  pages::PageTable{"What was asked and answered", verdicts_table(findings)},
                  pages::PageTable{"Words", words_table()}};
  page.sections.push_back(std::move(front));
  for (const Finding& finding : findings) page.sections.push_back(section_of(finding));
  return pages::html(page);
}

}  // namespace morton::cli
