// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "common/commands.hpp"
#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"
#include "morton/segments.hpp"
#include "morton/session.hpp"
#include "morton/tools/cache.hpp"
#include "run/later_starts.hpp"
#include "run/run_arguments.hpp"
#include "run/run_report.hpp"
#include "run/run_segments.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {
namespace {

constexpr const char* kRunFooter =
    R"(Files: .npy, .npz (arrays by name), .pb (ONNX tensors), IDX, and images (.png, .jpg). Images become
levels / 255 (red, green, blue, or grey for one channel). An image smaller than the input is centred
on zeros. An input that is given several times gets its files stacked along the first dimension.

Where kernels for the model are not built yet, generic ones answer at once. A process of low priority
then builds the model's own for later starts. MORTON_BACKGROUND=off leaves that out, and --start ready
builds them before the answer. --prepare fails where nothing can be kept.

Examples:
  morton run models/lenet5.onnx -i input:digit.png --top-k 3
  morton run models/lenet5.onnx -i models/lenet5.expected.npz -o answers.npz
  morton run net.onnx -i image:cat.jpg --labels imagenet.txt --top-k 5 --format json
  morton run net.onnx -i image:cat.jpg --start ready
  morton run vad.onnx -i sr:rate.npy -i input:frames.npy --feed stateN:state --steps 100 -o scores.npz
  morton run gpt2.onnx --shape 'past_*:1x12x128x64' --feed 'present_*:past_*' --feed next:input_ids --steps 100)";

/// Refuses a file that the outputs cannot be written to before anything runs.
void check_output(const std::string& path) {
  if (path.empty() || path.ends_with(".npy") || path.ends_with(".npz")) return;
  throw UsageError(fmt::format("--output {}: tensors are written to .npy and .npz files", path));
}

/// Labels, one on each line of a file.
std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

/// Refuses --top-k and --labels that suit no output before anything runs.
void check_ranking(const RunArguments& options, const Ranking& ranking,
                   const std::vector<PortInfo>& outputs) {
  if (ranking.top_k == 0) return;
  bool any = false;
  for (const PortInfo& output : outputs) {
    if (!is_ranked(ranking, output.shape)) continue;
    any = true;
    const std::int64_t classes = output.shape[ranking.by_columns.contains(output.name) ? 0 : 1];
    const auto labels = static_cast<std::int64_t>(ranking.labels.size());
    if (labels > 0 && labels != classes) {
      throw ModelError(fmt::format("{}: has {} labels, but output '{}' has {} classes",
                                   options.labels, labels, output.name, classes));
    }
  }
  if (!any) {
    throw UsageError(
        "--top-k and --labels need an output of two dimensions (batch and classes); this model has "
        "none");
  }
}

/// Whether what the model states of an output tells how many classes it has, if any.
bool has_known_classes(const PortInfo& port) {
  return !port.shape.empty() && (port.shape.size() != 2 || port.shape[1] >= 0);
}

/// Writes the outputs where they are asked for, and prints them.
void emit_answer(const RunArguments& options, const Ranking& ranking, const Device& device,
                 const Json& facts, const std::vector<NamedTensor>& outputs) {
  if (!options.output.empty()) {
    write_tensors(options.output, outputs);
    log::info("wrote {}", options.output);
  }
  if (for_people(options.format)) {
    emit(outputs_text(outputs, ranking, options.format), "");
    return;
  }
  Json value = {{"device", Json::parse(device.json())}};
  value.update(facts);
  value["outputs"] = outputs_json(outputs, ranking);
  emit(to_text(value, options.format), "");
}

/// Where the kernels and the plan are from, for programs.
Json facts_of(const CompileReport& report) {
  return {{"kernels", kernels_json(report)},
          {"plan_kept", report.plan == CompileReport::PlanOrigin::kept},
          {"interim_plan", report.stage == CompileReport::Stage::interim}};
}

/// Says what a first start finds nowhere else.
void warn_without_cache(const DeviceOptions& options) {
  try {
    static_cast<void>(cache_folder_named(options.cache_dir));
  } catch (const UsageError& error) {
    log::warn("each start builds its kernels: {}", message_of(error));
  }
}

Json facts_of(const SegmentsReport& report) {
  Json waits = Json::array();
  for (const Wait& wait : report.waits) {
    waits.push_back({{"node", wait.node}, {"times", wait.times}, {"why", with_options(wait.why)}});
  }
  return {{"waits", waits},
          {"segments", {{"plans", report.plans}, {"built", report.built_kernels}}}};
}

/// The compiled model; or nothing, where it must be cut: then `refusal` says why.
std::optional<CompiledModel> compiled_whole(const GivenModel& model,
                                            const std::vector<Device>& devices,
                                            const CompileOptions& compile,
                                            std::optional<NeedsSegments>& refusal) {
  try {
    return model.compile(devices, compile);
  } catch (const NeedsSegments& error) {
    refusal = error;
    return {};
  }
}

int run_model(const RunArguments& options) {
  check_background_wish();
  if (options.prepares || !options.in_background.empty()) return prepare(options);
  CompileOptions compile = compile_options(options.model);
  Ranking ranking{options.top_k, read_labels(options.labels), {}, {}};
  if (!options.labels.empty() && options.top_k == 0) ranking.top_k = 5;
  require_files(options.inputs);
  const GivenModel model(options.model, options.elsewhere);
  for (const PortInfo& output : model.outputs()) {
    if (batch_dimension(output) == 1) ranking.by_columns.insert(output.name);
  }
  RunSteps steps = run_steps(options.steps);
  settle_feeds(steps, model, compile);
  Sources sources = read_sources(options.inputs, model.inputs(), steps.fed());
  take_parts(steps, model.inputs(), sources);

  // What can be refused before anything is built is refused there.
  std::vector<PortInfo> settled = settle(sources, model, compile);
  open_fed(steps, model.inputs(), settled);
  const bool all_settled = std::ranges::all_of(settled, is_settled);
  std::vector<NamedTensor> inputs;
  if (all_settled) inputs = assemble(sources, settled);
  const std::vector<PortInfo> declared = model.outputs();
  if (std::ranges::all_of(declared, has_known_classes)) check_ranking(options, ranking, declared);

  check_output(options.output);
  compile.weights = weights_of(options.device);
  // A process that answers once builds nothing beside its answer.
  if (compile.start == CompileOptions::Start::at_once) {
    compile.start = CompileOptions::Start::interim_alone;
  }
  const std::vector<Device> devices = open_devices(options.device);
  if (!model.is_compiled()) warn_without_cache(options.device);
  std::optional<NeedsSegments> refusal;
  const auto whole = compiled_whole(model, devices, compile, refusal);
  if (refusal) {
    if (!all_settled) throw *refusal;
    const SegmentsAnswer answer =
        run_in_segments(model, devices, compile, steps, options.most_turns, inputs, *refusal);
    emit_answer(options, ranking, devices.front(), facts_of(answer.report), answer.outputs);
    return 0;
  }
  const CompiledModel& compiled = *whole;
  log::info("{}", model.kernels_line(compiled.report()));
  const Message& why_ready = compiled.report().why_ready;
  if (options.names_start && !why_ready.empty()) {
    log::info("--start at-once: {}; the model's own kernels answer", with_options(why_ready));
  }
  check_ranking(options, ranking, compiled.outputs());
  for (const PortInfo& output : compiled.outputs()) {
    if (!output.labels.empty()) ranking.of_model[output.name] = output.labels;
  }
  if (!all_settled) inputs = assemble(sources, with_fed(steps, compiled.inputs(), settled));
  Session session(compiled);
  const std::vector<NamedTensor> outputs = run_all(session, steps, std::move(inputs));
  emit_answer(options, ranking, compiled.device(), facts_of(compiled.report()), outputs);
  if (compiled.report().stage == CompileReport::Stage::interim) {
    log::info("generic kernels gave this answer: {}",
              build_for_later_starts(compiled.steps_digest(), options.device.cache_dir));
  }
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("run", "Run a model once on real input");
  command->footer(kRunFooter);
  auto options = std::make_shared<RunArguments>();
  add_given_model(*command, options->model, options->elsewhere, Need::required);
  command
      ->add_option("-i,--input", options->inputs,
                   "An input; NAME may be left out if the model has only one; repeatable")
      ->option_text("NAME:FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--top-k", options->top_k,
                   "Show the K greatest values of outputs [batch, classes]")
      ->option_text("K")
      ->check(whole_number(1));
  command->add_option("--labels", options->labels, "Names of the classes, one on each line")
      ->option_text("FILE");
  add_steps(*command, options->steps);
  command
      ->add_option("--max-turns", options->most_turns,
                   "Most turns of a loop that the host counts (default: 1000000)")
      ->option_text("N")
      ->check(whole_number(1));
  command->add_flag("--prepare", options->prepares,
                    "Build what later starts of this model and others need, and run nothing; "
                    "inputs may be left out");
  command->add_option("--in-background", options->in_background)->group("");  // hidden
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_start(*command, options->model, CompileOptions::Start::at_once);
  add_format(*command, options->format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->add_option("-o,--output", options->output, "Write the outputs to this .npz or .npy file")
      ->option_text("FILE")
      ->check(writable_file());
  const CLI::Option* start = command->get_option("--start");
  command->callback([options, start, &chosen] {
    options->names_start = start->count() > 0;
    chosen = [options] { return run_model(*options); };
  });
}

}  // namespace morton::cli
