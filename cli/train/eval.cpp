// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/commands.hpp"
#include "common/data_options.hpp"
#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"
#include "morton/evaluation.hpp"

namespace morton::cli {
namespace {

constexpr const char* kEvalFooter =
    R"(Prints how many answers are right, and the confusion matrix: true classes in rows, answers in
columns. Pictures smaller than the model's input are centred on black, a level of 0 before --mean is
subtracted. A model with one output answers class 1 above --threshold, else class 0.

Examples:
  morton eval models/lenet5.onnx --data data/mnist
  morton eval lenet5-trained/model.onnx --data data/mnist --part train --format json
  morton eval lenet5 --checkpoint lenet5-trained --data data/mnist)";

/// A matrix of more classes is no longer read; then only the most frequent mistakes are shown.
constexpr std::int64_t kMostShownClasses = 20;
constexpr std::size_t kShownMistakes = 10;

struct EvalArguments {
  DeviceOptions device;
  ModelOptions model;
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
  std::string checkpoint;    ///< empty: the model's own parameters
  std::int64_t classes = 0;  ///< of a checkpoint's network; 0: those of the model
  DataOptions data;
  Split part = Split::test;
  std::optional<double> threshold;  ///< nothing: as the model ends
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

Json json_of(const Evaluation& evaluation, const Dataset& data, const EvalArguments& options,
             const std::optional<double>& threshold) {
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
  return {{"model", options.model.path},
          {"checkpoint", checkpoint},
          {"data", data.where},
          {"examples", evaluation.examples},
          {"right", evaluation.right},
          {"accuracy", evaluation.accuracy()},
          {"threshold", threshold ? Json(*threshold) : Json(nullptr)},
          {"classes", std::move(names)},
          {"confusion", std::move(matrix)}};
}

/// Batch and picture size, where neither the model nor an option says them.
void settle_shape(const std::vector<PortInfo>& inputs, const Dataset& data,
                  CompileOptions& compile) {
  const std::optional<std::int64_t> fixed = fixed_batch(inputs, compile.batch);
  if (fixed) compile.batch = 0;
  if (inputs.size() == 1 && compile.shapes.contains(inputs.front().name)) return;
  if (!fixed && compile.batch == 0) compile.batch = kUsualBatch;
  if (inputs.size() != 1 || batch_dimension(inputs.front()) != 0) return;
  const Shape& stated = inputs.front().shape;
  Shape shape = shape_for(data, stated);
  if (shape == stated) return;
  shape[0] = fixed.value_or(compile.batch);
  compile.shapes[inputs.front().name] = shape;
}

/// What parts the answers of a model with one output; nothing of one with several.
std::optional<double> threshold_of(const GivenModel& model, const CompiledModel& compiled,
                                   const EvalArguments& options) {
  const std::vector<PortInfo> outputs = compiled.outputs();
  if (outputs.size() != 1) return std::nullopt;  // which evaluation refuses
  const Shape& shape = outputs.front().shape;
  const bool one = shape.size() == 1 || (shape.size() >= 2 && shape[1] == 1);
  if (!one && options.threshold) {
    throw UsageError(
        fmt::format("--threshold: the model has {} outputs, of which the greatest is the "
                    "answer; leave it out",
                    shape.empty() ? 0 : shape[1]));
  }
  if (!one) return std::nullopt;
  const double threshold = options.threshold ? *options.threshold : model.answer_threshold();
  log::info("one output: the answer is class 1 above {}, else 0", threshold);
  return threshold;
}

/// The examples. Throws ModelError where they have no labels.
Dataset read_labelled(const EvalArguments& options, const std::vector<PortInfo>& inputs,
                      const CompileOptions& compile) {
  Dataset data = read_data(options.data, options.part, inputs, compile.shapes);
  require_labels_below(data, data.classes);
  return data;
}

int evaluate_model(const EvalArguments& options) {
  CompileOptions compile = compile_options(options.model);
  // Values that should be labels are told before the model is read, unless its input says how
  // pictures are prepared.
  const bool prepares = changes_pixels(options.data.pictures);
  std::optional<Dataset> read;
  if (!prepares) read = read_labelled(options, {}, compile);
  GivenModel model(options.model, options.elsewhere);
  if (prepares) read = read_labelled(options, model.inputs(), compile);
  const Dataset& data = *read;
  if (options.classes > 0) {
    if (options.checkpoint.empty()) {
      throw UsageError("--classes: its weights are those of a training; give --checkpoint with it");
    }
    model.take_classes(options.classes);
  }
  if (!options.checkpoint.empty()) {
    model.take_checkpoint(options.checkpoint);
  } else if (names_architecture(options.model.path)) {
    log::warn("{}: the weights are random; --checkpoint takes those of a training",
              options.model.path);
  }
  settle_shape(model.inputs(), data, compile);
  compile.weights = weights_of(options.device);
  const CompiledModel compiled = model.compile(open_devices(options.device), compile);
  log::info("{}", model.kernels_line(compiled.report()));
  say_what_is_lost(data, compiled.inputs().front());
  const std::optional<double> threshold = threshold_of(model, compiled, options);
  const Normalization normalization = normalization_of(options.data);
  EvaluationOptions evaluation{
      normalization.mean, normalization.deviation, threshold.value_or(0.0), {}};
  Progress progress("evaluating");
  evaluation.progress = [&](double share) { progress.update(share); };
  const Evaluation found = evaluate(compiled, data, evaluation);
  const Format format = options.result.format;
  emit(for_people(format) ? text_of(found, data, format)
                          : to_text(json_of(found, data, options, threshold), format),
       options.result.path);
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("eval", "Show how often a model's answers are right, by class");
  command->footer(kEvalFooter);
  auto options = std::make_shared<EvalArguments>();
  add_given_model(*command, options->model, options->elsewhere, Need::required);
  command
      ->add_option(
          "--checkpoint", options->checkpoint,
          "Parameters of MODEL that `morton train` saved: its folder (the newest), or a file in it")
      ->option_text("PATH");
  command
      ->add_option("--classes", options->classes,
                   "With --checkpoint: the number that `morton train --classes` was given")
      ->option_text("N")
      ->check(whole_number(1));
  add_options(*command, options->data);
  const std::vector<std::pair<std::string, Split>> parts{{"test", Split::test},
                                                         {"train", Split::train}};
  command->add_option("--part", options->part, "Part of the data: test or train (test)")
      ->option_text("PART")
      ->transform(one_of(numbered(parts)));
  command
      ->add_option("--threshold", options->threshold,
                   "For a model with one output: the answer is class 1 above X (0.5 after a "
                   "Sigmoid, else 0)")
      ->option_text("X");
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_options(*command, options->result,
              {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->callback(
      [options, &chosen] { chosen = [options] { return evaluate_model(*options); }; });
}

}  // namespace morton::cli
