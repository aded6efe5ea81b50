// SPDX-License-Identifier: Apache-2.0
#include "reproduce/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/published.hpp"
#include "common/statistics.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/report_front.hpp"

namespace morton::cli {
namespace {

/// Lists in a text stop here; json has all.
constexpr std::size_t kMostLines = 4;

/// All digits of a published number, or of a whole number, without an exponent.
std::string plain_text(double value) {
  std::string text = fmt::format("{:.6f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string figure_text(const Figure& figure) {
  if (!figure.ours) return figure.why.empty() ? "-" : figure.why;
  const double value = figure.ours->value;
  const bool is_count = figure.ours->repetitions == 0 && value == std::floor(value);
  std::string text = is_count ? plain_text(value) : digits_text(value);
  if (figure.ours->spread > 0.0) {
    text += fmt::format(" ±{}", rounded(figure.ours->spread));
  }
  if (!figure.ours->mark.empty()) text += " (" + figure.ours->mark + ")";
  return text;
}

std::string published_text(const Column& column, std::size_t row) {
  if (row >= column.published.size() || column.published[row] == kNotPublished) return "-";
  std::string text = plain_text(column.published[row]);
  if (row < column.spreads.size() && column.spreads[row] != kNotPublished) {
    text += " ±" + plain_text(column.spreads[row]);
  }
  return text;
}

bool has_published(const Column& column) {
  return column.origin == Origin::published || column.origin == Origin::derived;
}

/// Whether anybody asked for numbers of ours in a column.
bool is_asked(const Finding& finding, std::size_t column) {
  return has_numbers(finding, column) || !why_empty(finding, column).empty();
}

std::string unit_text(const Column& column) {
  return column.unit.empty() ? "" : ", " + column.unit;
}

/// Of a column: "3", "2 to 5", or "".
std::string repetitions_of(const Finding& finding, std::size_t column) {
  std::int64_t least = 0, most = 0;
  for (const auto& row : finding.figures) {
    if (!row[column].ours || row[column].ours->repetitions == 0) continue;
    const std::int64_t n = row[column].ours->repetitions;
    least = least == 0 ? n : std::min(least, n);
    most = std::max(most, n);
  }
  if (most == 0) return "";
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

/// "5", or by column where they differ: "5 ('A', 'B'), 10 ('C')"; or "".
std::string repetitions_text(const Finding& finding) {
  std::vector<std::pair<std::string, std::string>> parts;  // number, columns
  for (std::size_t column = 0; column < finding.experiment->columns.size(); ++column) {
    const std::string number = repetitions_of(finding, column);
    if (number.empty()) continue;
    const std::string name = quoted(finding.experiment->columns[column].name);
    const auto same = std::ranges::find(parts, number, &std::pair<std::string, std::string>::first);
    if (same == parts.end()) {
      parts.emplace_back(number, name);
    } else {
      same->second += ", " + name;
    }
  }
  if (parts.size() == 1) return parts.front().first;
  std::string text;
  for (const auto& [number, columns] : parts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", number, columns);
  }
  return text;
}

/// Whether a number of the table has a ±.
bool has_spreads(const Finding& finding) {
  const bool ours = std::ranges::any_of(finding.figures, [](const auto& row) {
    return std::ranges::any_of(
        row, [](const Figure& figure) { return figure.ours && figure.ours->spread > 0.0; });
  });
  return ours || std::ranges::any_of(finding.experiment->columns,
                                     [](const Column& column) { return !column.spreads.empty(); });
}

/// The columns without a number of ours that the answer does not name, in a sentence.
std::string empty_columns_text(const Finding& finding, const std::string& answer) {
  const Experiment& experiment = *finding.experiment;
  std::vector<std::pair<std::string, std::string>> parts;  // why, columns
  for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
    const std::string name = quoted(experiment.columns[column].name);
    const std::string why = why_empty(finding, column);
    if (why.empty() || has_numbers(finding, column)) continue;
    if (answer.find(name + " has no number") != std::string::npos) continue;
    const auto same = std::ranges::find(parts, why, &std::pair<std::string, std::string>::first);
    if (same == parts.end()) {
      parts.emplace_back(why, name);
    } else {
      same->second += ", " + name;
    }
  }
  std::string text;
  for (const auto& [why, columns] : parts) {
    text +=
        fmt::format("{}{} ({})", text.empty() ? " Without a number here: " : ", ", columns, why);
  }
  return text.empty() ? "" : text + ".";
}

std::vector<std::string> first_lines(const std::vector<std::string>& lines) {
  if (lines.size() <= kMostLines) return lines;
  std::vector<std::string> some(lines.begin(), lines.begin() + kMostLines);
  some.push_back(fmt::format("and {} more; --format json has them all", lines.size() - kMostLines));
  return some;
}

std::string section_text(const Finding& finding, const ReportHead& head, Format format) {
  const Experiment& experiment = *finding.experiment;
  const bool markdown = format == Format::md;
  const auto strong = [&](const char* word) {
    return markdown ? fmt::format("**{}.**", word) : fmt::format("{}:", word);
  };
  const auto paragraph = [&](const char* word, const std::string& text) {
    return text.empty() ? "" : fmt::format("{} {}\n{}", strong(word), text, markdown ? "\n" : "");
  };
  const auto list = [&](const char* word, const std::vector<std::string>& lines, bool is_code) {
    std::string text;
    if (lines.empty()) return text;
    text = strong(word) + "\n" + (markdown ? "\n" : "");
    for (const std::string& line : lines) {
      const bool quoted = markdown && is_code && line.starts_with("morton ");
      text += markdown ? (quoted ? "- `" + line + "`\n" : "- " + line + "\n") : "  " + line + "\n";
    }
    return text + (markdown ? "\n" : "");
  };
  std::string text =
      fmt::format("{}{}: {}\n\n", markdown ? "## " : "", name_of(experiment), experiment.title);
  text += paragraph("Question", experiment.question);
  text +=
      paragraph("Source", source_name(experiment) + ", " + experiment.where +
                              (experiment.published.empty() ? "" : ". " + experiment.published));
  text += paragraph("Measured", measured_text(finding));
  text += paragraph("On", fmt::format("{}, Morton {}", head.device, head.version));
  if (!markdown) text += "\n";
  text += to_text(table_of(finding), format) + "\n";
  text += paragraph("Answer", answer_of(finding));
  text += list("Commands", shown_commands(finding), true);
  text += list("Cut", shown_cuts(finding), false);
  text += list("Left out by --quick", finding.left_out, false);
  text += list("Failed", first_lines(finding.failures), false);
  text += list("Notes", experiment.notes, false);
  return text;
}

std::string text_of(const ReportHead& head, const std::vector<Finding>& findings, Format format) {
  std::string text = fmt::format(
      "{}The sources' experiments, repeated\n\n"
      "{}. Morton {}, {}. {}The budget was {:.0f} s, of which {:.0f} s were used.{}\n"
      "{}\n",
      format == Format::md ? "# " : "", head.device, head.version, head.date,
      head.scale == Scale::quick ? "With --quick: few sizes, few repetitions. " : "", head.budget_s,
      head.seconds, head.shortage.empty() ? "" : " " + head.shortage, kWhatItIs);
  const auto front = [&](const char* heading, const Table& table) {
    text += fmt::format("\n{}{}\n\n{}", format == Format::md ? "## " : "", heading,
                        to_text(table, format));
  };
  front("The sources", sources_table(findings));
  front("What was asked and answered", verdicts_table(findings));
  front("Words", words_table());
  for (const Finding& finding : findings) text += "\n" + section_text(finding, head, format);
  return text;
}

}  // namespace

std::string measured_text(const Finding& finding) {
  const std::string repetitions = repetitions_text(finding);
  if (repetitions.empty()) return finding.experiment->method;
  std::string text = fmt::format("{} Repetitions: {}.", finding.experiment->method, repetitions);
  const bool is_explained = finding.experiment->method.find("±") != std::string::npos;
  if (has_spreads(finding) && !is_explained) {
    text += " ± is the interquartile range, in the source's numbers its own.";
  }
  return text;
}

std::string answer_of(const Finding& finding) {
  const bool any = std::ranges::any_of(finding.figures, [](const auto& row) {
    return std::ranges::any_of(row, [](const Figure& figure) { return figure.ours.has_value(); });
  });
  if (!any && !finding.left_out.empty() && finding.cuts.empty() && finding.failures.empty()) {
    return "Not answered here: --quick leaves it out.";
  }
  if (!any) return "Not answered here: too little of it was measured.";
  const std::string obstacle = finding.why_unanswered();
  if (!obstacle.empty()) return "Not answered here: " + obstacle;
  const std::string text = finding.experiment->answer ? finding.experiment->answer(finding) : "";
  if (text.empty()) return "Not answered here: too little of it was measured.";
  return text + empty_columns_text(finding, text);
}

Table table_of(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  Table table;
  table.columns.push_back({experiment.row_heading});
  for (std::size_t i = 0; i < experiment.columns.size(); ++i) {
    const Column& column = experiment.columns[i];
    const bool both = has_published(column);
    if (both && !is_asked(finding, i)) {
      table.columns.push_back(
          {column.name + unit_text(column) + ", " + source_name(experiment), Table::Align::right});
      continue;
    }
    table.columns.push_back(
        {column.name + unit_text(column) + (both ? ", here" : ""), Table::Align::right});
    if (!both) continue;
    table.columns.push_back(
        {source_name(experiment) + (column.origin == Origin::derived ? ", derived" : ""),
         Table::Align::right});
  }
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    std::vector<std::string> cells{experiment.rows[row]};
    for (std::size_t i = 0; i < experiment.columns.size(); ++i) {
      const bool both = has_published(experiment.columns[i]);
      if (!both || is_asked(finding, i)) cells.push_back(figure_text(finding.figures[row][i]));
      if (both) {
        cells.push_back(published_text(experiment.columns[i], row));
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> shown_commands(const Finding& finding) {
  return first_lines(finding.commands);
}

std::vector<std::string> shown_cuts(const Finding& finding) { return first_lines(finding.cuts); }

std::string report_of(const ReportHead& head, const std::vector<Finding>& findings, Format format) {
  return for_people(format) ? text_of(head, findings, format)
                            : program_text_of(head, findings, format);
}

}  // namespace morton::cli
