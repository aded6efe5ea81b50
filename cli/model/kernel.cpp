// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/child.hpp"
#include "common/commands.hpp"
#include "common/device_description.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/unused_options.hpp"
#include "model/read_statistics.hpp"
#include "model/statistics_report.hpp"
#include "morton/error.hpp"
#include "morton/support.hpp"
#include "morton/tools/build.hpp"
#include "morton/tools/static_bound.hpp"

namespace morton::cli {
namespace {

constexpr const char* kKernelFooter =
    R"(Prints the OpenCL C text that the device gets, behind a head of comments: the values of the kernel's
tunables, how it is launched, and its arguments by their index. Nothing is built or run. The problem is
an example of the kernel's family; --problem changes its sizes, named as `plan --why` names them.
Programs are built with -cl-std=CL1.2 -w. Without NAME the kernels are listed; with --model, the steps
of the model's plan, or the text of one.

--stats builds the text on the device, launches nothing, and prints what the compiler says of it. The
device is a board's GPU in the root of tools/board_compilers.sh (docs/boards.md). --device-info has the
facts of the board, which that GPU does not tell. --read FILE shows the same of all kernels whose
compiler's output is in FILE, such as another library's.

Examples:
  morton kernel
  morton kernel gemm.naive
  morton kernel gemm.tile --problem M=512,N=512,K=512 --set gemm.tile:TILE_M=8
  morton kernel conv2d.naive --problem KH=5,KW=5 --device-info board.json -o naive.cl
  morton kernel --model models/lenet5.onnx 0
  morton kernel gemm.patch_panels --stats --device-info data/boards/g610.json
  morton kernel --read compiler.txt)";

struct KernelCommand {
  std::string name;  ///< of a kernel; with a model the number of a step
  std::vector<std::string> problem;
  DeviceOptions device;
  ModelOptions model;
  std::string device_info;
  bool wants_statistics = false;
  std::string read;  ///< file of what a compiler printed
  ResultOptions result;
};

/// The number that all of `text` is.
bool read_whole_number(std::string_view text, std::int64_t& number) {
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && rest == text.data() + text.size();
}

std::map<std::string, std::int64_t> parse_problem_sizes(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    std::int64_t value = 0;
    if (equals == std::string::npos || equals == 0 ||
        !read_whole_number(std::string_view(text).substr(equals + 1), value)) {
      throw UsageError(
          fmt::format("--problem {}: expected NAME=NUMBER,..., such as M=512,N=512", text));
    }
    if (!sizes.emplace(text.substr(0, equals), value).second) {
      throw UsageError(fmt::format("--problem: {} is given twice", text.substr(0, equals)));
    }
  }
  return sizes;
}

std::string work_items_text(const std::array<std::int64_t, 3>& extents) {
  return fmt::format("{}", fmt::join(extents, " x "));
}

/// The head: what a person who writes or mends the kernel wants to know, as comments.
std::string kernel_head(const KernelText& kernel) {
  std::string head = kernel.kernel + "\n";
  if (!kernel.step.empty()) head += fmt::format("step        {}\n", kernel.step);
  head += fmt::format("problem     {}\ndevice      {}\n", kernel.problem, kernel.device);
  if (!kernel.tunables.empty()) head += fmt::format("tunables    {}\n", kernel.tunables);
  head +=
      fmt::format("work-group  {}\nglobal      {}\nfunction    {}\n\n",
                  work_items_text(kernel.local), work_items_text(kernel.global), kernel.function);
  using enum Table::Align;
  Table table;
  table.columns = {{"index", right}, {"type"}, {"name"}, {"value", right}, {"meaning"}};
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    table.rows.push_back({std::to_string(i), argument.type, argument.name,
                          argument.value ? std::to_string(*argument.value) : "", argument.meaning});
  }
  head += to_text(table, Format::table);
  std::string comments;
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);) {
    comments += line.empty() ? "//\n" : "// " + line + "\n";
  }
  return comments;
}

Json kernel_json(const KernelText& kernel) {
  Json arguments = Json::array();
  for (const KernelArgument& argument : kernel.arguments) {
    arguments.push_back({{"type", argument.type},
                         {"name", argument.name},
                         {"value", argument.value ? Json(*argument.value) : Json()},
                         {"meaning", argument.meaning}});
  }
  return {{"step", kernel.step},     {"kernel", kernel.kernel},     {"problem", kernel.problem},
          {"device", kernel.device}, {"tunables", kernel.tunables}, {"global", kernel.global},
          {"local", kernel.local},   {"function", kernel.function}, {"arguments", arguments},
          {"text", kernel.text}};
}

int show_kernel(const KernelText& kernel, const ResultOptions& result) {
  emit(for_people(result.format) ? kernel_head(kernel) + "\n" + kernel.text
                                 : to_text(kernel_json(kernel), result.format),
       result.path);
  return 0;
}

std::string description_for(const KernelCommand& options) {
  require_one_device(options.device);
  // With --stats the selector names the device that builds, the file what to build for.
  const bool is_described = options.wants_statistics && !options.device_info.empty();
  return device_description(is_described ? "" : options.device.selector, options.device_info,
                            options.device);
}

/// What the device's compiler says of the kernel.
int show_statistics(const KernelText& kernel, const KernelCommand& options,
                    const std::string& description) {
  const Device device = open_device(options.device);
  const KernelBuild build =
      KernelBuilder({options.device.selector, worker_command(), kBuildTimeoutMs}).build(kernel);
  if (!build.is_built) throw DeviceError(build.problem);
  const auto statistics = statistics_of(build);
  if (!statistics) {
    throw UnsupportedError(fmt::format(
        "--stats: the compiler of {} prints no statistics; Mesa's compilers for boards do, run by "
        "tools/board_compilers.sh",
        device.description()));
  }
  const StaticBound bound = static_bound(kernel, *statistics, description);
  Json json = statistics_json(*statistics);
  json["arithmetic_us"] = bound.arithmetic_us;
  json["memory_us"] = bound.memory_us;
  json["kernel"] = kernel.kernel;
  json["problem"] = kernel.problem;
  json["tunables"] = kernel.tunables;
  const std::string head =
      fmt::format("kernel           {}\nproblem          {}\n", kernel.kernel, kernel.problem) +
      (kernel.tunables.empty() ? "" : "tunables         " + kernel.tunables + "\n");
  const std::string tail =
      fmt::format("bound            {:.1f} us: arithmetic {:.1f}, memory {:.1f}\n", bound.us(),
                  bound.arithmetic_us, bound.memory_us);
  emit(for_people(options.result.format) ? head + statistics_text(*statistics) + tail
                                         : to_text(json, options.result.format),
       options.result.path);
  return 0;
}

int show_named(const KernelCommand& options) {
  CompileOptions compile = compile_options(options.model.kernels);
  compile.cache_dir = options.device.cache_dir;
  const auto sizes = parse_problem_sizes(options.problem);
  const std::string device = description_for(options);
  const KernelText kernel = kernel_text(options.name, sizes, device, compile);
  if (options.wants_statistics) return show_statistics(kernel, options, device);
  return show_kernel(kernel, options.result);
}

int list_kernels(const KernelCommand& options) {
  std::string text;
  Json json = Json::object();
  for (const auto& [family, names] : kernel_names(options.model.kernels.catalogue_files)) {
    text += family + "\n";
    for (const std::string& name : names) text += "  " + name + "\n";
    json[family] = names;
  }
  emit(for_people(options.result.format) ? text : to_text(json, options.result.format),
       options.result.path);
  return 0;
}

int list_steps(const std::vector<KernelText>& steps, const ResultOptions& result) {
  using enum Table::Align;
  Table table;
  table.columns = {{"step", right}, {"computes"}, {"kernel"},
                   {"work-group"},  {"global"},   {"tunables"}};
  Json json = Json::array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const KernelText& step = steps[i];
    table.rows.push_back({std::to_string(i), step.step, step.kernel, work_items_text(step.local),
                          work_items_text(step.global), step.tunables});
    json.push_back(kernel_json(step));
  }
  emit(for_people(result.format) ? to_text(table, result.format) : to_text(json, result.format),
       result.path);
  return 0;
}

int show_step(const KernelCommand& options) {
  CompileOptions compile = compile_options(options.model);
  compile.cache_dir = options.device.cache_dir;
  const Model model = read_model(options.model);
  require_supported(model);
  const std::string device = description_for(options);
  const auto steps = kernel_texts(model, device, compile);
  if (options.name.empty()) return list_steps(steps, options.result);
  std::int64_t number = 0;
  if (!read_whole_number(options.name, number) || number < 0 ||
      number >= static_cast<std::int64_t>(steps.size())) {
    throw UsageError(fmt::format("step '{}': with --model, expected the number of a step, 0 to {}",
                                 options.name, static_cast<std::int64_t>(steps.size()) - 1));
  }
  const KernelText& step = steps[static_cast<std::size_t>(number)];
  if (!step.text.empty()) {
    return options.wants_statistics ? show_statistics(step, options, device)
                                    : show_kernel(step, options.result);
  }
  throw UsageError(
      fmt::format("step {}: is computed by {}, which has no text here", number, step.kernel));
}

}  // namespace

void add_kernel(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("kernel", "Show a kernel's OpenCL C text, its launch and its arguments");
  command->footer(kKernelFooter);
  auto options = std::make_shared<KernelCommand>();
  command
      ->add_option("NAME", options->name, "Kernel of the catalogue; with --model a step's number")
      ->option_text("KERNEL|STEP");
  command
      ->add_option("--problem", options->problem,
                   "Sizes of the problem: M=512,N=512; else the family's example")
      ->option_text("NAME=N,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  command->add_option("--model", options->model.path, "The steps of this model's plan")
      ->option_text("MODEL");
  command->add_flag("--stats", options->wants_statistics,
                    "Build it on the device and print what the compiler says");
  command->add_option("--read", options->read, "Statistics of what a compiler printed into FILE")
      ->option_text("FILE");
  add_device_info(*command, options->device_info);
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_options(*command, options->result, {{"table", Format::table}, {"json", Format::json}});
  command->callback([command, options, &chosen] {
    if (!options->read.empty()) {
      refuse_unread(*command, {"--read", "--format", "--output"}, "kernel --read");
      chosen = [options] { return read_statistics(options->read, options->result); };
    } else if (!options->model.path.empty()) {
      if (!options->problem.empty()) {
        throw CLI::ValidationError("--problem", "goes with NAME, not with --model");
      }
      if (options->wants_statistics && options->name.empty()) {
        throw CLI::ValidationError("--stats", "goes with NAME or STEP");
      }
      chosen = [options] { return show_step(*options); };
    } else if (options->name.empty()) {
      refuse_unread(*command, {"--catalogue", "--format", "--output"}, "kernel");
      chosen = [options] { return list_kernels(*options); };
    } else {
      refuse_unread(
          *command,
          {"NAME", "--problem", "--device", "--device-info", "--weights", "--cache-dir", "--local",
           "--set", "--tuning", "--catalogue", "--format", "--output", "--stats"},
          "kernel NAME");
      chosen = [options] { return show_named(*options); };
    }
  });
}

}  // namespace morton::cli
