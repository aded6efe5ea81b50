// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/single_problem.hpp"
#include "common/child.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"
#include "common/terminal.hpp"
#include "common/unused_options.hpp"
#include "device/tune_choice.hpp"
#include "device/tune_report.hpp"
#include "device/tune_static.hpp"
#include "morton/tools/cache.hpp"

namespace morton::cli {
namespace {

constexpr const char* kTuneFooter =
    R"(Candidates are built, checked and measured in a process of their own, in turns with the best so far.
A candidate that gives wrong results or ends that process is refused from then on. A run that was killed
goes on where it was. The result goes to the cache folder, where every plan finds it, or with -o to a file
for --tuning.

--static measures nothing: the device's compiler tells what it makes of each kernel, and plans then take
the values of the least cost (docs/boards.md). Candidates are executed on a CPU, to see that they are right.
Without MODEL it goes through all kernels.

Examples:
  morton tune gemm --m 64 --n 3136 --k 576 --kernel tile --effort full --time-budget 5m
  morton tune models/lenet5.onnx --batch 100 --effort fast
  morton tune --report
  tools/board_compilers.sh build/boards g610 build/morton tune --static --device 0:0 \
    --device-info data/boards/g610.json --kernel gemm.patch_panels -o build/g610.json)";

struct TuneArguments {
  GemmOptions gemm;
  bool report = false;
  StaticTuning by_compiler;
  std::vector<std::string> kernels;
  std::string effort = "normal", budget = "60s", timeout = "60s", output;
  std::uint64_t seed = 1;
  Format format = Format::table;
  DeviceOptions device;
  ModelOptions model;
};

TuneOptions tune_options(const TuneArguments& options, Progress& progress) {
  static const std::map<std::string, TuneOptions::Effort> kEfforts{
      {"fast", TuneOptions::Effort::fast},
      {"normal", TuneOptions::Effort::normal},
      {"full", TuneOptions::Effort::full}};
  require_one_device(options.device);
  TuneOptions result;
  result.effort = kEfforts.at(options.effort);
  result.budget_ms = parse_duration_ms(options.budget);
  result.candidate_timeout_ms = parse_duration_ms(options.timeout);
  result.kernels = options.kernels;
  result.catalogue_files = options.model.kernels.catalogue_files;
  result.device = options.device.selector;
  result.cache_dir = options.device.cache_dir;
  result.output = options.output;
  result.seed = options.seed;
  result.worker = worker_command();
  result.progress = [&progress](const TuneProgress& now) {
    progress.relabel(now.text);
    progress.update(now.done);
    log::debug("{}", now.text);
  };
  result.log = [](const Message& line) { log::warn("{}", with_options(line)); };
  return result;
}

int finish(const TuneReport& report, const std::optional<NetworkTimes>& network, Format format) {
  if (report.recalled > 0) {
    log::info("went on with an earlier run: {} candidates were known", report.recalled);
  }
  emit(for_people(format) ? text_of(report, network, format)
                          : to_text(json_of(report, network), format),
       "");
  return report.results.empty() ? kCheckFailed : 0;
}

int tune_gemm(const TuneArguments& options) {
  Progress progress("tuning");
  return finish(tune({product_to_tune(shape_of(options.gemm))}, tune_options(options, progress)),
                {}, options.format);
}

/// A model before its kernels were tuned, and what it is compiled with.
struct Untuned {
  const Model& model;
  const Device& device;
  CompileOptions options;
  Session session;
};

/// Kernels that the caller named: what is found of them is kept, whatever the network takes.
NetworkTimes with_all_findings(Untuned& before, const TuneReport& report,
                               const std::string& output) {
  if (!output.empty()) before.options.tuning_files.push_back(output);
  Session after = zero_session(before.model, before.device, before.options);
  const NetworkTimes times = compare_networks(before.session, after, report);
  constexpr double kNoise = 1.05;
  if (times.after_ms > kNoise * times.before_ms) {
    log::warn(
        "the network is slower than before: some of its kernels were measured, and others of "
        "the plan still have their first guesses; without --kernel no such values are kept");
  }
  return times;
}

/// Keeps of the findings in `file` what makes the network quickest, in the cache folder or in
/// --output; verdicts in any case.
std::optional<NetworkTimes> with_chosen_findings(Untuned& before, TuneReport& report,
                                                 const std::filesystem::path& file,
                                                 const TuneArguments& options) {
  std::optional<TunedNetwork> chosen;
  if (!report.results.empty()) {
    chosen =
        quickest_network(before.model, before.device, before.options, before.session, report, file);
    if (!chosen) {
      log::warn("{}", "with any of the values this network is slower than it was; none are kept");
    }
  }
  report.file.clear();
  // Without records or verdicts nothing was written.
  if (!std::filesystem::exists(file)) return std::nullopt;
  const std::string kept = chosen ? chosen->records : findings_of(read_text(file.string()), {});
  if (!chosen && report.refused.empty()) {
    std::filesystem::remove(file);
    return std::nullopt;
  }
  if (options.output.empty()) {
    import_tuning(options.device.cache_dir, kept, file.string());
    report.file = cache_folder_named(options.device.cache_dir) + "/tuning";
  } else {
    add_tuning(options.output, kept, file.string());
    report.file = options.output;
  }
  std::filesystem::remove(file);
  return chosen ? std::optional(chosen->times) : std::nullopt;
}

int tune_model(const TuneArguments& options) {
  CompileOptions with = compile_options(options.model);
  with.cache_dir = options.device.cache_dir;
  const Model model = Model::load(options.model.path, load_options(options.model.loading));
  const Device device = open_device(options.device);
  std::vector<std::string> notes;
  const auto problems = problems_to_tune(model, device.json(), with, notes);
  Progress progress("tuning");
  TuneOptions how = tune_options(options, progress);
  const bool named = !options.kernels.empty();
  if (!named) {
    // Only what is kept in the end goes to --output.
    if (!options.output.empty()) require_tuning_file(options.output, device.json());
    std::string job = device.json();
    for (const TuneProblem& problem : problems) job += problem.json;
    how.output = findings_file(options.device.cache_dir, job).string();
  }
  Untuned before{model, device, with, zero_session(model, device, with)};
  TuneReport report = tune(problems, how);
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  const auto times = named ? with_all_findings(before, report, options.output)
                           : with_chosen_findings(before, report, how.output, options);
  return finish(report, times, options.format);
}

void add_tune_options(CLI::App& command, TuneArguments& options) {
  command
      .add_option("--kernel", options.kernels,
                  "Kernels to tune (default: those of the least estimated times)")
      ->option_text("KERNEL,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--effort", options.effort, "fast, normal (the default) or full")
      ->check(one_of(std::vector<std::string>{"fast", "normal", "full"}))
      ->option_text("EFFORT");
  command.add_option("--time-budget", options.budget, "Time to search for (60s)")
      ->option_text("TIME");
  command
      .add_option("--candidate-timeout", options.timeout,
                  "Refuse a candidate that takes longer (60s)")
      ->option_text("TIME");
  command.add_option("--seed", options.seed, "Seed of the operands and the order (1)")
      ->option_text("N")
      ->check(whole_number(0));
  command
      .add_option("-o,--output", options.output, "Add the result to this file, not to the cache")
      ->option_text("FILE")
      ->check(writable_file());
  add_format(command, options.format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  add_options(command, options.device);
}

void add_tune_gemm(CLI::App& tune_command, Action& chosen) {
  CLI::App* command = tune_command.add_subcommand("gemm", "Tune kernels for a matrix product");
  command->footer(kTuneFooter);
  auto options = std::make_shared<TuneArguments>();
  add_options(*command, options->gemm);
  command
      ->add_option("--catalogue", options->model.kernels.catalogue_files,
                   "File with a further kernel; repeatable")
      ->option_text("FILE")
      ->allow_extra_args(false);
  add_tune_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return tune_gemm(*options); }; });
}

Action static_action(CLI::App& command, const std::shared_ptr<TuneArguments>& options) {
  if (options->model.path.empty()) {
    refuse_unread(command,
                  {"--static", "--device-info", "--check-on", "--kernel", "--candidate-timeout",
                   "--output", "--format", "--device", "--cache-dir", "--catalogue"},
                  "tune --static");
  }
  for (const char* one : {"--effort", "--time-budget", "--seed"}) {
    if (command.count(one) > 0) throw CLI::ValidationError(one, "is of no use with --static");
  }
  StaticTuning& what = options->by_compiler;
  what.kernels = options->kernels;
  what.timeout_ms = parse_duration_ms(options->timeout);
  what.output = options->output;
  what.format = options->format;
  return [options] {
    return tune_static_command(options->by_compiler, options->model, options->device);
  };
}

}  // namespace

void add_tune(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("tune", "Search the best values of kernels' tunables on a device");
  command->footer(kTuneFooter);
  auto options = std::make_shared<TuneArguments>();
  add_tune_gemm(*command, chosen);
  command->require_subcommand(0, 1);
  add_model_file(*command, options->model).required(false);
  command->add_flag("--report", options->report,
                    "Compare tuned kernels with the plan's choice without tuning");
  add_options(*command, options->model);
  add_tune_options(*command, *options);
  add_static_options(*command, options->by_compiler);
  command->callback([command, options, &chosen] {
    if (!command->get_subcommands().empty()) {
      return refuse_unread(*command, {}, "tune gemm");  // it has set its own action
    }
    if (options->report) {
      refuse_unread(*command,
                    {"--report", "--format", "--device", "--cache-dir", "--tuning", "--catalogue"},
                    "tune --report");
      chosen = [options] {
        CompileOptions compile = compile_options(options->model);
        compile.cache_dir = options->device.cache_dir;
        return report_guesses(open_device(options->device).json(), compile, options->format);
      };
      return;
    }
    if (options->by_compiler.wanted) {
      chosen = static_action(*command, options);
      return;
    }
    for (const char* one : {"--device-info", "--check-on"}) {
      if (command->count(one) > 0) throw CLI::ValidationError(one, "goes with --static");
    }
    if (options->model.path.empty()) {
      throw CLI::RequiredError("MODEL, gemm, --static or --report");
    }
    chosen = [options] { return tune_model(*options); };
  });

  CLI::App* worker = app.add_subcommand("tune-worker", "");
  worker->group("");
  worker->callback([&chosen] {
    chosen = [] {
      prepare_drivers();
      return run_tune_worker();
    };
  });
}

}  // namespace morton::cli
