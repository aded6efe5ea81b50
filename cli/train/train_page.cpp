// SPDX-License-Identifier: Apache-2.0
#include "train/train_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>

#include "pages/charts.hpp"
#include "pages/command_line.hpp"
#include "pages/page.hpp"
#include "train/train_text.hpp"

namespace morton::cli {
namespace {

constexpr std::size_t kMostCurvePoints = 600;
constexpr std::int64_t kMostPageClasses = 100;

/// A log's columns by name; what a line leaves open is NaN.
using LogColumns = std::map<std::string, std::vector<double>>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line + ",");
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

LogColumns columns_of(const std::string& log) {
  std::istringstream lines(log);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = cells_of(line);
  LogColumns columns;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool is_open = c >= cells.size() || cells[c].empty();
      columns[names[c]].push_back(is_open ? std::numeric_limits<double>::quiet_NaN()
                                          : std::strtod(cells[c].c_str(), nullptr));
    }
  }
  return columns;
}

/// One column over steps, where it is known; of many steps the means of neighbours.
pages::LineChart::Series curve_of(const LogColumns& columns, const std::string& column,
                                  const std::string& name) {
  using pages::LineChart;
  LineChart::Series series{name, {}, LineChart::Style::curve_and_points};
  const auto steps = columns.find("step");
  const auto values = columns.find(column);
  if (steps == columns.end() || values == columns.end()) return series;
  std::vector<LineChart::Point> known;
  for (std::size_t i = 0; i < values->second.size(); ++i) {
    // What is absent is no point; a loss that is infinite is one, which has no place.
    if (values->second[i] != values->second[i]) continue;
    known.push_back({steps->second[i], values->second[i], {}, {}});
  }
  const std::size_t each = (known.size() + kMostCurvePoints - 1) / kMostCurvePoints;
  for (std::size_t i = 0; i < known.size(); i += each) {
    const std::size_t end = std::min(known.size(), i + each);
    double sum = 0.0;
    for (std::size_t k = i; k < end; ++k) sum += known[k].y;
    series.points.push_back({known[end - 1].x, sum / static_cast<double>(end - i), {}, {}});
  }
  if (series.points.size() > 60) series.style = LineChart::Style::curve;
  return series;
}

/// A figure of those curves that have points; nothing where none has.
std::optional<pages::Figure> curves_figure(const std::string& title, const std::string& caption,
                                           std::vector<pages::LineChart::Series> curves) {
  pages::LineChart chart;
  chart.x = {"step"};
  chart.y = {title};
  for (pages::LineChart::Series& curve : curves) {
    if (!curve.points.empty()) chart.series.push_back(std::move(curve));
  }
  if (chart.series.empty()) return std::nullopt;
  std::string alternative;
  for (const pages::LineChart::Series& curve : chart.series) {
    alternative += fmt::format("{} goes from {:.4g} to {:.4g}. ", curve.name,
                               curve.points.front().y, curve.points.back().y);
  }
  return pages::Figure{title, draw(chart), caption, alternative};
}

pages::Section curves_section(const LogColumns& columns) {
  pages::Section section{"Training curves", {}};
  const auto add = [&](std::optional<pages::Figure> figure) {
    if (figure) section.blocks.push_back(std::move(*figure));
  };
  add(curves_figure("Loss",
                    "Training makes it small. Of a batch it is noisy, of the validation data it is "
                    "what counts. Of long trainings neighbouring batches are averaged.",
                    {curve_of(columns, "loss", "of the batch"),
                     curve_of(columns, "validation_loss", "of the validation data")}));
  add(curves_figure("Accuracy", "The share of right answers, from 0 to 1.",
                    {curve_of(columns, "accuracy", "of the batch"),
                     curve_of(columns, "validation_accuracy", "of the validation data")}));
  add(curves_figure("Learning rate", "How far each step goes, as the schedule says.",
                    {curve_of(columns, "learning_rate", "rate")}));
  if (section.blocks.empty()) {
    section.blocks.push_back(pages::Paragraph{"The log has no steps, so there are no curves."});
  }
  return section;
}

pages::Section confusion_section(const ClassAnswers& answers) {
  const Evaluation& evaluation = answers.evaluation;
  pages::Section section{
      "Right and wrong answers",
      {pages::Paragraph{fmt::format("{} of {} examples of {} are answered rightly.",
                                    evaluation.right, evaluation.examples, answers.data)}}};
  if (evaluation.classes > kMostPageClasses) {
    section.blocks.push_back(pages::Paragraph{fmt::format(
        "The matrix of {} classes is too large to be drawn; `morton eval` lists the mistakes.",
        evaluation.classes)});
    return section;
  }
  pages::HeatMap map{"true class", "answer", answers.class_names, answers.class_names, {}};
  for (std::int64_t truth = 0; truth < evaluation.classes; ++truth) {
    std::vector<double> row;
    for (std::int64_t answer = 0; answer < evaluation.classes; ++answer) {
      row.push_back(static_cast<double>(evaluation.count(truth, answer)));
    }
    map.values.push_back(std::move(row));
  }
  section.blocks.push_back(
      pages::Figure{"Confusion matrix", draw(map),
                    "Rows are what examples show, columns what the model answers. What lies off "
                    "the diagonal is a "
                    "mistake.",
                    fmt::format("Matrix of {} classes; {} of {} examples lie on its diagonal.",
                                evaluation.classes, evaluation.right, evaluation.examples)});
  return section;
}

}  // namespace

std::string page_of(const TrainResult& result, const TrainOptions& options, const std::string& log,
                    const std::optional<ClassAnswers>& answers) {
  pages::Page page{"Training of " + options.model.path, pages::command_line(), {}, {}};
  page.facts = {{"model", options.model.path},
                {"data", options.data.path},
                {"batch", std::to_string(options.trainer.batch)},
                {"learning rate", fmt::format("{:g}", options.run.learning_rate)},
                {"schedule", options.run.schedule},
                {"seed", std::to_string(options.run.seed)}};
  const Table table = table_of(result);
  page.sections = {{"Result", {pages::PageTable{"", table}}}, curves_section(columns_of(log))};
  if (answers) page.sections.push_back(confusion_section(*answers));
  return html(page);
}

}  // namespace morton::cli
