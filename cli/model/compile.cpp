// SPDX-License-Identifier: Apache-2.0
#include "model/compile.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <utility>

#include "common/device_description.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "model/build_only.hpp"
#include "morton/compiled_file.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kCompileFooter =
    R"(The file holds the plan, the binaries of its kernels with their source, and the packed weights. It is
for this device and driver. `run`, `bench` and `profile` take it in place of a model, and compile
nothing. It is machine code: take such files only from those whose programs you would run.

Examples:
  morton compile models/lenet5.onnx -o lenet5.morton
  morton run lenet5.morton -i input:digit.png --top-k 3
  morton compile net.onnx -o net.morton --batch 1 --also-shape image:8x3x224x224
  morton run net.morton -i image:cat.jpg --rebuild     # with another driver
  morton compile net.onnx -o net.morton --sign fleet.key
  morton run net.morton -i image:cat.jpg --verify fleet.pub

--build-only writes no such file: it builds the kernels, launches nothing and says which were built. With
--device-info they are those of a plan for the device that the file describes.

Examples:
  morton compile models/lenet5.onnx --build-only
  morton compile --all --build-only --device-info board.json --format json -o build.json)";

struct CompileArguments {
  DeviceOptions device;
  ModelOptions model;
  BuildOnly build;
  std::string output;
  std::string sign;  ///< file of a secret key; empty: it is not signed
};

/// The options of each plan that the file gets: the first as --batch and --shape say.
std::vector<CompileOptions> variants_of(const CompileArguments& options) {
  CompileOptions first = compile_options(options.model);
  const std::vector<InputShapes> others = std::exchange(first.also, {});
  // Each shape gets a plan with the kernels that are best for it.
  first.other_shapes = CompileOptions::OtherShapes::leave;
  std::vector<CompileOptions> variants{first};
  for (const InputShapes& other : others) {
    variants.push_back(first);
    variants.back().batch = other.batch;
    variants.back().shapes = other.shapes;
  }
  return variants;
}

int compile_ahead(const CompileArguments& options) {
  if (options.output.empty()) throw UsageError("compile: give the file to write: -o net.morton");
  if (CompiledFile::is_one(options.model.path)) {
    throw UsageError(fmt::format("{}: is compiled already", options.model.path));
  }
  const std::vector<CompileOptions> variants = variants_of(options);
  const Model model = read_model(options.model);
  const Device device = open_device(options.device);
  std::vector<CompiledModel> compiled;
  for (const CompileOptions& variant : variants) {
    compiled.push_back(compile_model(model, device, variant));
    log::info("{}", kernels_line(compiled.back().report()));
  }
  save_compiled(compiled, options.output);
  if (!options.sign.empty()) sign_compiled(options.output, options.sign);
  emit(
      fmt::format("wrote {} ({}) for {}\n", options.output,
                  bytes_text(static_cast<std::int64_t>(std::filesystem::file_size(options.output))),
                  device.description()),
      "");
  return 0;
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("compile", "Compile a model ahead: one file that starts at once");
  command->footer(kCompileFooter);
  auto options = std::make_shared<CompileArguments>();
  add_model_file(*command, options->model).required(false);
  command->add_option("-o,--output", options->output, "File to write (.morton)")
      ->option_text("FILE")
      ->check(writable_file());
  command
      ->add_option("--sign", options->sign,
                   "Sign the file by this secret key of `morton keys`, for those who --verify")
      ->option_text("FILE");
  command->add_flag("--build-only", options->build.wanted,
                    "Build the kernels, launch nothing; -o is the report's file");
  command->add_flag("--all", options->build.all,
                    "With --build-only: every kernel of the catalogue, on its family's example");
  add_device_info(*command, options->build.device_info);
  add_format(*command, options->build.result.format,
             {{"table", Format::table}, {"json", Format::json}});
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_also_shape(*command, options->model, "Further shapes for which the file holds a plan");
  add_trust_options(*command, options->model);
  command->callback([command, options, &chosen] {
    if (!options->build.all && options->model.path.empty()) throw CLI::RequiredError("model");
    if (!options->build.wanted) {
      for (const char* one : {"--all", "--device-info", "--format"}) {
        if (command->count(one) > 0) throw CLI::ValidationError(one, "goes with --build-only");
      }
      chosen = [options] { return compile_ahead(*options); };
      return;
    }
    if (options->build.all && !options->model.path.empty()) {
      throw CLI::ValidationError("--all", "builds the kernels of no model");
    }
    if (!options->sign.empty()) throw CLI::ValidationError("--sign", "signs no report");
    options->build.result.path = options->output;
    chosen = [options] { return build_only(options->build, options->model, options->device); };
  });
}

}  // namespace morton::cli
