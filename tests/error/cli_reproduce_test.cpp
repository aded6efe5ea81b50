// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "error/cli_program.hpp"

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
  EXPECT_NE(answer.find("All of it is as R17 published."), std::string::npos) << answer;
}

TEST(CliReproduce, WhatDoesNotFitIsCutAndSaid) {
  const Outcome outcome =
      run_program({"reproduce", "r17", "table-7.1", "--budget", "1ms", "--format", "json"});
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  const json& experiment = report.at("experiments").at(0);
  EXPECT_FALSE(experiment.at("cut").empty()) << outcome.text();
  EXPECT_EQ(experiment.at("answer"), "Not answered here: too little of it was measured.");
  for (const json& figure : experiment.at("figures")) {
    EXPECT_EQ(figure.at("why"), "cut");
    EXPECT_TRUE(figure.at("ours").is_null());
    EXPECT_GT(figure.at("published").get<double>(), 0.2);
  }
}

TEST(CliReproduce, UnknownNamesAreRefused) {
  expect_error(run_program({"reproduce", "r19"}), kUsage, "there is no source 'r19'");
  expect_error(run_program({"reproduce", "r17", "table-9"}), kUsage, "r17 has no table 'table-9'");
}

}  // namespace
}  // namespace morton::test
