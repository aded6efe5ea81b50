// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"
#include "formats/arrays/npy.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using nlohmann::json;

TEST(CliReproduce, ListsTablesWithTheirQuestions) {
  const Outcome outcome = run_program({"reproduce", "--list", "--format", "json"});
  expect_success(outcome);
  std::map<std::string, int> sources;
  for (const json& experiment : json::parse(outcome.out)) {
    ++sources[experiment.at("source")];
    EXPECT_TRUE(experiment.at("question").get<std::string>().ends_with("?")) << experiment;
  }
  for (const char* source : {"r17", "r18", "g16", "a16", "c18"}) EXPECT_GT(sources[source], 0);
}

TEST(CliReproduce, HasOursBesideThePublished) {
  const Outcome outcome = run_program({"reproduce", "r17", "table-8.1", "--format", "json"});
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report.at("experiments").size(), 1U) << outcome.text();
  const json& experiment = report.at("experiments").at(0);
  std::vector<double> ours, published;
  for (const json& figure : experiment.at("figures")) {
    ours.push_back(figure.at("ours"));
    published.push_back(figure.at("published"));
    EXPECT_EQ(figure.at("command").get<std::string>().find("morton layout "), 0U);
  }
  EXPECT_EQ(ours, (std::vector<double>{40, 4, 20, 2, 10, 1}));
  EXPECT_EQ(ours, published);
  const std::string answer = experiment.at("answer");
  EXPECT_EQ(answer.find("Here as in R17: a work-group waits for 40 lines"), 0U) << answer;
}

TEST(CliReproduce, WhatDoesNotFitIsCutAndSaid) {
  const Outcome outcome =
      run_program({"reproduce", "r17", "table-7.1", "--budget", "1ms", "--format", "json"});
  EXPECT_EQ(outcome.status, kCheckFailed) << outcome.text();
  EXPECT_NE(outcome.err.find("nothing was measured: --budget 0.001s is too short"),
            std::string::npos)
      << outcome.text();
  const json report = json::parse(outcome.out);
  const json& experiment = report.at("experiments").at(0);
  EXPECT_NE(report.at("shortage").get<std::string>().find("18 commands were cut"),
            std::string::npos)
      << report.at("shortage");
  EXPECT_TRUE(experiment.at("left_out").empty());
  EXPECT_FALSE(experiment.at("cut").empty()) << outcome.text();
  EXPECT_EQ(experiment.at("answer"), "Not answered here: too little of it was measured.");
  for (const json& figure : experiment.at("figures")) {
    EXPECT_EQ(figure.at("why"), "cut");
    EXPECT_TRUE(figure.at("ours").is_null());
    EXPECT_GT(figure.at("published").get<double>(), 0.2);
  }
}

TEST(CliReproduce, QuickSaysWhatItLeavesOut) {
  const Outcome outcome =
      run_program({"reproduce", "r18", "table-5.4", "--quick", "--format", "json"});
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("--quick leaves out all of it"), std::string::npos) << outcome.err;
  const json experiment = json::parse(outcome.out).at("experiments").at(0);
  EXPECT_EQ(experiment.at("left_out"), json::array({"all of it"}));
  EXPECT_TRUE(experiment.at("cut").empty());
  EXPECT_EQ(experiment.at("figures").at(0).at("why"), "left out by --quick");
}

TEST(CliReproduce, WhereAllFailsTheStatusSaysSo) {
  const TemporaryFolder folder;
  const std::string digits = (folder.path() / "digits.npz").string();
  Tensor picture = Tensor::allocate(DType::u8, {1, 28, 28});
  Tensor label = Tensor::allocate(DType::i64, {1});
  for (Tensor* tensor : {&picture, &label}) {
    for (std::int64_t i = 0; i < tensor->size(); ++i) tensor->set(i, 0.0);
  }
  write_npz(digits,
            {{{"x_train", picture}, {"y_train", label}, {"x_test", picture}, {"y_test", label}}});
  const Outcome outcome =
      run_program({"reproduce", "c18", "figure-23", "--quick", "--data", digits});
  EXPECT_EQ(outcome.status, kCheckFailed) << outcome.text();
  EXPECT_NE(outcome.err.find("whatever ran failed; the first was c18 figure-23"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("fewer than a batch"), std::string::npos) << outcome.err;
}

/// The tables that the names choose, as "r17 table-8.1".
std::vector<std::string> chosen_by(const std::vector<std::string>& names) {
  std::vector<std::string> words{"reproduce", "--list", "--format", "json"};
  words.insert(words.end(), names.begin(), names.end());
  const Outcome outcome = run_program(words);
  expect_success(outcome);
  std::vector<std::string> chosen;
  for (const json& experiment : json::parse(outcome.out)) {
    chosen.push_back(experiment.at("source").get<std::string>() + " " +
                     experiment.at("id").get<std::string>());
  }
  return chosen;
}

TEST(CliReproduce, NamesChooseSourcesAndTables) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(chosen_by({"table-8.1"}), Names{"r17 table-8.1"});
  EXPECT_EQ(chosen_by({"R17", "Table-8.1"}), Names{"r17 table-8.1"});
  EXPECT_EQ(chosen_by({"figure-7.1"}), Names{"r18 figure-7.1"});
  EXPECT_EQ(chosen_by({"appendix-F", "section-c.6"}), (Names{"c18 section-C.6", "c18 appendix-F"}));
  Names both = chosen_by({"g16"});
  const Names a16 = chosen_by({"a16"});
  both.insert(both.end(), a16.begin(), a16.end());
  std::ranges::sort(both);
  Names together = chosen_by({"a16", "g16"});
  std::ranges::sort(together);
  EXPECT_EQ(together, both);
  Names mixed = chosen_by({"r17", "table-8.1", "table-8.2", "g16"});
  EXPECT_EQ(mixed.size(), 2 + chosen_by({"g16"}).size());
}

TEST(CliReproduce, WrongCommandLinesAreRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::string here = (folder.path() / "page").string();
  const std::string nowhere = (folder.path() / "none" / "page.html").string();
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases{
      {{"r19"},
       "no source or table 'r19' (sources are r17, r18, g16, a16, c18); did you mean 'r17' or "
       "'r18'?"},
      {{"r17", "table-9"}, "r17 has no table 'table-9'"},
      {{"r17", "table-82"}, "did you mean 'table-8.2'"},
      {{"r18", "table-8.1"}, "r17 has it"},
      {{"--list", "--html", here}, "`morton reproduce --list` does not read it"},
      {{"--html", here, "-o", folder.path().string() + "/./page"}, "names the same file"},
      {{"--html", nowhere}, "cannot be written: there is no folder"},
      {{"-o", folder.path().string()}, "cannot be written: it is a folder"},
      {{"--budget", "100"}, "'100' is no time"},
      {{"--budget", "0s"}, "nothing can be measured in no time"},
      {{"--data", nowhere}, "no digits for c18 table-6 and c18 figure-23"},
      {{"--data", folder.path().string()}, "no digits for c18 table-6"},
      {{"--cache-dirs", here}, "no option '--cache-dirs' here; did you mean '--cache-dir'?"},
      {{"--cache-dir", "--quick"}, "--cache-dir: its value is missing; --quick is an option"},
  };
  for (const auto& [words, part] : cases) {
    std::vector<std::string> line{"reproduce"};
    line.insert(line.end(), words.begin(), words.end());
    SCOPED_TRACE(part);
    expect_error(run_program(line), kUsage, part);
  }
  EXPECT_FALSE(std::filesystem::exists(here));
}

}  // namespace
}  // namespace morton::test
