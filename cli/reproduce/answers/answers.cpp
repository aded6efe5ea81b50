// SPDX-License-Identifier: Apache-2.0
//
// Answers that compare two columns.
#include "reproduce/answers/answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reproduce/answers/parts.hpp"

namespace morton::cli {
namespace {

/// Two columns, row by row.
struct Duel {
  std::vector<double> ours, published;  ///< how many times as fast the first is
  std::vector<std::size_t> rows;        ///< of ours
  std::size_t won = 0, lost = 0;        ///< of these, beyond the spread of both
};

Duel duel_of(const Finding& finding, std::size_t first, std::size_t second) {
  const std::string& unit = finding.experiment->columns[first].unit;
  Duel duel;
  for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
    // A row that was cut here was published all the same.
    const auto p = finding.published(row, first), q = finding.published(row, second);
    if (p && q) duel.published.push_back(times_as_fast(*p, *q, unit));
    const auto x = finding.ours(row, first), y = finding.ours(row, second);
    if (!x || !y) continue;
    const double ratio = times_as_fast(*x, *y, unit);
    duel.ours.push_back(ratio);
    duel.rows.push_back(row);
    const double doubt = least_difference(finding, row, first, second);
    duel.won += ratio > 1.0 + doubt ? 1 : 0;
    duel.lost += 1.0 / ratio > 1.0 + doubt ? 1 : 0;
  }
  return duel;
}

/// "faster in all 6 rows", "faster in 1 of 4 rows, slower in 2, within the spread in 1".
std::string verdict_of(const Finding& finding, const Duel& duel) {
  const std::size_t all = duel.ours.size(), even = all - duel.won - duel.lost;
  const std::string one = finding.experiment->rows.size() < 2
                              ? ""
                              : fmt::format(" at {} {}", finding.experiment->row_heading,
                                            finding.experiment->rows[duel.rows.back()]);
  std::vector<std::string> parts;
  const auto add = [&](const char* word, std::size_t some) {
    if (some == 0) return;
    if (all == 1) {
      parts.push_back(word + one);
    } else if (some == all) {
      parts.push_back(fmt::format("{} {}", word, all_rows_text(all)));
    } else {
      parts.push_back(parts.empty() ? fmt::format("{} in {} of {} rows", word, some, all)
                                    : fmt::format("{} in {}", word, some));
    }
  };
  add("faster", duel.won);
  add("slower", duel.lost);
  add("within the spread", even);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Stance stance_of_ours(const Duel& duel) {
  if (duel.won == 0 && duel.lost == 0) return Stance::equal;
  if (duel.won == duel.ours.size()) return Stance::yes;
  return duel.won == 0 ? Stance::no : Stance::in_part;
}

Stance stance_of_source(const Duel& duel, const Said& said) {
  if (duel.published.empty()) return said.stance;
  const auto count = [&](const auto& holds) {
    return static_cast<std::size_t>(std::ranges::count_if(duel.published, holds));
  };
  const std::size_t won = count([](double ratio) { return ratio > 1.0 + kLeastDifference; });
  const std::size_t lost = count([](double ratio) { return 1.0 / ratio > 1.0 + kLeastDifference; });
  if (won == 0 && lost == 0) return Stance::equal;
  if (won == duel.published.size()) return Stance::yes;
  return won == 0 ? Stance::no : Stance::in_part;
}

const char* stance_word(Stance stance) {
  switch (stance) {
    case Stance::yes:
      return "yes";
    case Stance::no:
      return "no";
    case Stance::equal:
      return "no difference";
    case Stance::in_part:
      return "in part";
    case Stance::unknown:
      break;
  }
  return "unknown";
}

/// "; R17 published 0.956 to 1.41 times", "; R17 says 33 times".
std::string source_part(const Finding& finding, const Duel& duel, const Said& said) {
  const std::string source = source_name(*finding.experiment);
  if (!duel.published.empty()) {
    const std::size_t rows = duel.published.size();
    return fmt::format("; {} published {}{}", source, times_text(duel.published),
                       rows == duel.ours.size() ? "" : fmt::format(" ({} rows)", rows));
  }
  if (said.text.empty()) return "";
  const std::string at =
      said.row.empty() ? "" : fmt::format(" at {} {}", finding.experiment->row_heading, said.row);
  return fmt::format("; {} says {}{}", source, said.text, at);
}

/// "is 4.4 times as fast as 'B' at size 1024 here, and 0.65 to 4.4 times over all (faster ...)".
std::string our_part(const Finding& finding, const Duel& duel, const Said& said,
                     const std::string& b) {
  const Experiment& experiment = *finding.experiment;
  const std::string all = times_text(duel.ours), verdict = verdict_of(finding, duel);
  for (std::size_t i = 0; i < duel.rows.size() && duel.rows.size() > 1; ++i) {
    if (said.row.empty() || experiment.rows[duel.rows[i]] != said.row) continue;
    return fmt::format("is {} times as fast as {} at {} {} here, and {} over all ({})",
                       ratio_text(duel.ours[i]), quoted(b), experiment.row_heading, said.row, all,
                       verdict);
  }
  return fmt::format("is {} as fast as {} here ({})", all, quoted(b), verdict);
}

/// Asks for a verdict before the numbers, or for the numbers alone.
enum class Form : std::uint8_t { numbers, verdict };

std::string ratio_sentence(const Finding& finding, const std::string& a, const std::string& b,
                           const Said& said, Form form) {
  const std::size_t first = finding.column(a), second = finding.column(b);
  for (const std::size_t column : {first, second}) {
    if (!has_numbers(finding, column)) return no_number_text(finding, column);
  }
  const Duel duel = duel_of(finding, first, second);
  if (duel.ours.empty()) {
    return fmt::format("Not answered here: no row has both {} and {}.", quoted(a), quoted(b));
  }
  std::string text;
  if (form == Form::verdict) {
    const Stance theirs = stance_of_source(duel, said);
    text = std::string("Here ") + stance_word(stance_of_ours(duel));
    if (theirs != Stance::unknown) {
      text += fmt::format(", in {} {}", source_name(*finding.experiment), stance_word(theirs));
    }
    text += ": ";
  }
  return text + fmt::format("{} {}{}.", quoted(a), our_part(finding, duel, said, b),
                            source_part(finding, duel, said));
}

std::string steps_text(const Finding& finding, const std::vector<std::string>& columns) {
  std::string text;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const Duel duel = duel_of(finding, finding.column(columns[i]), finding.column(columns[i - 1]));
    if (duel.ours.empty()) continue;
    text += fmt::format("{}{} is {} as fast as {}", text.empty() ? "Here, step by step: " : "; ",
                        quoted(columns[i]), times_text(duel.ours), quoted(columns[i - 1]));
  }
  return text.empty() ? "" : text + ".";
}

}  // namespace

Answer all_of(std::vector<Answer> answers) {
  return [answers = std::move(answers)](const Finding& finding) {
    std::string text;
    for (const Answer& answer : answers) {
      const std::string sentence = answer(finding);
      const bool is_said = text.find(sentence) != std::string::npos;
      if (!sentence.empty() && !is_said) text += (text.empty() ? "" : " ") + sentence;
    }
    return text;
  };
}

Answer speed_ratio(const std::string& a, const std::string& b, const Said& said) {
  return [=](const Finding& finding) { return ratio_sentence(finding, a, b, said, Form::numbers); };
}

Answer is_faster(const std::string& a, const std::string& b, const Said& said) {
  return [=](const Finding& finding) { return ratio_sentence(finding, a, b, said, Form::verdict); };
}

Answer ratio_by_step(std::vector<std::string> columns) {
  return [columns = std::move(columns)](const Finding& finding) {
    return steps_text(finding, columns);
  };
}

}  // namespace morton::cli
