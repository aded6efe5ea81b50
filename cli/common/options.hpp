// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/output.hpp"
#include "morton/compile.hpp"
#include "morton/device.hpp"
#include "words/choices.hpp"
#include "words/cli11_names.hpp"
#include "words/option_texts.hpp"

namespace morton::cli {

/// Options of every command that opens a device.
struct DeviceOptions {
  std::string selector;  ///< of several devices with commas between them
  std::string weights;   ///< "2:1"; empty: measured
  std::string cache_dir;
  std::string cache_limit;   ///< "2GiB"; empty: the library's
  std::string memory_limit;  ///< likewise
};

/// Which kernels may compute, as it was typed.
struct KernelOptions {
  std::vector<std::string> use;
  std::vector<std::string> exclude;
  std::vector<std::string> catalogue_files;
  std::string local;
  std::vector<std::string> set;
  std::vector<std::string> tuning;  ///< files, or "none"
  std::string precision = "f32";
  std::string sums = "f32";
};

/// "f16", or "f16, sums in f16".
[[nodiscard]] std::string precision_text(const KernelOptions& options);

/// What a model's file may ask for, and what a compiled one must show, as it was typed.
struct LoadingOptions {
  std::string weights_folder;
  std::vector<std::string> limits;  ///< "nodes=1000,seconds=5"
  std::string verify;               ///< file of public keys
  bool accept_writable = false;
};

/// The limits, and all of it, as the library takes them. Throws UsageError.
[[nodiscard]] LoadLimits load_limits(const LoadingOptions& options);
[[nodiscard]] LoadOptions load_options(const LoadingOptions& options);

/// Options of every command that compiles a model, as they were typed.
struct ModelOptions {
  std::string path;
  std::int64_t batch = 0;  ///< 0: as the model or --shape says
  std::vector<std::string> shapes;
  std::vector<std::string> also;  ///< other shapes, each as --shape has them, commas between inputs
  std::string workspace_limit;    ///< "8MiB"; empty: the library's
  std::string weight_limit;       ///< likewise; empty: none
  std::optional<double> max_kernel_ms;
  std::string conv;  ///< a name of conv_path.hpp; empty: as "auto"
  KernelOptions kernels;
  LoadingOptions loading;
  std::string self_test = "on";
  CompileOptions::Start start = CompileOptions::Start::ready;
  bool strict = false;
};

/// How long a measurement goes on.
struct MeasureOptions {
  std::int64_t iterations = 0;  ///< 0: as many as `duration` allows
  std::string duration = "3s";
  std::string warmup = "200ms";
  std::uint64_t seed = 1;
};

/// Where a result goes, and how it looks.
struct ResultOptions {
  Format format = Format::table;
  std::string path;  ///< empty: standard output
};

void add_options(CLI::App& command, DeviceOptions& options);
/// --use, --exclude, --local, --set, --tuning and --catalogue.
void add_options(CLI::App& command, KernelOptions& options);
/// --batch, --shape, --workspace-limit and --conv, and those of the kernels.
void add_options(CLI::App& command, ModelOptions& options);
/// --strict.
void add_strict(CLI::App& command, ModelOptions& options);
/// --self-test and --strict.
void add_trust_options(CLI::App& command, ModelOptions& options);
/// --start; `fallback` is what it is where it is not given.
void add_start(CLI::App& command, ModelOptions& options, CompileOptions::Start fallback);
/// --also-shape; `meaning` says in its help what for.
void add_also_shape(CLI::App& command, ModelOptions& options, const std::string& meaning);
/// --limit and --weights-folder.
void add_options(CLI::App& command, LoadingOptions& options);
/// MODEL, the file, and how it is loaded; returns the former, which must be given.
CLI::Option& add_model_file(CLI::App& command, ModelOptions& options);
void add_options(CLI::App& command, MeasureOptions& options);
/// An extent of 1 or more that must be given.
void add_size(CLI::App& command, const std::string& name, std::int64_t& size, const char* what);
/// Accepts whole numbers of `least` or more.
[[nodiscard]] CLI::Validator whole_number(std::int64_t least);
/// Refuses an empty text, as one between two commas.
[[nodiscard]] CLI::Validator a_name();
/// For options that name a file to write: what cannot be written is said before any work is done.
[[nodiscard]] CLI::Validator writable_file();
/// --format, with the named formats only.
void add_format(CLI::App& command, Format& format,
                const std::vector<std::pair<std::string, Format>>& formats);
/// --format and -o.
void add_options(CLI::App& command, ResultOptions& options,
                 const std::vector<std::pair<std::string, Format>>& formats);
/// table, md, json, jsonl and csv.
[[nodiscard]] std::vector<std::pair<std::string, Format>> every_format();

/// Throws UsageError for what is said of several devices.
void require_one_device(const DeviceOptions& options);
/// Opens it and passes its notes on as warnings. Throws UsageError for what is said of several.
[[nodiscard]] Device open_device(const DeviceOptions& options);
/// Likewise the one of several that `selector` names.
[[nodiscard]] Device open_device(const std::string& selector, const DeviceOptions& options);
/// One or several: "0:0,0:1".
[[nodiscard]] std::vector<Device> open_devices(const DeviceOptions& options);
/// The parts of "0:0,0:1"; one part, maybe empty, where there is no comma.
[[nodiscard]] std::vector<std::string> selectors_of(const DeviceOptions& options);
/// The numbers of "2:1"; throws UsageError.
[[nodiscard]] std::vector<double> weights_of(const DeviceOptions& options);
[[nodiscard]] DeviceConfig device_config(const DeviceOptions& options);

/// The options as the library takes them; its messages go to the log. Throws UsageError.
[[nodiscard]] CompileOptions compile_options(const ModelOptions& options);
[[nodiscard]] CompileOptions compile_options(const KernelOptions& options);

/// Compiles and passes the report's notes on as warnings.
[[nodiscard]] CompiledModel compile_model(const Model& model, const Device& device,
                                          const CompileOptions& options);
/// Likewise over several, and says how the batch is shared.
[[nodiscard]] CompiledModel compile_model(const Model& model, const std::vector<Device>& devices,
                                          const CompileOptions& options);

/// "kernels: 7 from cache, 0 built"
[[nodiscard]] std::string kernels_line(const CompileReport& report);

}  // namespace morton::cli
