// SPDX-License-Identifier: Apache-2.0
#include "train/train.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "common/data_options.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/terminal.hpp"
#include "common/unused_options.hpp"
#include "morton/architectures.hpp"
#include "train/stop_signals.hpp"
#include "train/train_fit.hpp"
#include "train/train_line.hpp"
#include "train/train_options.hpp"
#include "train/train_page.hpp"
#include "train/train_ranks.hpp"
#include "train/train_result.hpp"

namespace morton::cli {
namespace {

constexpr const char* kTrainFooter =
    R"(The folder gets the trained model.onnx, two generations of checkpoints, log.csv, log.jsonl and events
for TensorBoard. Ctrl-C saves and stops. --resume goes on, bit for bit on the same device and driver.

Examples:
  morton train lenet5 --data data/mnist
  morton train c18-cnn --data data/mnist --steps 600 --test-every 100
  morton train net.onnx --data photos --freeze 'features.*' --validation 0.1 --patience 3
  morton train mobilenet.onnx --data birds --classes 3 --preset imagenet --resize 256 --crop 224
  morton train net.onnx --data cifar --optimizer sgd --momentum 0.9 --lr 0.1 \
      --schedule cosine:warmup=500 --augment flip,crop=4 --epochs 30
  morton train lenet5 --data data/mnist --epochs 3 --html training.html
  tensorboard --logdir lenet5-trained)";

Examples read_examples(const TrainOptions& options, const Model& model) {
  const std::vector<PortInfo> inputs = model.inputs();
  Examples examples;
  examples.training = read_data(options.data, Split::train, inputs);
  if (has_split(options.data.path, Split::test)) {
    examples.test = read_data(options.data, Split::test, inputs);
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
  Model model = names_architecture(options.model.path)
                    ? new_model(options.model.path, options.run.seed)
                    : read_model(options.model);
  return options.classes == 0 ? model : with_classes(model, options.classes, options.run.seed);
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
  if (!summary.ambiguous_scales.empty()) {
    log::info(
        "trained too, as a file does not tell learned scales from fixed ones: {} (--freeze "
        "leaves them as they are)",
        some_of(summary.ambiguous_scales));
  }
  if (!summary.scalar_constants.empty()) {
    log::info("single numbers stay as they are: {}", some_of(summary.scalar_constants));
  }
}

Shape example_shape(const Dataset& data) {
  return {data.inputs.shape().begin() + 1, data.inputs.shape().end()};
}

void say_beginning(const Trainer& trainer, const Examples& examples, const TrainOptions& options) {
  const TrainingSummary& summary = trainer.summary();
  say_ranks(options);
  log::info(
      "{} of {} parameters are trained; device memory: {} for parameters, {} for the "
      "optimizer, {} for activations and temporaries",
      summary.trained_elements, elements_of(summary), bytes_text(summary.parameter_bytes),
      bytes_text(summary.optimizer_bytes),
      bytes_text(summary.activation_bytes + summary.workspace_bytes));
  if (!names_architecture(options.model.path)) say_doubts(summary);
  const std::int64_t left_over = examples.training.size() % options.trainer.batch;
  say_what_is_lost(examples.training, trainer.input());
  const bool has_others = examples.test && examples.test->without_colours > 0;
  if (examples.test &&
      (has_others || example_shape(*examples.test) != example_shape(examples.training))) {
    say_what_is_lost(*examples.test, trainer.input());
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
  if (options.beginning.restart &&
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
  if (!options.html.empty()) throw UsageError("--plan: trains nothing; leave --html out");
  take_folder_away(options);
}

/// Settles the batch and the shape, and refuses examples that the model cannot learn from.
void fit(const Examples& examples, const Model& model, TrainOptions& options) {
  settle_batch(model, options);
  check_labels(examples, model, options);
  if (examples.training.size() < options.trainer.batch) {
    throw UsageError(fmt::format(
        "{}: {} examples for training are fewer than a batch of {}; --batch {} takes all",
        examples.training.where, examples.training.size(), options.trainer.batch,
        examples.training.size()));
  }
  settle_shape(examples, model, options);
  check_course(examples, model, options);
}

/// What the model answers to the test part, else to the validation data; nothing without labels.
std::optional<ClassAnswers> answers_of(Trainer& trainer, const Examples& examples,
                                       const TrainOptions& options) {
  const auto& data = examples.test ? examples.test : examples.validation;
  if (!data || !data->has_labels()) return std::nullopt;
  const Model model = trainer.model();
  CompileOptions compile = options.trainer.compile;
  compile.progress = {};
  const PortInfo input = model.inputs().front();
  Shape shape = trainer.input().shape;
  // The trainer has the batch in front, also where the model has it last, as R17's form does.
  if (shape.size() == 2 && batch_dimension(input) == 1) std::ranges::reverse(shape);
  compile.shapes = {{input.name, shape}};
  const CompiledModel compiled = compile_model(model, trainer.step_model().device(), compile);
  ClassAnswers answers{
      data->where,
      evaluate(compiled, *data,
               {options.run.mean, options.run.deviation, answer_threshold(model), {}}),
      {}};
  for (std::int64_t c = 0; c < answers.evaluation.classes; ++c) {
    answers.class_names.push_back(class_name(*data, c));
  }
  return answers;
}

void write_page(Trainer& trainer, const Examples& examples, const TrainOptions& options,
                const TrainResult& result) {
  const std::string log = read_text((std::filesystem::path(options.out) / "log.csv").string());
  emit(page_of(result, options, log, answers_of(trainer, examples, options)), options.html);
}

int train_model(TrainOptions options) {
  const bool is_first = is_first_rank(options);
  settle(options);
  if (!is_first) take_folder_away(options);
  if (options.plan.why && !options.plan.shown) throw UsageError("--why: give it with --plan");
  if (options.plan.shown) settle_plan(options);
  check_options(options.run);
  if (is_first && !options.plan.shown) require_other_file(options);
  const Model model = model_of(options);
  const Examples examples = read_examples(options, model);
  options.trainer.targets = TrainerOptions::Targets::labels;
  if (!examples.training.has_labels()) options.trainer.targets = TrainerOptions::Targets::shares;
  fit(examples, model, options);
  log::info("planning the training step and building its kernels; a large network takes minutes");
  std::optional<Progress> building("building kernels");
  options.trainer.compile.progress = [&building](double share) {
    if (building) building->update(share);
  };
  Trainer trainer(model, open_device(options.device), options.trainer);
  building.reset();
  if (options.plan.shown) {
    if (!is_first) return 0;
    using Detail = CompiledModel::Detail;
    emit(trainer.plan_text(options.plan.why ? Detail::why : Detail::brief, option_text), "");
    return 0;
  }
  say_beginning(trainer, examples, options);
  const std::string unused = unused_sums(options.trainer.compile, trainer.step_model().steps());
  if (!unused.empty()) log::warn("{}", unused);
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
  if (!is_first) return ended || signals.caught() == 0 ? 0 : 128 + signals.caught();
  const Model learned = trainer.model();
  learned.save(result.model_path);
  const auto labels_path = std::filesystem::path(options.out) / "labels.txt";
  result.labels_path = write_labels(examples.training, learned, labels_path.string());
  emit(text_of(result, options.format), "");
  // Whatever becomes of the page, the result is told.
  std::fflush(stdout);
  if (!options.html.empty()) write_page(trainer, examples, options, result);
  if (ended) return 0;
  log::info("stopped after step {}; --resume goes on from there", result.report.steps);
  // Another rank may have caught the signal.
  return signals.caught() == 0 ? 0 : 128 + signals.caught();
}

}  // namespace

void add_train(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("train", "Train a model on a data set");
  command->footer(kTrainFooter);
  auto options = std::make_shared<TrainOptions>();
  add_train_options(*command, *options);
  command->callback([options, &chosen] {
    chosen = [options] {
      options->trainer.ranks.communicator = communicator_for(*options);
      return train_as_rank(*options, [&options] { return train_model(*options); });
    };
  });
}

}  // namespace morton::cli
