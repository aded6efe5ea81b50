// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "bench/bench_model_report.hpp"
#include "bench/cold.hpp"
#include "bench/kernel_contender.hpp"
#include "bench/loading_memory.hpp"
#include "bench/single_problem.hpp"
#include "common/commands.hpp"
#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/statistics.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "common/unused_options.hpp"
#include "morton/error.hpp"
#include "morton/session.hpp"
#include "run/profile_measure.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {
namespace {

constexpr const char* kBenchFooter =
    R"(Three clocks are never mixed. `host` is the caller's, from handing over the inputs to holding the
outputs. `enqueue` is what the host takes to put the steps into the queue. `device` is the device's
own clock over all kernels. Each clock has runs of its own.

Examples:
  morton bench models/lenet5.onnx
  morton bench models/lenet5.onnx --batch 100 -n 50 --format json
  morton bench models/lenet5.onnx --use gemm=gemm.naive --duration 10s
  morton bench vgg16 --conv clblast            # by layer, beside what R18 published
  morton bench models/lenet5.onnx --cold
  morton bench gemm --m 1000 --n 1000 --k 1000 --all)";

/// "gemm, bias, ...": the single problems.
std::string single_problems() {
  return fmt::format("gemm, {}", fmt::join(matrix_families(), ", "));
}

/// What `bench --cold` takes notice of.
const std::vector<std::string> kReadByCold{"model",        "--cold",      "--device",
                                           "--batch",      "--shape",     "--use",
                                           "--exclude",    "--local",     "--set",
                                           "--tuning",     "--self-test", "--strict",
                                           "--precision",  "--sums",      "--catalogue",
                                           "--iterations", "--seed",      "--format",
                                           "--output",     "--conv",      "--workspace-limit"};

struct BenchArguments {
  DeviceOptions device;
  ModelOptions model;
  MeasureOptions measure;
  ResultOptions result;
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
  std::vector<std::string> feeds;
  bool cold = false;
};

/// Times in milliseconds, one sample for each run.
struct ModelSamples {
  std::vector<double> host, enqueue, device;
};

/// When a series of runs ends: after a number of them, or after a time.
struct Goal {
  std::int64_t iterations = 0;  ///< 0: `duration_ms` decides
  double duration_ms = 0.0;
};

/// Calls `once` until the goal is reached, at least once unless the goal is zero.
template <typename Once>
void repeat(const Goal& goal, const std::string& label, const Once& once) {
  // Few runs say nothing of the spread, so slow models get more time than was asked for.
  constexpr std::int64_t kLeastRuns = 5;
  Progress progress(label);
  const Stopwatch watch;
  for (std::int64_t i = 0;; ++i) {
    const double share = goal.iterations > 0
                             ? static_cast<double>(i) / static_cast<double>(goal.iterations)
                             : watch.milliseconds() / goal.duration_ms;
    if (goal.iterations > 0 ? i >= goal.iterations : share >= 1.0 && i >= kLeastRuns) return;
    progress.update(share);
    once();
  }
}

void warn_unless_finite(const std::vector<NamedTensor>& outputs) {
  for (const auto& [name, tensor] : outputs) {
    for (std::int64_t k = 0; k < tensor.size(); ++k) {
      if (std::isfinite(tensor.at(k))) continue;
      log::warn("output '{}' holds values that are not finite, from random inputs (--seed)", name);
      break;
    }
  }
}

/// Runs without profiling and takes the host's two clocks, each in runs of its own: a caller who
/// times the enqueuing waits twice, for the steps and for the outputs.
void measure_host(Session& session, const std::vector<NamedTensor>& inputs, const Goal& goal,
                  ModelSamples& samples) {
  std::vector<NamedTensor> outputs;
  repeat(goal, "host clock", [&] {
    session.empty_full_states();
    const Stopwatch whole;
    outputs = session.run(inputs);
    samples.host.push_back(whole.milliseconds());
  });
  warn_unless_finite(outputs);
  const Goal shorter{goal.iterations, goal.duration_ms / 10.0};
  repeat(shorter, "enqueuing", [&] {
    session.empty_full_states();
    for (const NamedTensor& input : inputs) session.set_input(input.name, input.tensor);
    const Stopwatch enqueue;
    const Event done = session.enqueue();
    samples.enqueue.push_back(enqueue.milliseconds());
    done.wait();
  });
}

/// Runs with profiling and takes the device's clock; leaves `samples.device` empty where there is
/// none.
void measure_device(const CompiledModel& model, const std::vector<NamedTensor>& inputs,
                    const Goal& goal, ModelSamples& samples) {
  Session session(model, {SessionOptions::Profiling::on});
  for (const NamedTensor& input : inputs) session.set_input(input.name, input.tensor);
  session.enqueue().wait();
  if (!device_ms(session.step_times())) {
    log::warn("{}: the device clock is n/a", why_no_device_time(model.steps()));
    return;
  }
  repeat(goal, "device clock", [&] {
    session.empty_full_states();
    session.enqueue().wait();
    const std::optional<double> ms = device_ms(session.step_times());
    if (!ms) throw DeviceError("the device gave times for some runs and not for others");
    samples.device.push_back(*ms);
  });
}

/// The first run's milliseconds; then warms up and takes the host's two clocks.
double measure_first_and_host(const CompiledModel& model, const std::vector<NamedTensor>& inputs,
                              double warmup_ms, const Goal& goal, ModelSamples& samples) {
  Session session(model);
  const Stopwatch first;
  (void)session.run(inputs);
  const double first_ms = first.milliseconds();
  for (const Stopwatch watch; watch.milliseconds() < warmup_ms;) {
    session.empty_full_states();
    (void)session.run(inputs);
  }
  measure_host(session, inputs, goal, samples);
  return first_ms;
}

BenchMeasurement measure_session(const CompiledModel& model, std::size_t items_dimension,
                                 const MeasureOptions& options) {
  const std::vector<NamedTensor> inputs = random_inputs(model.inputs(), options.seed);
  // Host and device clock share the time.
  const Goal goal{options.iterations, parse_duration_ms(options.duration) / 2.0};
  BenchMeasurement result;
  ModelSamples samples;
  // One session after the other: the second takes the memory that the first gives back.
  result.first_inference_ms =
      measure_first_and_host(model, inputs, parse_duration_ms(options.warmup), goal, samples);
  measure_device(model, inputs, goal, samples);

  result.host = statistics_of(samples.host);
  result.enqueue = statistics_of(samples.enqueue);
  if (!samples.device.empty()) result.device = statistics_of(samples.device);
  const Shape shape = inputs.empty() ? Shape{} : inputs.front().tensor.shape();
  const double items = shape.empty() ? 1.0 : static_cast<double>(shape[items_dimension]);
  result.items_per_second = 1e3 * items / result.host.p50;
  return result;
}

std::string cache_state(const CompileReport& report) {
  return report.kernels.built > 0 ? "cold" : "warm";
}

/// `bench tanh` names no file: whoever asks for a problem that there is not learns which there are.
void require_model(const std::string& path) try {
  (void)names_architecture(path);
} catch (const UsageError& error) {
  throw UsageError(error.message() + "; the problems are " + single_problems());
}

void warn_of_unused(const BenchArguments& options, const CompiledModel& model) {
  UsedChoices used;
  for (const StepInfo& step : model.steps()) {
    used.work_groups.push_back(work_group_of(step));
    used.stored.push_back(stored_type_of({step}));
    used.kernels.push_back(step.kernel);
  }
  for (const std::string& line : unused_of(options.model.kernels, used)) log::warn("{}", line);
}

int bench(const BenchArguments& options) {
  require_model(options.model.path);
  CompileOptions compile = compile_options(options.model);
  compile.weights = weights_of(options.device);
  const Stopwatch load;
  const GivenModel model(options.model, options.elsewhere);
  const double load_ms = load.milliseconds();
  set_feeds(options.feeds, model, compile);
  const Stopwatch open;
  const std::vector<Device> devices = open_devices(options.device);
  const double open_device_ms = open.milliseconds();
  const Stopwatch compiling;
  const CompiledModel compiled = model.compile(devices, compile);
  const double compile_ms = compiling.milliseconds();
  const LoadingMemory loading = loading_memory(options.model.path, compiled);
  warn_of_unused(options, compiled);

  const std::vector<PortInfo> inputs = model.inputs();
  const std::size_t items_dimension = inputs.empty() ? 0 : batch_dimension(inputs.front());
  BenchMeasurement measured = measure_session(compiled, items_dimension, options.measure);
  measured.other_shapes = measure_other_shapes(model, compiled, compile.also, options.measure);
  if (!options.model.conv.empty()) {
    const std::vector<PortInfo> given = compiled.inputs();
    measured.layers =
        times_by_layer(measure_profile(compiled, compiled.device().peaks(), options.measure),
                       given.empty() ? Shape{} : given.front().shape);
  }
  measured.load_ms = load_ms;
  measured.loading = loading;
  measured.cache = model.is_compiled() ? "compiled ahead" : cache_state(compiled.report());
  measured.kernels = model.kernels_line(compiled.report());
  measured.open_device_ms = open_device_ms;
  measured.compile_ms = compile_ms;
  const BenchSetting setting{options.model.path, precision_text(options.model.kernels),
                             options.measure.seed, options.result.format};
  emit(report_of(setting, compiled, measured), options.result.path);
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure a model, or the kernels for a single problem");
  command->footer(kBenchFooter);
  auto options = std::make_shared<BenchArguments>();
  add_bench_gemm(*command, chosen);
  for (const std::string& family : matrix_families()) add_bench_matrix(*command, family, chosen);
  add_bench_clblast(*command, chosen);
  command->require_subcommand(0, 1);
  add_given_model(*command, options->model, options->elsewhere, Need::optional);
  command->add_flag("--cold", options->cold,
                    "Measure new processes up to their first result: cold, warm, compiled ahead");
  add_feeds(*command, options->feeds);
  add_options(*command, options->measure);
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_also_shape(*command, options->model,
                 "Further shapes to run at, with the kernels that are built");
  add_options(*command, options->result, every_format());
  command->callback([command, options, &chosen] {
    for (const CLI::App* problem : command->get_subcommands()) {
      refuse_unread(*command, {}, "bench " + problem->get_name());
      return;  // it has set its own action
    }
    if (options->model.path.empty()) throw CLI::RequiredError("MODEL or one of the problems");
    if (options->cold) {
      refuse_unread(*command, kReadByCold, "bench --cold");
      chosen = [options] {
        require_model(options->model.path);
        return bench_cold({options->device, options->model, options->measure, options->result,
                           options->elsewhere});
      };
      return;
    }
    chosen = [options] { return bench(*options); };
  });
}

}  // namespace morton::cli
