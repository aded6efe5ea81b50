// SPDX-License-Identifier: Apache-2.0
//
// What tables of `reproduce` say, and that it is of their own columns.
#include <gtest/gtest.h>

#include "bench/published.hpp"
#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/report.hpp"
#include "reproduce/running/findings.hpp"

namespace morton::cli {
namespace {

/// Two kernels at three sizes, in GFLOP/s; both are published.
struct TwoKernels {
  Experiment experiment;
  Finding finding;

  TwoKernels() {
    experiment.source = "r17";
    experiment.id = "table-1";
    experiment.row_heading = "size";
    experiment.rows = {"17", "63", "129"};
    experiment.columns = {{"new", "GFLOP/s", Origin::published, {2.0, 2.2, 0.18}},
                          {"old", "GFLOP/s", Origin::published, {1.0, 1.0, 1.0}}};
    finding.experiment = &experiment;
    finding.figures.assign(3, std::vector<Figure>(2));
  }
  TwoKernels(const TwoKernels&) = delete;
  TwoKernels& operator=(const TwoKernels&) = delete;

  void measure(std::size_t row, double fresh, double old, double spread = 0.0) {
    finding.figures[row][0].ours = Reading{fresh, spread, 5};
    finding.figures[row][1].ours = Reading{old, spread, 5};
  }
  void miss(std::size_t column, const char* why) {
    for (auto& row : finding.figures) {
      row[column].ours.reset();
      row[column].why = why;
    }
  }
  [[nodiscard]] std::string says(const Answer& answer) const { return answer(finding); }
};

TEST(CliAnswers, RowsThatWereCutHereCountAsPublished) {
  TwoKernels two;
  two.measure(0, 3.0, 2.0);
  two.measure(1, 2.0, 2.0);
  EXPECT_EQ(
      two.says(is_faster("new", "old")),
      "Here in part, in R17 in part: 'new' is 1.00 to 1.5 times as fast as 'old' here (faster "
      "in 1 of 2 rows, within the spread in 1); R17 published 0.18 to 2.2 times (3 rows).");
}

TEST(CliAnswers, ADifferenceCountsBeyondBothSpreads) {
  TwoKernels two;
  two.measure(0, 1.10, 1.0, 0.08);
  two.measure(1, 1.02, 1.0);
  two.measure(2, 1.0, 1.2, 0.02);
  EXPECT_NE(
      two.says(speed_ratio("new", "old")).find("(slower in 1 of 3 rows, within the spread in 2)"),
      std::string::npos)
      << two.says(speed_ratio("new", "old"));
}

TEST(CliAnswers, TheRowThatTheSourceNamesStandsFirst) {
  TwoKernels two;
  two.experiment.columns[0].published.clear();
  two.measure(0, 1.0, 2.0);
  two.measure(1, 3.0, 1.0);
  EXPECT_EQ(
      two.says(is_faster("new", "old", {"about 2 times", Stance::yes, "63"})),
      "Here in part, in R17 yes: 'new' is 3.0 times as fast as 'old' at size 63 here, and 0.50 "
      "to 3.0 times over all (faster in 1 of 2 rows, slower in 1); R17 says about 2 times at "
      "size 63.");
}

TEST(CliAnswers, AColumnWithoutNumbersIsNamed) {
  TwoKernels two;
  two.measure(0, 1.0, 2.0);
  two.measure(1, 1.0, 2.0);
  two.miss(0, "failed");
  EXPECT_EQ(two.says(is_faster("new", "old")), "Not answered here: 'new' has no number (failed).");
  two.experiment.answer = trend("old");
  EXPECT_NE(answer_of(two.finding).find("Without a number here: 'new' (failed)."),
            std::string::npos)
      << answer_of(two.finding);
}

TEST(CliAnswers, ColumnsAreRankedWithTheirSpread) {
  TwoKernels two;
  two.measure(0, 2.0, 1.0);
  two.measure(1, 2.0, 2.0);
  two.measure(2, 4.0, 1.0);
  EXPECT_EQ(
      two.says(fastest_column()),
      "Fastest here: 'new' in 2 of 3 rows, in 1 nobody by more than the spread; in R17 'new' in "
      "2 of 3 rows.");
  EXPECT_EQ(two.says(slowest_column()),
            "Slowest here: 'old' in all 3 rows; the fastest is 1.00 to 4.0 times as fast.");
  EXPECT_EQ(two.says(highest("new")),
            "'new' is highest at size 129 here, 4.0 GFLOP/s; in R17 at 63, 2.2 GFLOP/s.");
  EXPECT_EQ(two.says(reaches_its_most("new")),
            "'new' does 4.0 GFLOP/s at most here, and reaches 90 % of that at size 129.");
}

TEST(CliAnswers, RatiosHaveThreeDigitsNearOne) {
  EXPECT_EQ(ratio_text(0.9961), "0.996");
  EXPECT_EQ(ratio_text(1.0449), "1.04");
  EXPECT_EQ(ratio_text(0.15), "0.15");
  EXPECT_EQ(ratio_text(33.2), "33");
  EXPECT_EQ(times_text({0.9996, 1.0449}), "1.00 to 1.04 times");
}

/// A finding of an experiment whose columns all have the number 1 but `column`, which failed so.
Finding finding_without(const Experiment& experiment, const std::string& column,
                        const std::string& failure) {
  Finding finding;
  finding.experiment = &experiment;
  finding.figures.assign(experiment.rows.size(), std::vector<Figure>(experiment.columns.size()));
  const std::size_t missing = finding.column(column);
  for (auto& row : finding.figures) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != missing) row[i].ours = Reading{1.0, 0.0, 5};
    }
    row[missing].why = "failed";
  }
  finding.failures = {failure};
  return finding;
}

TEST(CliAnswers, AnImageOnABufferThatTheDeviceRefusesAnswersNothing) {
  const std::vector<Experiment> all = all_experiments({Scale::full, "", "0:0"});
  const Experiment image = experiments_of(all, {"c18", "SECTION-C.6"}).at(0);
  const Finding finding =
      finding_without(image, "image on a buffer", "512: it requires device.image_from_buffer");
  const std::string answer = answer_of(finding);
  EXPECT_EQ(answer.find("Not answered here: the device makes no image from a buffer"), 0U)
      << answer;
  EXPECT_NE(answer.find("An image in memory of its own"), std::string::npos) << answer;
}

TEST(CliAnswers, EveryExperimentHasAVerdictOfFullTables) {
  for (const Experiment& experiment : all_experiments({Scale::full, "", "0:0"})) {
    Finding finding;
    finding.experiment = &experiment;
    finding.figures.assign(experiment.rows.size(), std::vector<Figure>(experiment.columns.size()));
    for (auto& row : finding.figures) {
      for (Figure& figure : row) figure.ours = Reading{1.0, 0.0, 5};
    }
    const std::string answer = answer_of(finding);
    EXPECT_TRUE(answer.ends_with(".")) << name_of(experiment) << ": " << answer;
    EXPECT_EQ(answer.find("has no number"), std::string::npos)
        << name_of(experiment) << ": " << answer;
    EXPECT_EQ(experiment.method.find("figures"), std::string::npos) << name_of(experiment);
  }
}

TEST(CliAnswers, TheTimeThatWasMissingIsForetold) {
  Experiment e;
  e.source = "r17";
  e.rows = {"64", "128"};
  e.columns = {{"rate", "GFLOP/s"}};
  e.cells = {{{"bench", "64"}, {{0, 0, {}}}, 1.0}, {{"bench", "128"}, {{1, 0, {}}}, 8.0}};
  CommandResults results;
  results[e.cells[0].arguments].seconds = 20.0;
  const Shortage shortage = shortage_of({e}, results);
  EXPECT_EQ(shortage.commands, 1U);
  EXPECT_EQ(shortage.seconds, 160.0);
  EXPECT_EQ(shortage_text(shortage, 60.0),
            "1 command was cut for want of time; --budget 5m would probably do.");
  results[e.cells[1].arguments].seconds = 150.0;
  EXPECT_EQ(shortage_text(shortage_of({e}, results), 60.0), "");
}

}  // namespace
}  // namespace morton::cli
