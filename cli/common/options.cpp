// SPDX-License-Identifier: Apache-2.0
#include "common/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <system_error>

#include "common/conv_path.hpp"
#include "common/shape_options.hpp"

namespace morton::cli {

void add_options(CLI::App& command, DeviceOptions& options) {
  command
      .add_option(
          "-d,--device", options.selector,
          "One of gpu, cpu, auto, P:D, part of a name, units=N (default: $MORTON_DEVICE, "
          "else auto). Several with commas share the batch of run, eval, plan and bench MODEL")
      ->option_text("DEVICE,...");
  command
      .add_option("--weights", options.weights,
                  "Shares of the batch for several devices: 2:1 (default: by measured speed)")
      ->option_text("W:W...");
  command
      .add_option("--cache-dir", options.cache_dir,
                  "Folder of built kernels and tuning data (default: $MORTON_CACHE_DIR, else "
                  "~/.cache/morton)")
      ->option_text("FOLDER")
      ->check(a_name());
  command
      .add_option("--cache-limit", options.cache_limit,
                  "Most that built kernels in that folder may take; applied where one is built "
                  "(default: 1GiB)")
      ->option_text("SIZE");
  command
      .add_option("--memory-limit", options.memory_limit,
                  "Most device memory that the command may take (default: $MORTON_MEMORY_LIMIT in "
                  "bytes, else what the device has)")
      ->option_text("SIZE");
}

void add_strict(CLI::App& command, ModelOptions& options) {
  command.add_flag("--strict", options.strict,
                   "Fail instead of falling back: to a step on the host, or to another kernel "
                   "where one computes wrongly or is refused by the driver");
}

void add_trust_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option(
          "--self-test", options.self_test,
          "on: try kernels when a device and driver first meet them; off: trust all kernels")
      ->check(one_of(std::vector<std::string>{"on", "off"}))
      ->option_text("on|off");
  add_strict(command, options);
}

void add_start(CLI::App& command, ModelOptions& options, CompileOptions::Start fallback) {
  using Start = CompileOptions::Start;
  const std::vector<std::pair<std::string, Start>> names{{"at-once", Start::at_once},
                                                         {"ready", Start::ready}};
  options.start = fallback;
  command
      .add_option(
          "--start", options.start,
          "at-once: an interim plan of generic kernels, where the model's own are not built "
          "yet; ready: the model's own kernels")
      ->option_text("at-once|ready")
      ->transform(one_of(numbered(names)));
}

CLI::Option& add_model_file(CLI::App& command, ModelOptions& options) {
  CLI::Option* model =
      command
          .add_option("model", options.path,
                      "ONNX file, network definition (.json), or an architecture of `morton new`")
          ->option_text("MODEL")
          ->required();
  add_options(command, options.loading);
  return *model;
}

void add_options(CLI::App& command, LoadingOptions& options) {
  command
      .add_option("--limit", options.limits,
                  "What loading may take: nodes=1000,memory=64MiB,seconds=5 (docs/security.md has "
                  "all names); repeatable")
      ->option_text("NAME=N,...")
      ->allow_extra_args(false);
  command
      .add_option("--weights-folder", options.weights_folder,
                  "Folder beneath which files that the model names may lie, also behind links "
                  "(default: the model's own, without links)")
      ->option_text("FOLDER")
      ->check(a_name());
}

LoadLimits load_limits(const LoadingOptions& options) {
  LoadLimits limits;
  for (const std::string& text : options.limits) limits = with_limits(limits, text);
  return limits;
}

LoadOptions load_options(const LoadingOptions& options) {
  return {options.weights_folder, load_limits(options)};
}

void add_shape_options(CLI::App& command, ModelOptions& options) {
  command.add_option("-b,--batch", options.batch, "Extent of the inputs' open first dimension")
      ->option_text("N")
      ->check(whole_number(1));
  command.add_option("--shape", options.shapes, "Shape of an input: name:1x3x224x224; repeatable")
      ->option_text("NAME:EXTENTS")
      ->allow_extra_args(false);
}

void add_options(CLI::App& command, ModelOptions& options) {
  add_shape_options(command, options);
  command
      .add_option("--workspace-limit", options.workspace_limit,
                  "Most memory for kernels' temporaries: 8MiB (default: 64MiB, or a 256th of a "
                  "GPU's own memory if that is more)")
      ->option_text("BYTES");
  command
      .add_option("--weight-limit", options.weight_limit,
                  "Most device memory for weights: 32MiB; those beyond come from a file in each "
                  "run, while the steps before compute (docs/memory.md)")
      ->option_text("BYTES");
  command
      .add_option(
          "--max-kernel-ms", options.max_kernel_ms,
          "Most time that a kernel may take by the plan's estimate; longer ones are computed "
          "in parts, so that a desktop on the same GPU answers in between")
      ->option_text("MS");
  command
      .add_option("--conv", options.conv,
                  "One path for all convolutions and products, R18's or a peer's: " +
                      fmt::format("{}", fmt::join(conv_path_names(), ", ")))
      ->option_text("PATH")
      ->check(offers(conv_path_names()));
  add_options(command, options.kernels);
}

void add_also_shape(CLI::App& command, ModelOptions& options, const std::string& meaning) {
  command
      .add_option("--also-shape", options.also,
                  meaning + ": x:2x3x256x256, several inputs with commas; repeatable")
      ->option_text("NAME:EXTENTS,...")
      ->allow_extra_args(false);
}

void add_options(CLI::App& command, KernelOptions& options) {
  command.add_option("--use", options.use, "Kernels to use: gemm=gemm.naive,conv2d=conv2d.naive")
      ->option_text("FAMILY=ENTRY,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--exclude", options.exclude, "Kernels and recipes that must not be used")
      ->option_text("KERNEL,...")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(a_name());
  command
      .add_option("--local", options.local,
                  "Work-group of every kernel that leaves it open: 4x16, 64")
      ->option_text("SIZES");
  command
      .add_option("--set", options.set,
                  "Values of a kernel's tunables: gemm.tile:TILE_M=8,TILE_N=32; repeatable")
      ->option_text("KERNEL:NAME=N,...")
      ->allow_extra_args(false);
  command
      .add_option("--tuning", options.tuning,
                  "File of measured values of tunables, used beside the shipped and the cached "
                  "ones; repeatable. none: use no measured values")
      ->option_text("FILE|none")
      ->allow_extra_args(false);
  command
      .add_option(
          "--precision", options.precision,
          "Type to which kernels may round operands in memory: f32, f16, bf16 or tf32 (f32)")
      ->check(one_of(std::vector<std::string>{"f32", "f16", "bf16", "tf32"}))
      ->option_text("TYPE");
  command
      .add_option("--sums", options.sums,
                  "Type in which kernels may add up 16 products at a time: f32, or f16, which goes "
                  "with --precision f16 (f32)")
      ->check(one_of(std::vector<std::string>{"f32", "f16"}))
      ->option_text("TYPE");
  command
      .add_option("--catalogue", options.catalogue_files,
                  "File with a further kernel or recipe, or a kernel library of R17; repeatable")
      ->option_text("FILE")
      ->allow_extra_args(false);
}

void add_options(CLI::App& command, MeasureOptions& options) {
  command
      .add_option("-n,--iterations", options.iterations, "Runs to measure, instead of --duration")
      ->option_text("N")
      ->check(whole_number(1));
  command.add_option("--duration", options.duration, "Time to measure for (3s)")
      ->option_text("TIME");
  command.add_option("--warmup", options.warmup, "Time to run before measuring (200ms)")
      ->option_text("TIME");
  command.add_option("--seed", options.seed, "Seed of the random inputs (1)")
      ->option_text("N")
      ->check(whole_number(0));
}

CLI::Validator whole_number(std::int64_t least) {
  const auto complain = [least](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    if (problem == std::errc() && rest == end && value >= least) return "";
    return fmt::format("expected a whole number of {} or more, got '{}'", least, text);
  };
  return CLI::Validator(complain, "");
}

CLI::Validator a_name() {
  const auto complain = [](const std::string& text) -> std::string {
    return text.empty() ? "expected a name, but it is empty" : "";
  };
  return CLI::Validator(complain, "");
}

CLI::Validator writable_file() { return CLI::Validator(obstacle_of, ""); }

void add_size(CLI::App& command, const std::string& name, std::int64_t& size, const char* what) {
  command.add_option(name, size, what)->option_text("N")->required()->check(whole_number(1));
}

void add_format(CLI::App& command, Format& format,
                const std::vector<std::pair<std::string, Format>>& formats) {
  std::string names;
  for (const auto& [name, value] : formats) names += (names.empty() ? "" : ", ") + name;
  command.add_option("--format", format, "One of " + names)
      ->option_text("FORMAT")
      ->transform(one_of(numbered(formats)));
}

void add_options(CLI::App& command, ResultOptions& options,
                 const std::vector<std::pair<std::string, Format>>& formats) {
  add_format(command, options.format, formats);
  command.add_option("-o,--output", options.path, "Write to this file, not to standard output")
      ->option_text("FILE")
      ->check(writable_file());
}

std::vector<std::pair<std::string, Format>> every_format() {
  return {{"table", Format::table},
          {"md", Format::md},
          {"json", Format::json},
          {"jsonl", Format::jsonl},
          {"csv", Format::csv}};
}

}  // namespace morton::cli
