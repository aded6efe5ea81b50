// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "data_options.hpp"
#include "given_model.hpp"
#include "inputs.hpp"
#include "log.hpp"
#include "morton/evaluation.hpp"
#include "options.hpp"
#include "output.hpp"
#include "read_model.hpp"
#include "terminal.hpp"

namespace morton::cli {
namespace {

constexpr const char* kFooter =
    R"(Prints how many answers are right, and the confusion matrix: what the examples show in rows, the
answers in columns. Pictures smaller than the model's input are centred on zeros.

Examples:
  morton eval models/lenet5.onnx --data data/mnist
  morton eval lenet5-trained/model.onnx --data data/mnist --part train --format json
  morton eval lenet5 --checkpoint lenet5-trained --data data/mnist)";

/// A matrix of more classes is no longer read; then only the most frequent mistakes are shown.
constexpr std::int64_t kMostShownClasses = 20;
constexpr std::size_t kShownMistakes = 10;

struct Options {
  DeviceOptions device;
  ModelOptions model;
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
  std::string checkpoint;  ///< empty: the model's own parameters
  DataOptions data;
  Split part = Split::test;
  ResultOptions result;
};

struct Mistake {
  std::int64_t truth = 0, answer = 0, count = 0;
};

/// Most frequent first; of equal ones in the matrix's order.
std::vector<Mistake> mistakes_of(const Evaluation& evaluation) {
  std::vector<Mistake> mistakes;
  for (std::int64_t truth = 0; truth < evaluation.classes; ++truth) {
    for (std::int64_t answer = 0; answer < evaluation.classes; ++answer) {
      const std::int64_t count = evaluation.count(truth, answer);
      if (truth != answer && count > 0) mistakes.push_back({truth, answer, count});
    }
  }
  std::ranges::stable_sort(mistakes, std::ranges::greater(), &Mistake::count);
  return mistakes;
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

Table matrix(const Evaluation& evaluation, const Dataset& data) {
  Table table;
  table.columns = {{"class"}};
  for (std::int64_t answer = 0; answer < evaluation.classes; ++answer) {
    table.columns.push_back({class_name(data, answer), Table::Align::right});
  }
  table.columns.push_back({"right", Table::Align::right});
  for (std::int64_t truth = 0; truth < evaluation.classes; ++truth) {
    std::vector<std::string> row{class_name(data, truth)};
    std::int64_t all = 0;
    for (std::int64_t answer = 0; answer < evaluation.classes; ++answer) {
      const std::int64_t count = evaluation.count(truth, answer);
      all += count;
      row.push_back(count == 0 ? "." : std::to_string(count));
    }
    row.push_back(share_text(evaluation.count(truth, truth), all));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table mistakes_table(const Evaluation& evaluation, const Dataset& data) {
  Table table;
  table.columns = {{"shows"}, {"answer"}, {"times", Table::Align::right}};
  for (const Mistake& mistake : mistakes_of(evaluation)) {
    if (table.rows.size() == kShownMistakes) break;
    table.rows.push_back({class_name(data, mistake.truth), class_name(data, mistake.answer),
                          std::to_string(mistake.count)});
  }
  return table;
}

std::string text_of(const Evaluation& evaluation, const Dataset& data, Format format) {
  std::string text = fmt::format("{} of {} right ({})\n\n", evaluation.right, evaluation.examples,
                                 share_text(evaluation.right, evaluation.examples));
  if (evaluation.classes <= kMostShownClasses) {
    return text + to_text(matrix(evaluation, data), format);
  }
  const Table mistakes = mistakes_table(evaluation, data);
  if (mistakes.rows.empty()) return text + "no mistakes\n";
  return text + "the most frequent mistakes:\n" + to_text(mistakes, format);
}

Json json_of(const Evaluation& evaluation, const Dataset& data, const Options& options) {
  Json names = Json::array();
  Json matrix = Json::array();
  for (std::int64_t truth = 0; truth < evaluation.classes; ++truth) {
    names.push_back(class_name(data, truth));
    Json row = Json::array();
    for (std::int64_t answer = 0; answer < evaluation.classes; ++answer) {
      row.push_back(evaluation.count(truth, answer));
    }
    matrix.push_back(std::move(row));
  }
  const Json checkpoint = options.checkpoint.empty() ? Json(nullptr) : Json(options.checkpoint);
  return {{"model", options.model.path}, {"checkpoint", checkpoint},
          {"data", data.where},          {"examples", evaluation.examples},
          {"right", evaluation.right},   {"accuracy", evaluation.accuracy()},
          {"classes", std::move(names)}, {"confusion", std::move(matrix)}};
}

int evaluate_model(const Options& options) {
  const Dataset data = read_dataset(options.data.path, options.part);
  GivenModel model(options.model, options.elsewhere);
  if (!options.checkpoint.empty()) {
    model.take_checkpoint(options.checkpoint);
  } else if (names_architecture(options.model.path)) {
    log::warn("{}: the weights are random; --checkpoint takes those of a training",
              options.model.path);
  }
  CompileOptions compile = compile_options(options.model);
  const std::vector<PortInfo> inputs = model.inputs();
  // A model that fixes its batch says so itself.
  if (inputs.size() == 1 && !inputs[0].shape.empty() &&
      inputs[0].shape[batch_dimension(inputs[0])] >= 0) {
    compile.batch = 0;
  }
  compile.weights = weights_of(options.device);
  const CompiledModel compiled = model.compile(open_devices(options.device), compile);
  log::info("{}", model.kernels_line(compiled.report()));
  say_what_is_cut(data, compiled.inputs().front());
  EvaluationOptions evaluation{options.data.mean, options.data.deviation, {}};
  Progress progress("evaluating");
  evaluation.progress = [&](double share) { progress.update(share); };
  const Evaluation found = evaluate(compiled, data, evaluation);
  const Format format = options.result.format;
  emit(for_people(format) ? text_of(found, data, format)
                          : to_text(json_of(found, data, options), format),
       options.result.path);
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("eval", "How often a model's answers are right, by class");
  command->footer(kFooter);
  auto options = std::make_shared<Options>();
  options->model.batch = 100;
  add_given_model(*command, options->model, options->elsewhere, Need::required);
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "Parameters that `morton train` saved, of the model that it was given: its "
                   "folder (the newest), or a file in it")
      ->option_text("PATH");
  add_options(*command, options->data);
  const std::vector<std::pair<std::string, Split>> parts{{"test", Split::test},
                                                         {"train", Split::train}};
  command->add_option("--part", options->part, "test or train: the part of the data (test)")
      ->option_text("PART")
      ->transform(one_of(numbered(parts)));
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_options(*command, options->result,
              {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->callback(
      [options, &chosen] { chosen = [options] { return evaluate_model(*options); }; });
}

}  // namespace morton::cli
