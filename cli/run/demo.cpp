// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"
#include "morton/session.hpp"
#include "run/digits.hpp"

namespace morton::cli {
namespace {

constexpr const char* kDemoFooter =
    R"(Shows some digits with the network's answers, then its accuracy on all of the test digits, and
the time of every layer on the device's clock. The exit status is 1 when fewer than 97 % of the
answers are right.

Examples:
  morton demo
  morton demo --device gpu --count 10
  morton demo --model lenet5.onnx --data mnist --batch 1)";

constexpr double kLeastAccuracy = 0.97;
constexpr int kSteadyRuns = 20;
constexpr int kProfiledRuns = 11;

struct DemoArguments {
  DeviceOptions device;
  ModelOptions model;
  std::string data = shipped_file("data/mnist");
  std::int64_t count = 5;
  Format format = Format::table;
};

/// Median time of a layer; no time where the device gives none.
struct Layer {
  std::string name, kernel;
  std::optional<double> device_us;
};

struct DemoResult {
  std::vector<Answer> answers;
  std::int64_t right = 0;
  std::int64_t batch = 1;
  double first_ms = 0.0, steady_ms = 0.0;
  std::vector<Layer> layers;

  [[nodiscard]] double accuracy() const {
    return static_cast<double>(right) / static_cast<double>(answers.size());
  }
  /// Sum of the layers' medians; nothing where one of them has no time.
  [[nodiscard]] std::optional<double> layers_us() const {
    double sum = 0.0;
    for (const Layer& layer : layers) {
      if (!layer.device_us) return std::nullopt;
      sum += *layer.device_us;
    }
    return layers.empty() ? std::nullopt : std::optional(sum);
  }
};

/// Appends the answers of a batch, one for each row of `output` [N, classes], up to `limit` in all.
void collect_answers(const Tensor& output, std::size_t limit, std::vector<Answer>& answers) {
  const std::int64_t classes = output.shape()[1];
  for (std::int64_t row = 0; row < output.shape()[0] && answers.size() < limit; ++row) {
    Answer answer{0, output.at(row * classes)};
    for (std::int64_t i = 1; i < classes; ++i) {
      const double value = output.at(row * classes + i);
      if (value > answer.probability) answer = {i, value};
    }
    answers.push_back(answer);
  }
}

/// Compiles for `options.batch` digits at once, or for as many as the model fixes.
CompiledModel compile_for_digits(const DemoArguments& options, const Device& device) {
  const Model model = Model::load(options.model.path);
  CompileOptions compile = compile_options(options.model);
  const std::vector<PortInfo> inputs = model.inputs();
  if (inputs.size() != 1 || model.outputs().size() != 1) {
    throw UsageError(fmt::format("{}: has {} inputs and {} outputs; the demo needs one of each",
                                 options.model.path, inputs.size(), model.outputs().size()));
  }
  const Shape& shape = inputs.front().shape;
  if (!shape.empty() && shape.front() >= 0) compile.batch = 0;
  CompiledModel compiled = compile_model(model, device, compile);
  const Shape output = compiled.outputs().front().shape;
  const Shape input = compiled.inputs().front().shape;
  if (output.size() != 2 || input.empty() || output[0] != input[0] || output[1] < 1 ||
      output[0] < 1) {
    throw UsageError(fmt::format("{}: its output has shape {}; the demo needs [batch, classes]",
                                 options.model.path, shape_text(output)));
  }
  return compiled;
}

/// First call of `run` against the median of later ones, on the same input.
void time_inference(Session& session, const std::vector<NamedTensor>& input, DemoResult& result) {
  const Stopwatch first;
  (void)session.run(input);
  result.first_ms = first.milliseconds();
  std::vector<double> later;
  for (int i = 0; i < kSteadyRuns; ++i) {
    const Stopwatch watch;
    (void)session.run(input);
    later.push_back(watch.milliseconds());
  }
  result.steady_ms = median_of(std::move(later));
}

void classify(Session& session, const Digits& digits, DemoResult& result) {
  const PortInfo port = session.model().inputs().front();
  const auto total = static_cast<std::int64_t>(digits.truth.size());
  Progress progress("classifying");
  for (std::int64_t first = 0; first < total; first += result.batch) {
    progress.update(static_cast<double>(first) / static_cast<double>(total));
    const std::vector<NamedTensor> input{{port.name, digits_to_input(digits, first, port.shape)}};
    collect_answers(session.run(input).front().tensor, digits.truth.size(), result.answers);
  }
  for (std::size_t i = 0; i < digits.truth.size(); ++i) {
    if (result.answers[i].digit == digits.truth[i]) ++result.right;
  }
}

/// Times every layer in a session of its own, for profiling slows the runs that it measures.
void profile(const CompiledModel& model, const std::vector<NamedTensor>& input,
             DemoResult& result) {
  Session session(model, {SessionOptions::Profiling::on});
  (void)session.run(input);
  std::vector<std::vector<double>> samples;
  for (int run = 0; run < kProfiledRuns; ++run) {
    (void)session.run(input);
    const std::vector<StepTime> steps = session.step_times();
    samples.resize(steps.size());
    result.layers.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      result.layers[i].name = steps[i].name;
      result.layers[i].kernel = steps[i].kernel;
      if (steps[i].device_us) samples[i].push_back(*steps[i].device_us);
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool complete = samples[i].size() == static_cast<std::size_t>(kProfiledRuns);
    if (complete) result.layers[i].device_us = median_of(samples[i]);
  }
}

std::optional<double> layers_ms_of(const DemoResult& result) {
  const std::optional<double> sum_us = result.layers_us();
  return sum_us ? std::optional(*sum_us / 1e3) : std::nullopt;
}

Table layer_table(const DemoResult& result) {
  Table table;
  table.columns = {
      {"layer"}, {"kernel"}, {"device us", Table::Align::right}, {"share", Table::Align::right}};
  const std::optional<double> sum = result.layers_us();
  for (const Layer& layer : result.layers) {
    const bool known = sum && *sum > 0.0;
    table.rows.push_back(
        {layer.name, layer.kernel, number_text(layer.device_us, 1),
         known ? fmt::format("{:.1f} %", 100.0 * *layer.device_us / *sum) : "n/a"});
  }
  table.rows.push_back({"sum", "", number_text(sum, 1), sum ? "100.0 %" : "n/a"});
  return table;
}

std::string text_of(const DemoArguments& options, const CompiledModel& model, const Digits& digits,
                    const DemoResult& result) {
  const Terminal terminal = terminal_of(STDOUT_FILENO);
  const auto shown = std::min(result.answers.size(), static_cast<std::size_t>(options.count));
  const std::vector<Answer> first(result.answers.begin(),
                                  result.answers.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = draw_digits(digits, first, terminal);
  text += coloured(terminal, Colour::bold,
                   fmt::format("accuracy: {} of {} digits, {:.2f} %", result.right,
                               result.answers.size(), 100.0 * result.accuracy()));
  text +=
      fmt::format("\ndevice: {}\n{}\n", model.device().description(), kernels_line(model.report()));
  text +=
      fmt::format("inference of {} digits: first {:.3f} ms, steady {:.3f} ms (median of {})\n\n",
                  result.batch, result.first_ms, result.steady_ms, kSteadyRuns);
  text += to_text(layer_table(result), options.format);
  text +=
      fmt::format("\nall layers {} ms on the device's clock, end to end {:.3f} ms on the host's\n",
                  number_text(layers_ms_of(result), 3), result.steady_ms);
  return text;
}

Json json_of(const CompiledModel& model, const Digits& digits, const DemoResult& result) {
  Json layers = Json::array();
  for (const Layer& layer : result.layers) {
    layers.push_back({{"name", layer.name},
                      {"kernel", layer.kernel},
                      {"device_us", layer.device_us ? Json(*layer.device_us) : Json()}});
  }
  Json answers = Json::array();
  for (const Answer& answer : result.answers) answers.push_back(answer.digit);
  const CompileReport& report = model.report();
  const std::optional<double> layers_ms = layers_ms_of(result);
  return {{"device", {{"id", model.device().id()}, {"name", model.device().name()}}},
          {"digits", digits.truth.size()},
          {"right", result.right},
          {"accuracy", result.accuracy()},
          {"batch", result.batch},
          {"kernels_from_cache", report.kernels.from_memory + report.kernels.from_disk},
          {"kernels_built", report.kernels.built},
          {"first_inference_ms", result.first_ms},
          {"steady_inference_ms", result.steady_ms},
          {"layers_ms", layers_ms ? Json(*layers_ms) : Json()},
          {"layers", layers},
          {"answers", answers}};
}

int demonstrate(const DemoArguments& options) {
  const Digits digits = read_test_digits(options.data);
  const Device device = open_device(options.device);
  const CompiledModel model = compile_for_digits(options, device);
  const PortInfo port = model.inputs().front();
  const std::vector<NamedTensor> input{{port.name, digits_to_input(digits, 0, port.shape)}};
  DemoResult result;
  result.batch = port.shape.front();
  {
    Session session(model);
    time_inference(session, input, result);
    classify(session, digits, result);
  }
  profile(model, input, result);

  emit(for_people(options.format) ? text_of(options, model, digits, result)
                                  : to_text(json_of(model, digits, result), options.format),
       "");
  if (result.accuracy() >= kLeastAccuracy) return 0;
  print_error(
      fmt::format("check failed: {:.2f} % of the digits are right, expected at least {:.0f} %",
                  100.0 * result.accuracy(), 100.0 * kLeastAccuracy),
      "");
  return kCheckFailed;
}

}  // namespace

void add_demo(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("demo", "Classify handwritten digits with LeNet-5");
  command->footer(kDemoFooter);
  auto options = std::make_shared<DemoArguments>();
  options->model.path = shipped_file("models/lenet5.onnx");
  options->model.batch = 100;
  command
      ->add_option("--model", options->model.path,
                   "ONNX file (default: LeNet-5, which comes with Morton)")
      ->option_text("FILE");
  command
      ->add_option("--data", options->data,
                   "Folder of the digits (default: those that come with Morton)")
      ->option_text("FOLDER");
  command->add_option("--count", options->count, "Digits to show (5)")
      ->option_text("N")
      ->check(whole_number(0));
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_format(*command, options->format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->callback([options, &chosen] { chosen = [options] { return demonstrate(*options); }; });
}

}  // namespace morton::cli
