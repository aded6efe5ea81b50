// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reproduce/running/findings.hpp"

namespace morton::cli {
namespace {

Reader number(const char* key) {
  return [key](const Json& report) -> std::optional<Reading> {
    if (!report.contains(key)) return std::nullopt;
    return Reading{report.at(key).get<double>(), 0.0, 1};
  };
}

CommandResult printed(const char* text) {
  CommandResult result;
  result.report = std::make_shared<const Json>(Json::parse(text));
  return result;
}

/// Two sizes of two kernels, each by a command of its own.
Experiment four_cells() {
  Experiment e;
  e.source = "r17";
  e.id = "table-1";
  e.row_heading = "size";
  e.rows = {"17", "63"};
  e.columns = {{"first", "GFLOP/s"}, {"second", "GFLOP/s"}};
  e.cells = {{{"bench", "first", "17"}, {{0, 0, number("rate")}}},
             {{"bench", "second", "17"}, {{0, 1, number("rate")}}},
             {{"bench", "first", "63"}, {{1, 0, number("rate")}}},
             {{"bench", "second", "63"}, {{1, 1, number("rate")}}}};
  return e;
}

TEST(CliFindings, TablesShareWhatACommandGave) {
  const Experiment one = four_cells();
  Experiment other = four_cells();
  other.id = "table-2";
  other.cells.resize(1);
  CommandResults results;
  results[one.cells[0].arguments] = printed(R"({"rate": 3})");
  for (const Experiment* experiment : {&one, static_cast<const Experiment*>(&other)}) {
    const Finding finding = finding_of(*experiment, results, nullptr);
    EXPECT_EQ(finding.ours(0, 0), 3.0);
    EXPECT_EQ(finding.figures[0][0].command, "morton bench first 17");
  }
}

TEST(CliFindings, MissingFiguresSayWhy) {
  const Experiment e = four_cells();
  CommandResults results;
  results[e.cells[0].arguments] = printed(R"({"rate": 3})");
  results[e.cells[1].arguments].too_late = true;
  results[e.cells[1].arguments].failure = "it took more than 12 s";
  results[e.cells[2].arguments].failure = "the driver refuses it: no images";
  const Finding finding = finding_of(e, results, nullptr);
  EXPECT_EQ(finding.figures[0][1].why, "cut");
  EXPECT_EQ(finding.figures[1][0].why, "failed");
  EXPECT_EQ(finding.figures[1][1].why, "cut");
  EXPECT_EQ(finding.failures,
            std::vector<std::string>{"63, first: the driver refuses it: no images"});
  ASSERT_EQ(finding.cuts.size(), 2U);
  EXPECT_EQ(finding.cuts[0], "17, second: it took more than 12 s");
  EXPECT_EQ(finding.why_unanswered(), "of 2 rows only one was measured.");
  results[e.cells[3].arguments] = printed(R"({"rate": 5})");
  EXPECT_EQ(finding_of(e, results, nullptr).why_unanswered(), "");
  const Outcome outcome = outcome_of({finding});
  EXPECT_EQ(outcome.measured, 1U);
  EXPECT_EQ(outcome.cut, 2U);
  EXPECT_EQ(outcome.first_failure, "r17 table-1, 63, first: the driver refuses it: no images");
}

TEST(CliFindings, WhatQuickLeavesOutIsNotCut) {
  const Experiment full = four_cells();
  Experiment quick = four_cells();
  quick.cells.resize(2);
  const Finding rows = finding_of(quick, {}, &full);
  EXPECT_EQ(rows.figures[0][0].why, "cut");
  EXPECT_EQ(rows.figures[1][0].why, "left out by --quick");
  EXPECT_EQ(rows.left_out, std::vector<std::string>{"size: 63"});
  quick.cells.erase(quick.cells.begin() + 1);
  EXPECT_EQ(finding_of(quick, {}, &full).left_out,
            (std::vector<std::string>{"size: 63", "column: second"}));
  quick.cells.clear();
  EXPECT_EQ(finding_of(quick, {}, &full).left_out, std::vector<std::string>{"all of it"});
}

}  // namespace
}  // namespace morton::cli
