// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

std::vector<std::string> training_command(const std::string& model, const std::string& data,
                                          const std::string& steps, const std::string& kernel) {
  std::vector<std::string> command{"train", model, "--data", data, "--steps", steps};
  if (!kernel.empty()) command.insert(command.end(), {"--use", "gemm=gemm." + kernel});
  command.insert(command.end(), {"--out", kFolder});
  return command;
}

/// Rows "accuracy" and "time" of a model, from one training.
Cell training_cell(std::vector<std::string> command, std::size_t row, std::size_t column) {
  return {std::move(command),
          {{row, column, number_at("validation_accuracy", 100.0)},
           {row + 1, column, number_at("seconds")}}};
}

/// What a network reached, and how long it took with each kernel. `row` is its accuracy, the next
/// one its time.
struct Training {
  double least = 100.0, most = 0.0;  ///< accuracy, per cent
  std::string times;
  std::string gains;  ///< of float16 over Eigen, here and in C18
};

Training training_of(const Finding& finding, std::size_t row) {
  Training training;
  for (std::size_t column = 0; column < finding.experiment->columns.size(); ++column) {
    const auto accuracy = finding.ours(row, column), seconds = finding.ours(row + 1, column);
    if (!accuracy || !seconds) continue;
    training.least = std::min(training.least, *accuracy);
    training.most = std::max(training.most, *accuracy);
    const auto theirs = finding.published(row + 1, column);
    training.times +=
        fmt::format("{}{} {} s{}", training.times.empty() ? "" : ", ",
                    quoted(finding.experiment->columns[column].name), rounded(*seconds),
                    theirs ? " (" + rounded(*theirs) + " s in C18)" : "");
  }
  const auto eigen = finding.ours(row + 1, 0), wide = finding.ours(row + 1, 1);
  const auto their_eigen = finding.published(row + 1, 0),
             their_wide = finding.published(row + 1, 1);
  if (eigen && wide && their_eigen && their_wide) {
    training.gains =
        fmt::format("{} times as fast as Eigen's products (C18 {} times)",
                    ratio_text(*eigen / *wide), ratio_text(*their_eigen / *their_wide));
  }
  return training;
}

/// The verdict first: accuracy and the gain of the device's widest kernel, by network.
std::string training_answer(const Finding& finding) {
  std::string verdict, details;
  for (const std::size_t row : {std::size_t{0}, std::size_t{2}}) {
    const Training training = training_of(finding, row);
    if (training.times.empty()) continue;
    const char* network = row == 0 ? "MLP" : "CNN";
    const std::string reached =
        training.most - training.least < 0.05
            ? fmt::format("{:.1f} %", training.most)
            : fmt::format("{:.1f} to {:.1f} %", training.least, training.most);
    verdict +=
        fmt::format("{}the {} reaches {}", verdict.empty() ? "Here " : "; ", network, reached);
    if (!training.gains.empty()) verdict += ", and with 'float16' is " + training.gains;
    details += fmt::format(" The {} takes: {}.", network, training.times);
  }
  return verdict.empty() ? "" : verdict + "." + details;
}

Experiment tables_3_to_6(const Conditions& conditions) {
  const Scale scale = conditions.scale;
  Experiment e{
      .source = "c18",
      .id = "table-6",
      .where = "section D.5, tables 3 to 6 and figure 29",
      .title = "training two networks",
      .question =
          "How well and how fast do two networks learn handwritten digits if their products "
          "run on the device?",
      .method =
          "An MLP trains for 599 steps of 100, a CNN for 59 steps of 1000. Accuracy is of "
          "digits that were not trained on.",
      .row_heading = "what",
      .rows = {"MLP, accuracy, %", "MLP, time, s", "CNN, accuracy, %", "CNN, time, s"},
      .columns = {{"Eigen on the CPU", "", Origin::published, {78.3435, 5.34335, 96.7990, 216.708}},
                  {"float16", "", Origin::published, {78.8788, 53.1919, 96.6364, 388.855}},
                  {"float8", "", Origin::published, {80.0404, 56.5589, 97.2151, 527.089}},
                  {"float4", "", Origin::published, {79.2828, 56.3333, 96.7909, 508.305}},
                  {"plan's choice", ""}},
      .notes =
          {"In the first column C18's whole training is on the CPU. Here its products are, on one "
           "thread, and all else is on the device.",
           "data/mnist has 8,000 digits to train and 2,000 to test; C18 has 60,000 and 10,000.",
           "C18's loops end one batch early: 599 (59) steps, accuracy over 9,900 digits.",
           "C18's MLP has no activation between layers, and weights of N(0,1); that explains "
           "its 79 %.",
           "\"1.8 times slower than the CPU\" is the CNN with float16 only; with float4 and "
           "float8 it is 2.3 and 2.4, and the MLP is ten times slower."},
      .share = 6.0};
  const std::vector<std::string> kernels{"eigen", "c18_v3_16", "c18_v3_8", "c18_v3_4", ""};
  for (std::size_t column = 0; column < kernels.size(); ++column) {
    if (scale == Scale::quick && column > 1 && column < 4) continue;
    e.cells.push_back(training_cell(
        training_command("c18-mlp", conditions.data, "599", kernels[column]), 0, column));
  }
  for (std::size_t column = 0; column < kernels.size() && scale == Scale::full; ++column) {
    std::vector<std::string> command =
        training_command("c18-cnn", conditions.data, "59", kernels[column]);
    command.insert(command.end(), {"--batch", "1000"});
    e.cells.push_back(training_cell(std::move(command), 2, column));
  }
  e.answer = training_answer;
  return e;
}

Experiment figures_23_to_28(const Conditions& conditions) {
  const bool is_quick = conditions.scale == Scale::quick;
  Experiment e{
      .source = "c18",
      .id = "figure-23",
      .where = "section D.4, figures 23 to 28",
      .title = "accuracy over the steps of a training",
      .question = "How does the accuracy grow while the networks are trained?",
      .method =
          "Both networks train in steps of 100 digits; after some steps all held-back digits "
          "are classified.",
      .row_heading = "step",
      .rows = {"50", "100", "200", "300", "400", "500", "600"},
      .columns = {{"MLP", "%", Origin::not_available}, {"CNN", "%", Origin::not_available}},
      .published =
          "The figures are pictures whose values our copy has lost: not available. The text "
          "says that CPU and GPU reach the same accuracy.",
      .answer = all_of({trend("MLP"), trend("CNN")}),
      .share = 3.0};
  const std::vector<std::string> models{"c18-mlp", "c18-cnn"};
  for (std::size_t column = 0; column < models.size(); ++column) {
    if (is_quick && column == 1) continue;
    std::vector<std::string> command =
        training_command(models[column], conditions.data, column == 0 ? "600" : "200", "");
    command.insert(command.end(), {"--test-every", "50"});
    Cell cell{std::move(command), {}};
    for (std::size_t row = 0; row < e.rows.size() && (column == 0 || row < 3); ++row) {
      cell.places.push_back({row, column, accuracy_after(std::stoll(e.rows[row]))});
    }
    e.cells.push_back(std::move(cell));
  }
  return e;
}

}  // namespace

std::vector<Experiment> c18_training(const Conditions& conditions) {
  return {tables_3_to_6(conditions), figures_23_to_28(conditions)};
}

}  // namespace morton::cli
