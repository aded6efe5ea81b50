// SPDX-License-Identifier: Apache-2.0
#include "common/given_model.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/read_model.hpp"
#include "common/unused_options.hpp"
#include "morton/architectures.hpp"
#include "morton/error.hpp"
#include "morton/evaluation.hpp"
#include "morton/support.hpp"
#include "morton/training_run.hpp"

namespace morton::cli {
namespace {

/// The options that say how a model is compiled, of those that were given.
std::string choices_in(const ModelOptions& model) {
  const KernelOptions& options = model.kernels;
  std::string text;
  const auto add = [&](const char* name, bool given) {
    if (given) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  };
  add("--use", !options.use.empty());
  add("--exclude", !options.exclude.empty());
  add("--catalogue", !options.catalogue_files.empty());
  add("--local", !options.local.empty());
  add("--set", !options.set.empty());
  add("--tuning", !options.tuning.empty());
  add("--workspace-limit", !model.workspace_limit.empty());
  add("--weight-limit", !model.weight_limit.empty());
  add("--max-kernel-ms", model.max_kernel_ms.has_value());
  add("--conv", !model.conv.empty());
  add("--precision", options.precision != KernelOptions().precision);
  add("--sums", options.sums != KernelOptions().sums);
  return text;
}

/// The model's port with the extents that are the same in all variants.
std::vector<PortInfo> common_ports(const std::vector<PortInfo>& declared, const CompiledFile& file,
                                   std::vector<PortInfo> CompiledVariant::*ports) {
  std::vector<PortInfo> common = declared;
  for (std::size_t i = 0; i < common.size(); ++i) {
    const Shape& first = (file.variants().front().*ports)[i].shape;
    PortInfo& port = common[i];
    if (port.shape.size() != first.size()) continue;
    for (std::size_t d = 0; d < first.size(); ++d) {
      bool same = true;
      for (const CompiledVariant& variant : file.variants()) {
        same = same && (variant.*ports)[i].shape[d] == first[d];
      }
      if (same) port.shape[d] = first[d];
    }
  }
  return common;
}

}  // namespace

GivenModel::GivenModel(const ModelOptions& options, Elsewhere elsewhere)
    : options_(options), elsewhere_(elsewhere) {
  if (names_architecture(options.path) || !CompiledFile::is_one(options.path)) {
    if (elsewhere == Elsewhere::rebuild) {
      throw UsageError(
          fmt::format("--rebuild: {} is no model that was compiled ahead", options.path));
    }
    if (!options.loading.verify.empty()) {
      throw UsageError(fmt::format(
          "--verify: {} is no model that was compiled ahead, and has no signature", options.path));
    }
    model_ = read_model(options);
    require_supported(*model_);
    return;
  }
  const std::string choices = choices_in(options);
  if (!choices.empty()) {
    throw UsageError(fmt::format(
        "{}: was compiled ahead, so its kernels are chosen: {} says nothing to it; give it to "
        "`morton compile`",
        options.path, choices));
  }
  CompiledFileTrust trust{options.loading.verify};
  if (options.loading.accept_writable) trust.writable = CompiledFileTrust::Writable::accept;
  file_ = CompiledFile::open(options.path, trust);
  if (!file_->signed_by().empty()) log::info("signed by {}", file_->signed_by());
}

void GivenModel::take_checkpoint(const std::string& path) {
  if (!model_) {
    throw UsageError(fmt::format(
        "--checkpoint: {} was compiled ahead, with its parameters; give the model that was trained",
        options_.path));
  }
  ModelAtCheckpoint at = with_checkpoint(*model_, path);
  if (!at.damage.empty()) log::warn("{}", at.damage);
  log::info("the parameters are those of {}, after step {}", at.where, at.step);
  model_ = std::move(at.model);
}

void GivenModel::take_classes(std::int64_t classes) {
  if (!model_) {
    throw UsageError(fmt::format(
        "--classes: {} was compiled ahead; give the model that was trained", options_.path));
  }
  model_ = with_classes(*model_, classes);
}

const Model& GivenModel::network() const {
  if (!model_) throw InternalError(options_.path + ": was compiled ahead and has no graph");
  return *model_;
}

std::vector<PortInfo> GivenModel::inputs() const {
  if (model_) return model_->inputs();
  return common_ports(file_->inputs(), *file_, &CompiledVariant::inputs);
}

std::vector<PortInfo> GivenModel::inputs(const std::map<std::string, Shape>& shapes) const {
  return model_ ? model_->inputs(shapes) : inputs();
}

std::vector<PortInfo> GivenModel::outputs() const {
  if (model_) return model_->outputs();
  return common_ports(file_->outputs(), *file_, &CompiledVariant::outputs);
}

std::vector<std::string> GivenModel::planned_inputs() const {
  return model_ ? model_->summary().planned_inputs : std::vector<std::string>();
}

double GivenModel::answer_threshold() const {
  if (model_) return morton::answer_threshold(*model_);
  throw UsageError(
      fmt::format("{}: has one output, and was compiled ahead: give --threshold, above which the "
                  "answer is class 1 (0.5 behind a Sigmoid, 0 of a logit)",
                  options_.path));
}

CompiledModel GivenModel::compile(const std::vector<Device>& devices,
                                  const CompileOptions& options) const {
  if (model_) {
    CompiledModel compiled = compile_model(*model_, devices, options);
    const std::string unused = unused_sums(options, compiled.steps());
    if (!unused.empty()) log::warn("{}", unused);
    return compiled;
  }
  if (devices.size() != 1) {
    throw UsageError(
        fmt::format("{}: was compiled ahead for one device; several are named", options_.path));
  }
  CompiledFileOptions file_options;
  file_options.shapes = options.shapes;
  file_options.batch = options.batch;
  file_options.log = options.log;
  file_options.elsewhere = elsewhere_;
  CompiledModel compiled = file_->load(devices.front(), file_options);
  const CompileReport& report = compiled.report();
  if (options_.strict && !report.fallbacks.empty()) {
    throw UnsupportedError("--strict: " + report.fallbacks.front());
  }
  for (const Message& note : report.notes) log::warn("{}", with_options(note));
  return compiled;
}

CompiledModel GivenModel::with_shapes(const CompiledModel& compiled,
                                      const InputShapes& shapes) const {
  if (model_) return compiled.with_shapes(shapes);
  CompileOptions options;
  options.shapes = shapes.shapes;
  return compile({compiled.device()}, options);
}

std::string GivenModel::kernels_line(const CompileReport& report) const {
  if (!file_ || report.kernels.built > 0) return cli::kernels_line(report);
  return fmt::format("kernels: {} compiled ahead, 0 built", report.kernels.from_disk);
}

void add_given_model(CLI::App& command, ModelOptions& options, GivenModel::Elsewhere& elsewhere,
                     Need need) {
  CLI::Option* model = command
                           .add_option("model", options.path,
                                       "ONNX file, network definition (.json), file of `morton "
                                       "compile`, or an architecture of `morton new`")
                           ->option_text("MODEL");
  if (need == Need::required) model->required();
  command.add_flag_callback(
      "--rebuild", [&elsewhere] { elsewhere = GivenModel::Elsewhere::rebuild; },
      "Build the kernels from source if the file was compiled for another device or driver");
  command
      .add_option("--verify", options.loading.verify,
                  "File of public keys, one of which must have signed the compiled file (default: "
                  "$MORTON_VERIFY_KEY, else none)")
      ->option_text("FILE");
  command.add_flag("--accept-writable", options.loading.accept_writable,
                   "Take a compiled file that its group or others may write");
  add_options(command, options.loading);
}

}  // namespace morton::cli
