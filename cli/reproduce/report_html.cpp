// SPDX-License-Identifier: Apache-2.0
#include "reproduce/report_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

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

bool has_one_unit(const Experiment& experiment) {
  return !experiment.columns.front().unit.empty() &&
         std::ranges::all_of(experiment.columns, [&](const Column& column) {
           return column.unit == experiment.columns.front().unit;
         });
}

/// Points of ours, or of what was published.
template <typename ValueAt>
pages::LineChart::Series curve_of(const std::string& name, const Experiment& experiment,
                                  const ValueAt& value_at) {
  pages::LineChart::Series series;
  series.name = name;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const std::optional<double> value = value_at(row);
    if (value) series.points.push_back({*number_of(experiment.rows[row]), *value, "", ""});
  }
  return series;
}

pages::Drawing curves_of(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  pages::LineChart chart;
  chart.x.label = experiment.row_heading;
  chart.y.label = experiment.columns.front().unit;
  chart.y.scale = pages::Axis::Scale::log;
  for (std::size_t i = 0; i < experiment.columns.size(); ++i) {
    const std::string& name = experiment.columns[i].name;
    auto ours = curve_of(name + ", here", experiment,
                         [&](std::size_t row) { return finding.ours(row, i); });
    if (!ours.points.empty()) chart.series.push_back(std::move(ours));
    auto theirs = curve_of(name + ", " + source_name(experiment), experiment,
                           [&](std::size_t row) { return finding.published(row, i); });
    if (!theirs.points.empty()) chart.series.push_back(std::move(theirs));
  }
  return pages::draw(chart);
}

/// Whether bars of the published figures fit beside ours, or too many would stand side by side.
bool bars_have_room(const Experiment& experiment) {
  constexpr std::size_t kMostBars = 40;
  return 2 * experiment.columns.size() * experiment.rows.size() <= kMostBars;
}

pages::Drawing bars_of(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  pages::BarChart chart;
  chart.mode = pages::BarChart::Mode::grouped;
  chart.axis.label = experiment.columns.front().unit;
  const bool has_room = bars_have_room(experiment);
  for (const Column& column : experiment.columns) {
    chart.series.push_back(column.name + ", here");
    if (has_room && !column.published.empty()) {
      chart.series.push_back(column.name + ", " + source_name(experiment));
    }
  }
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    pages::BarChart::Bar bar;
    bar.name = experiment.rows[row];
    for (std::size_t i = 0; i < experiment.columns.size(); ++i) {
      bar.values.push_back(finding.ours(row, i).value_or(kNothing));
      if (has_room && !experiment.columns[i].published.empty()) {
        bar.values.push_back(finding.published(row, i).value_or(kNothing));
      }
    }
    chart.bars.push_back(std::move(bar));
  }
  return pages::draw(chart);
}

bool has_figures(const Finding& finding) {
  return std::ranges::any_of(finding.figures, [](const std::vector<Figure>& row) {
    return std::ranges::any_of(row, [](const Figure& figure) { return figure.ours.has_value(); });
  });
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
  if (has_figures(finding) && has_one_unit(experiment)) {
    const bool curves = rows_are_numbers(experiment);
    section.blocks.push_back(pages::Figure{
        experiment.title, curves ? curves_of(finding) : bars_of(finding),
        fmt::format("{} by {}{}.", experiment.columns.front().unit, experiment.row_heading,
                    curves || bars_have_room(experiment) ? ", here and as published"
                                                         : "; the published are in the table"),
        answer_of(finding)});
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
