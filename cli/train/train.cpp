// SPDX-License-Identifier: Apache-2.0
#include "train/train.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/terminal.hpp"
#include "morton/architectures.hpp"
#include "train/stop_signals.hpp"
#include "train/train_fit.hpp"
#include "train/train_line.hpp"
#include "train/train_options.hpp"
#include "train/train_text.hpp"

namespace morton::cli {
namespace {

constexpr const char* kTrainFooter =
    R"(The folder gets the trained model.onnx, two generations of checkpoints, log.csv, log.jsonl and events
for TensorBoard. Ctrl-C saves and stops. --resume goes on, bit for bit on the same device and driver.

Examples:
  morton train lenet5 --data data/mnist
  morton train c18-cnn --data data/mnist --steps 600 --test-every 100
  morton train net.onnx --data photos --freeze 'features.*' --validation 0.1 --patience 3
  morton train net.onnx --data cifar --optimizer sgd --momentum 0.9 --lr 0.1 \
      --schedule cosine:warmup=500 --augment flip,crop=4 --epochs 30
  tensorboard --logdir lenet5-trained)";

Examples read_examples(const TrainOptions& options) {
  Examples examples;
  examples.training = read_dataset(options.data.path, Split::train);
  if (has_split(options.data.path, Split::test)) {
    examples.test = read_dataset(options.data.path, Split::test);
  }
  if (options.validation == 0.0) {
    examples.validation = examples.test;
    return examples;
  }
  auto [rest, held_back] = split_off(examples.training, options.validation, options.run.seed);
  examples.training = std::move(rest);
  examples.validation = std::move(held_back);
  return examples;
}

Model model_of(const TrainOptions& options) {
  if (names_architecture(options.model.path)) {
    return new_model(options.model.path, options.run.seed);
  }
  return read_model(options.model);
}

std::int64_t elements_of(const TrainingSummary& summary) {
  std::int64_t all = 0;
  for (const TrainingSummary::Parameter& parameter : summary.parameters) {
    std::int64_t size = 1;
    for (const std::int64_t extent : parameter.shape) size *= extent;
    // Statistics follow what is learned; nothing trains them.
    if (parameter.role != TrainingSummary::Parameter::Role::statistics) all += size;
  }
  return all;
}

/// The first few of the names, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(names.size(), kMost);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  const std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  return names.size() == shown ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

/// What is taken for a parameter, and what is not, where the model's file does not tell.
void say_doubts(const TrainingSummary& summary) {
  if (!summary.doubtful_scales.empty()) {
    log::info(
        "trained too, as a file does not tell learned scales from fixed ones: {} (--freeze "
        "leaves them as they are)",
        some_of(summary.doubtful_scales));
  }
  if (!summary.stated_numbers.empty()) {
    log::info("single numbers stay as they are: {}", some_of(summary.stated_numbers));
  }
}

Shape example_shape(const Dataset& data) {
  return {data.inputs.shape().begin() + 1, data.inputs.shape().end()};
}

void say_beginning(const Trainer& trainer, const Examples& examples, const TrainOptions& options) {
  const TrainingSummary& summary = trainer.summary();
  log::info(
      "{} of {} parameters are trained; device memory: {} for parameters, {} for the "
      "optimizer, {} for activations, {} for temporaries",
      summary.trained_elements, elements_of(summary), bytes_text(summary.parameter_bytes),
      bytes_text(summary.optimizer_bytes), bytes_text(summary.activation_bytes),
      bytes_text(summary.workspace_bytes));
  if (!names_architecture(options.model.path)) say_doubts(summary);
  const std::int64_t left_over = examples.training.size() % options.trainer.batch;
  say_what_is_cut(examples.training, trainer.input());
  if (examples.test && example_shape(*examples.test) != example_shape(examples.training)) {
    say_what_is_cut(*examples.test, trainer.input());
  }
  log::info("{} examples for training{}, {} for validation{}", examples.training.size(),
            left_over == 0 ? ""
                           : fmt::format(" (batches are full, so each epoch leaves out {}, others "
                                         "each time)",
                                         left_over),
            examples.validation ? examples.validation->size() : 0,
            !examples.validation        ? " (no test part; --validation 0.1 holds some back)"
            : options.validation == 0.0 ? " (the test part)"
                                        : "");
}

std::string end_text(TrainingReport::End end) {
  switch (end) {
    case TrainingReport::End::finished:
      return "finished";
    case TrainingReport::End::patience:
      return "out of patience";
    case TrainingReport::End::stopped:
      break;
  }
  return "stopped";
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// What the training came to, with the test part where another one was looked at on the way.
struct TrainResult {
  TrainingReport report;
  std::optional<BatchResult> test;
  std::string model_path;

  [[nodiscard]] std::optional<double> test_accuracy() const {
    if (!test || test->right < 0) return std::nullopt;
    return static_cast<double>(test->right) / static_cast<double>(test->rows);
  }
};

Json json_of(const TrainResult& result) {
  const TrainingReport& report = result.report;
  return {{"end", end_text(report.end)},
          {"steps", report.steps},
          {"resumed_from", report.resumed_from},
          {"left_over", report.left_over},
          {"overflows", report.overflows},
          {"loss", or_null(report.loss)},
          {"accuracy", or_null(report.accuracy)},
          {"validation_loss", or_null(report.validation_loss)},
          {"validation_accuracy", or_null(report.validation_accuracy)},
          {"best_step", report.best_step},
          {"best_validation_loss", or_null(report.best_validation_loss)},
          {"best_validation_accuracy", or_null(report.best_validation_accuracy)},
          {"seconds", report.seconds},
          {"images_per_second", report.images_per_second},
          {"builds_after_first_step", report.builds_after_first_step},
          {"test_loss", result.test ? Json(result.test->loss) : Json(nullptr)},
          {"test_accuracy", or_null(result.test_accuracy())},
          {"model", result.model_path}};
}

std::string text_of(const TrainResult& result, Format format) {
  const TrainingReport& report = result.report;
  Table table;
  table.columns = {{"training"}, {end_text(report.end), Table::Align::right}};
  const auto add = [&](const char* name, std::string value) {
    table.rows.push_back({name, std::move(value)});
  };
  add("steps", std::to_string(report.steps));
  if (report.overflows > 0) add("updates left out", std::to_string(report.overflows));
  if (report.loss) add("loss, last epoch", loss_text(*report.loss));
  if (report.accuracy) add("accuracy, last epoch", percent_text(report.accuracy));
  if (report.validation_loss) add("validation loss", loss_text(*report.validation_loss));
  if (report.validation_accuracy) {
    add("validation accuracy", percent_text(report.validation_accuracy));
  }
  if (result.test) add("test loss", loss_text(result.test->loss));
  if (result.test_accuracy()) add("test accuracy", percent_text(result.test_accuracy()));
  add("time", duration_text(report.seconds));
  if (report.images_per_second > 0.0)
    add("images a second", fmt::format("{:.0f}", report.images_per_second));
  add("program builds after the first step", std::to_string(report.builds_after_first_step));
  add("model", result.model_path);
  return to_text(table, format);
}

/// Looks at the test part with what was learned.
BatchResult test(Trainer& trainer, const Dataset& examples, const TrainOptions& options,
                 TrainingReport& report) {
  const Device& device = trainer.step_model().device();
  const int builds = device.program_builds();
  const BatchResult found = evaluate(trainer, examples, options.run);
  report.builds_after_first_step += device.program_builds() - builds;
  return found;
}

std::string model_path(const TrainOptions& options) {
  return (std::filesystem::path(options.out) / "model.onnx").string();
}

/// Starting anew must not take away what it starts from.
void require_other_file(const TrainOptions& options) {
  std::error_code status;
  if (options.restart &&
      std::filesystem::equivalent(options.model.path, model_path(options), status)) {
    throw UsageError(fmt::format(
        "{}: --restart would write what is learned over the model that it starts from; take "
        "another folder, or --resume",
        options.model.path));
  }
}

/// A plan is shown for people, and no folder is written to.
void settle_plan(TrainOptions& options) {
  if (options.format != Format::table) {
    throw UsageError("--plan: shows the plan as text; leave --format out");
  }
  options.run.folder.clear();
  options.run.start = TrainingRunOptions::Start::in_empty_folder;
}

int train_model(TrainOptions options) {
  settle(options);
  if (options.why && !options.plan) throw UsageError("--why: give it with --plan");
  if (options.plan) settle_plan(options);
  check_options(options.run);
  if (!options.plan) require_other_file(options);
  const Examples examples = read_examples(options);
  options.trainer.targets = TrainerOptions::Targets::labels;
  if (!examples.training.has_labels()) options.trainer.targets = TrainerOptions::Targets::shares;
  const Model model = model_of(options);
  settle_batch(model, options);
  check_labels(examples, model, options);
  if (examples.training.size() < options.trainer.batch) {
    throw UsageError(
        fmt::format("{}: {} examples for training are fewer than a batch of {}; take a "
                    "smaller batch",
                    examples.training.where, examples.training.size(), options.trainer.batch));
  }
  settle_shape(examples, model, options);
  check_course(examples, model, options);
  std::optional<Progress> building("building kernels");
  options.trainer.compile.progress = [&building](double share) {
    if (building) building->update(share);
  };
  Trainer trainer(model, open_device(options.device), options.trainer);
  building.reset();
  if (options.plan) {
    using Detail = CompiledModel::Detail;
    emit(trainer.plan_text(options.why ? Detail::why : Detail::brief, option_text), "");
    return 0;
  }
  say_beginning(trainer, examples, options);
  building.emplace("building kernels");  // what looks at the validation data comes now

  const StopSignals signals;
  TrainLine line;
  options.run.progress = [&](const TrainingProgress& progress) {
    building.reset();
    line.update(progress);
  };
  options.run.log = [&](const std::string& text) {
    building.reset();
    line.clear();
    log::info("{}", text);
  };
  options.run.stop = [&signals] { return signals.caught() != 0; };
  const bool tested = examples.test && options.validation != 0.0;
  if (tested) options.run.after_end = TrainingRunOptions::AfterEnd::evaluation;
  TrainResult result;
  result.report = train(trainer, examples.training,
                        examples.validation ? &*examples.validation : nullptr, options.run);
  line.clear();
  const bool ended = result.report.end != TrainingReport::End::stopped;
  if (ended && tested) result.test = test(trainer, *examples.test, options, result.report);
  result.model_path = model_path(options);
  trainer.model().save(result.model_path);
  emit(for_people(options.format) ? text_of(result, options.format)
                                  : to_text(json_of(result), options.format),
       "");
  if (ended) return 0;
  log::info("stopped after step {}; --resume goes on from there", result.report.steps);
  return 128 + signals.caught();
}

}  // namespace

void add_train(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("train", "Train a model on a data set");
  command->footer(kTrainFooter);
  auto options = std::make_shared<TrainOptions>();
  add_train_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return train_model(*options); }; });
}

}  // namespace morton::cli
