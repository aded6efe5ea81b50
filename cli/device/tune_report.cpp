// SPDX-License-Identifier: Apache-2.0
#include "device/tune_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/option_names.hpp"
#include "common/statistics.hpp"

namespace morton::cli {

std::string values_text(const std::map<std::string, std::int64_t>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

std::optional<double> gain(double before_ms, double after_ms) {
  return before_ms > 0.0 && after_ms > 0.0 ? std::optional(before_ms / after_ms) : std::nullopt;
}

Json json_of(const TuneReport& report, const std::optional<NetworkTimes>& network) {
  Json results = Json::array();
  for (const TuneResult& result : report.results) {
    results.push_back({{"problem", result.problem},
                       {"kernel", result.kernel},
                       {"tunables", result.tunables},
                       {"ms", result.ms},
                       {"gflops", result.gflops},
                       {"share_of_peak", result.share_of_peak},
                       {"standard_ms", result.standard_ms},
                       {"tried", result.tried},
                       {"space", result.space}});
  }
  Json refused = Json::array();
  for (const TuneRefusal& one : report.refused) {
    refused.push_back({{"kernel", one.kernel}, {"tunables", one.tunables}, {"why", one.why}});
  }
  Json notes = Json::array();
  for (const Message& line : report.notes) notes.push_back(with_options(line));
  Json times;
  if (network) {
    times = {{"before_ms", network->before_ms},
             {"after_ms", network->after_ms},
             {"tuned_steps", network->tuned_steps},
             {"steps", network->steps}};
  }
  return {{"file", report.file}, {"network", times},   {"recalled", report.recalled},
          {"results", results},  {"refused", refused}, {"notes", notes}};
}

std::string text_of(const TuneReport& report, const std::optional<NetworkTimes>& network,
                    Format format) {
  using enum Table::Align;
  Table table;
  table.columns = {{"problem"},        {"kernel"},    {"tunables"},           {"GFLOP/s", right},
                   {"of peak", right}, {"ms", right}, {"standard ms", right}, {"gain", right},
                   {"tried", right}};
  for (const TuneResult& result : report.results) {
    table.rows.push_back(
        {result.problem, result.kernel, values_text(result.tunables), number_text(result.gflops, 1),
         fmt::format("{:.1f} %", 100.0 * result.share_of_peak), number_text(result.ms, 3),
         result.standard_ms > 0.0 ? number_text(result.standard_ms, 3) : "n/a",
         number_text(gain(result.standard_ms, result.ms), 2),
         fmt::format("{} of {}", result.tried, result.space)});
  }
  std::string text = to_text(table, format);
  for (const TuneRefusal& one : report.refused) {
    text += fmt::format("refused: {} {}: {}\n", one.kernel, values_text(one.tunables), one.why);
  }
  for (const Message& line : report.notes) {
    text += fmt::format("not tuned: {}\n", with_options(line));
  }
  if (network) {
    text += fmt::format("network: {} ms before, {} ms after; {} of {} steps run as tuned\n",
                        number_text(network->before_ms, 3), number_text(network->after_ms, 3),
                        network->tuned_steps, network->steps);
  }
  return text +
         (report.file.empty() ? "nothing is stored\n" : fmt::format("stored in {}\n", report.file));
}

int report_guesses(const std::string& device_json, const CompileOptions& options, Format format) {
  const auto guesses = first_guesses(device_json, options);
  using enum Table::Align;
  Table table;
  table.columns = {{"problem"},        {"first guess"},    {"ms", right},
                   {"best"},           {"tunables"},       {"ms", right},
                   {"GFLOP/s", right}, {"of peak", right}, {"guess/best", right}};
  Json json = Json::array();
  for (const FirstGuess& guess : guesses) {
    const auto ratio = gain(guess.guess_ms, guess.best_ms);
    table.rows.push_back(
        {guess.problem, guess.guess, guess.guess_ms > 0.0 ? number_text(guess.guess_ms, 3) : "n/a",
         guess.best, values_text(guess.tunables), number_text(guess.best_ms, 3),
         number_text(guess.best_gflops, 1), fmt::format("{:.1f} %", 100.0 * guess.share_of_peak),
         number_text(ratio, 2)});
    json.push_back({{"problem", guess.problem},
                    {"guess", guess.guess},
                    {"guess_ms", guess.guess_ms},
                    {"best", guess.best},
                    {"tunables", guess.tunables},
                    {"best_ms", guess.best_ms},
                    {"best_gflops", guess.best_gflops},
                    {"share_of_peak", guess.share_of_peak},
                    {"ratio", ratio ? Json(*ratio) : Json()}});
  }
  emit(for_people(format) ? to_text(table, format) : to_text(json, format), "");
  return 0;
}

}  // namespace morton::cli
