// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/commands.hpp"
#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/pictures/labels.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"
#include "morton/segments.hpp"
#include "morton/session.hpp"
#include "morton/tools/cache.hpp"
#include "run/file_series.hpp"
#include "run/later_starts.hpp"
#include "run/run_answer.hpp"
#include "run/run_arguments.hpp"
#include "run/run_report.hpp"
#include "run/run_segments.hpp"
#include "run/run_series.hpp"
#include "run/run_steps.hpp"

namespace morton::cli {
namespace {

constexpr const char* kRunFooter =
    R"(Files: .npy, .npz (arrays by name), .pb (ONNX tensors), IDX, and images (.png, .jpg). Images become
levels / 255 (red, green, blue, or grey for one channel), resized and normalised as --preset, --resize,
--crop, --mean and --std say. An image smaller than the input is centred on black. An input that is
given several times gets its files stacked along the first dimension. A folder or a pattern runs each
of its files, --batch of them at a time; one that cannot be read is told, and the others go on.

Where kernels for the model are not built yet, generic ones answer at once. A process of low priority
then builds the model's own for later starts. MORTON_BACKGROUND=off leaves that out, and --start ready
builds them before the answer. --prepare fails where nothing can be kept.

Examples:
  morton run models/lenet5.onnx -i input:digit.png --top-k 3
  morton run models/lenet5.onnx -i models/lenet5.expected.npz -o answers.npz
  morton run net.onnx -i image:cat.jpg --preset imagenet --labels imagenet --format json
  morton run net.onnx -i image:cat.jpg --preset imagenet --top-k 5
  morton run segmenter.onnx -i image:street.jpg --preset imagenet --overlay -o street.png
  morton run net.onnx -i photos/ --preset imagenet --top-k 1 -b 8 -o answers.jsonl
  morton run net.onnx -i image:cat.jpg --start ready
  morton run vad.onnx -i sr:rate.npy -i input:frames.npy --feed stateN:state --steps 100 -o scores.npz
  morton run gpt2.onnx --shape 'past_*:1x12x128x64' --feed 'present_*:past_*' --feed next:input_ids --steps 100)";

/// Refuses what is for many files.
void require_one_answer(const RunArguments& options) {
  if (options.format == Format::csv || options.format == Format::jsonl) {
    throw UsageError(
        "--format jsonl and csv are records of many files: give -i a folder or a "
        "pattern, or take json");
  }
  if (options.resumes) throw UsageError("--resume goes on over many files: give -i a folder");
}

/// Whether what the model states of an output tells how many classes it has, if any.
bool has_known_classes(const PortInfo& port) {
  return !port.shape.empty() && (port.shape.size() != 2 || port.shape[1] >= 0);
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
  if (options.later.prepares || !options.later.in_background.empty()) return prepare(options);
  CompileOptions compile = compile_options(options.model);
  Ranking ranking{options.classes.top_k, read_labels(options.classes.labels), {}, {}};
  const bool draws = options.output.ends_with(".png");
  if (!options.classes.labels.empty() && options.classes.top_k == 0 && !draws) ranking.top_k = 5;
  require_files(options.inputs);
  const GivenModel model(options.model, options.elsewhere);
  for (const PortInfo& output : model.outputs()) {
    if (batch_dimension(output) == 1) ranking.by_columns.insert(output.name);
  }
  if (const auto series = series_in(options.inputs, model.inputs())) {
    return run_series(options, *series, model, std::move(ranking));
  }
  require_one_answer(options);
  check_output(options);
  RunSteps steps = run_steps(options.steps);
  settle_feeds(steps, model, compile);
  Sources sources = read_sources(options.inputs, model.inputs(), options.pictures, steps.fed());
  take_parts(steps, model.inputs(), sources);

  // What can be refused before anything is built is refused there.
  std::vector<PortInfo> settled = settle(sources, model, compile);
  open_fed(steps, model.inputs(), settled);
  const bool all_settled = std::ranges::all_of(settled, is_settled);
  std::vector<NamedTensor> inputs;
  if (all_settled) inputs = assemble(sources, settled);
  const std::vector<PortInfo> declared = model.outputs();
  if (std::ranges::all_of(declared, has_known_classes))
    check_ranking(options.classes.labels, ranking, declared);

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
    emit_answer(options, ranking, devices.front(), facts_of(answer.report), answer.outputs,
                photograph_of(sources, inputs));
    return 0;
  }
  const CompiledModel& compiled = *whole;
  log::info("{}", model.kernels_line(compiled.report()));
  const Message& why_ready = compiled.report().why_ready;
  if (options.names_start && !why_ready.empty()) {
    log::info("--start at-once: {}; the model's own kernels answer", with_options(why_ready));
  }
  check_ranking(options.classes.labels, ranking, compiled.outputs());
  for (const PortInfo& output : compiled.outputs()) {
    if (!output.labels.empty()) ranking.of_model[output.name] = output.labels;
  }
  if (!all_settled) inputs = assemble(sources, with_fed(steps, compiled.inputs(), settled));
  const auto photograph = photograph_of(sources, inputs);
  Session session(compiled);
  const std::vector<NamedTensor> outputs = run_all(session, steps, std::move(inputs));
  emit_answer(options, ranking, compiled.device(), facts_of(compiled.report()), outputs,
              photograph);
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
      ->add_option(
          "-i,--input", options->inputs,
          "An input; NAME may be left out if the model has only one; repeatable. FILE may be a "
          "folder or a pattern: each file is run")
      ->option_text("NAME:FILE")
      ->allow_extra_args(false);
  add_options(*command, options->pictures);
  command
      ->add_option("--top-k", options->classes.top_k,
                   "Show the K greatest values of outputs [batch, classes]")
      ->option_text("K")
      ->check(whole_number(1));
  command
      ->add_option("--labels", options->classes.labels,
                   "Names of the classes, one on each line of a file; imagenet: of ImageNet's 1000")
      ->option_text("FILE|imagenet");
  add_options(*command, options->picture);
  add_steps(*command, options->steps);
  command
      ->add_option("--max-turns", options->most_turns,
                   "Most turns of a loop that the host counts (default: 1000000)")
      ->option_text("N")
      ->check(whole_number(1));
  command->add_flag("--prepare", options->later.prepares,
                    "Build what later starts of this model and others need, and run nothing; "
                    "inputs may be left out");
  command->add_option("--in-background", options->later.in_background)->group("");  // hidden
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_start(*command, options->model, CompileOptions::Start::at_once);
  add_format(*command, options->format,
             {{"table", Format::table},
              {"md", Format::md},
              {"json", Format::json},
              {"jsonl", Format::jsonl},
              {"csv", Format::csv}});
  command->add_flag("--resume", options->resumes,
                    "Over many files: leave out those that the .jsonl file of -o has answers for");
  command
      ->add_option("-o,--output", options->output,
                   "Write the outputs to this .npz or .npy file, or as a picture to .png; of many "
                   "files, records to this .jsonl or .csv file")
      ->option_text("FILE")
      ->check(writable_file());
  const CLI::Option* start = command->get_option("--start");
  command->callback([options, command, start, &chosen] {
    options->names_start = start->count() > 0;
    for (const char* name : {"--picture", "--picture-of", "--picture-range", "--box-order",
                             "--min-score", "--overlay"}) {
      options->picture.is_given = options->picture.is_given || command->count(name) > 0;
    }
    chosen = [options] {
      options->pictures.limits = load_limits(options->model.loading);
      return run_model(*options);
    };
  });
}

}  // namespace morton::cli
