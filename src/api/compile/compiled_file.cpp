// SPDX-License-Identifier: Apache-2.0
#include "morton/compiled_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "api/compile/compiled_format.hpp"
#include "api/compile/compiled_state.hpp"
#include "api/compile/loading.hpp"
#include "api/compile/self_test.hpp"
#include "api/inside.hpp"
#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/files/signature.hpp"
#include "base/shape.hpp"
#include "device/use/given_program.hpp"
#include "formats/input_file.hpp"
#include "launch/library.hpp"
#include "run/host_memory.hpp"
#include "run/loaded_plan.hpp"

namespace morton {
using namespace api;

struct api::CompiledFileState {
  std::string where;
  std::shared_ptr<const MappedFile> file;
  ArchivedModel model;
  std::string_view blobs;
  std::vector<CompiledVariant> variants;
  std::string signed_by;
};

namespace {

std::string ports_text(const std::vector<PortInfo>& ports) {
  std::string text;
  for (const PortInfo& port : ports) {
    text += (text.empty() ? "" : ", ") + port.name + " " + to_string(port.shape);
  }
  return text;
}

/// The extent of an input that is its batch, as when a model is compiled: the one named "batch",
/// else the first. Nothing for scalars.
std::optional<std::size_t> batch_dimension(const PortInfo& declared) {
  const std::vector<std::string>& symbols = declared.symbols;
  if (declared.shape.empty()) return std::nullopt;
  const auto named = std::find(symbols.begin(), symbols.end(), "batch");
  return named == symbols.end() ? 0 : static_cast<std::size_t>(named - symbols.begin());
}

bool is_open(const PortInfo& declared, std::size_t dimension) {
  return dimension < declared.symbols.size() && !declared.symbols[dimension].empty();
}

/// Throws UsageError where a batch is given and no input has it, nor leaves its batch open.
void require_batch(const CompiledFileState& state, const CompiledFileOptions& options) {
  if (options.batch == 0) return;
  const auto takes = [&](const PortInfo& input) {
    const auto d = batch_dimension(input);
    return d && (is_open(input, *d) || input.shape[*d] == options.batch);
  };
  const std::vector<PortInfo>& inputs = state.model.inputs;
  if (std::any_of(inputs.begin(), inputs.end(), takes)) return;
  throw UsageError(
      state.where + ": batch " + std::to_string(options.batch) +
      " is asked for, and no input of the model has an open batch: " + ports_text(inputs));
}

bool fits(const ArchivedVariant& variant, const ArchivedModel& model,
          const CompiledFileOptions& options) {
  for (std::size_t i = 0; i < variant.inputs.size(); ++i) {
    const PortInfo& input = variant.inputs[i];
    const auto wanted = options.shapes.find(input.name);
    if (wanted != options.shapes.end()) {
      if (wanted->second != input.shape) return false;
      continue;
    }
    if (options.batch == 0) continue;
    const auto d = batch_dimension(model.inputs[i]);
    if (!d || !is_open(model.inputs[i], *d)) continue;
    if (*d >= input.shape.size() || input.shape[*d] != options.batch) return false;
  }
  return true;
}

const ArchivedVariant& choose(const CompiledFileState& state, const CompiledFileOptions& options) {
  const ArchivedModel& model = state.model;
  for (const auto& [name, shape] : options.shapes) {
    const auto is_named = [&](const PortInfo& input) { return input.name == name; };
    if (std::none_of(model.inputs.begin(), model.inputs.end(), is_named)) {
      throw UsageError(state.where + ": the model has no input '" + name + "'");
    }
  }
  require_batch(state, options);
  std::string held;
  for (const ArchivedVariant& variant : model.variants) {
    if (fits(variant, model, options)) return variant;
    held += "\n  " + ports_text(variant.inputs);
  }
  std::string wanted = options.batch == 0 ? "" : " batch " + std::to_string(options.batch);
  for (const auto& [name, shape] : options.shapes) wanted += " " + name + " " + to_string(shape);
  throw UsageError(state.where + ": is not compiled for" + wanted + "; it is for" + held +
                   "\n  compile the model for this shape too (" + setting("also") + ")");
}

void require_libraries(const Plan& plan, const std::string& where) {
  const auto available = available_libraries();
  for (const Step& step : plan.steps) {
    const LibraryCall* call = step.library_call();
    if (call == nullptr || available.contains(call->library)) continue;
    throw UnsupportedError(where + ": step " + step.name + " calls " + call->library +
                           ", which this build of Morton has not");
  }
}

/// Whether the kernels must be built from source, with the reason; throws where that is not
/// allowed.
std::string reason_to_rebuild(const CompiledFileState& state, const Device& device,
                              const CompiledFileOptions& options) {
  const std::string here = fingerprint(Inside::of(device)->info());
  if (here == state.model.device) return "";
  const std::string why =
      state.where + ": was compiled for " + state.model.device + "\n  this device is " + here;
  if (options.elsewhere == CompiledFileOptions::Elsewhere::rebuild) {
    return why + "\n  its kernels were built from source";
  }
  throw UsageError(why +
                   "\n  compile the model here, or let its kernels be built from the source in "
                   "the file (" +
                   setting("elsewhere", "rebuild") + ")");
}

/// Binaries and weights of a variant, checked.
CompiledAhead contents_of(const ArchivedVariant& variant, const CompiledFileState& state) {
  CompiledAhead ahead;
  ahead.owner = state.file;
  for (const std::uint64_t blob : variant.binaries) {
    ahead.binaries.push_back(bytes_of(state.model.blobs[blob], state.blobs, state.where));
  }
  for (const std::uint64_t blob : variant.weights) {
    ahead.weights.add(blob == kNoBlob
                          ? std::string_view()
                          : bytes_of(state.model.blobs[blob], state.blobs, state.where));
  }
  return ahead;
}

std::shared_ptr<LoadedPlan> load_plan(const ArchivedVariant& variant,
                                      const CompiledFileState& state, const Device& device,
                                      const CompiledFileOptions& options, CompileReport& report) {
  const auto& opened = Inside::of(device);
  Message rebuilt = reason_to_rebuild(state, device, options);
  check_archived(variant.plan, opened->info(), state.where);
  require_libraries(variant.plan, state.where);
  // Before the file's weights are read.
  return_unneeded_memory(block_bytes(variant.plan, PlannedBlock::Kind::weights));
  CompiledAhead ahead = contents_of(variant, state);
  if (rebuilt.empty()) {
    try {
      return std::make_shared<LoadedPlan>(variant.plan, opened, ahead);
    } catch (const RefusedBinary& error) {
      if (options.elsewhere == CompiledFileOptions::Elsewhere::refuse) {
        throw DeviceError(state.where + ": " + error.message() +
                          "; compile the model again, or let its kernels be built from the source "
                          "in the file (" +
                          setting("elsewhere", "rebuild") + ")");
      }
      rebuilt = state.where + ": " + error.message() + "; its kernels were built from source";
    }
  }
  report.fallbacks.push_back(rebuilt);
  report.notes.push_back(rebuilt);
  ahead.binaries.clear();
  Plan plan = variant.plan;
  plan.devices[kFirstDevice].fingerprint = fingerprint(opened->info());
  return std::make_shared<LoadedPlan>(std::move(plan), opened, ahead);
}

/// The group and others could put code into it.
void require_unwritable(const InputFile& file) {
  struct stat facts {};
  const bool is_known = ::fstat(file.descriptor(), &facts) == 0;
  if (is_known && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return;
  throw ModelError(file.where() + ": holds machine code, and its group or others may write it; " +
                   "chmod go-w it, or accept it (" + setting("writable", "accept") + ")");
}

}  // namespace

CompiledFile::CompiledFile(std::shared_ptr<const CompiledFileState> state)
    : state_(std::move(state)) {}

bool CompiledFile::is_one(const std::string& path) {
  std::error_code status;
  // Opening a pipe would wait for its writer.
  if (!std::filesystem::is_regular_file(path, status)) return false;
  std::array<char, 32> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return begins_as_compiled({start.data(), static_cast<std::size_t>(file.gcount())});
}

CompiledFile CompiledFile::open(const std::string& path, const CompiledFileTrust& trust) {
  auto state = std::make_shared<CompiledFileState>();
  state->where = path;
  InputFile file(path);
  if (trust.writable == CompiledFileTrust::Writable::refuse) require_unwritable(file);
  const std::string keys = trust.public_keys.empty()
                               ? environment_variable("MORTON_VERIFY_KEY").value_or("")
                               : trust.public_keys;
  // What is verified must not change afterwards, so it is read once.
  state->file = keys.empty() ? std::make_shared<const MappedFile>(file) : MappedFile::copy_of(file);
  const std::string_view bytes = state->file->bytes();
  if (!keys.empty()) state->signed_by = require_signature(bytes, keys, path);
  state->model = decode_compiled(without_signature(bytes), path, state->blobs);
  for (const ArchivedVariant& variant : state->model.variants) {
    state->variants.push_back({variant.inputs, variant.outputs});
    if (variant.inputs.size() != state->model.inputs.size()) {
      throw ModelError(path + ": is damaged: a plan has another number of inputs than the model");
    }
  }
  return CompiledFile(std::move(state));
}

const std::vector<PortInfo>& CompiledFile::inputs() const { return state_->model.inputs; }

const std::vector<PortInfo>& CompiledFile::outputs() const { return state_->model.outputs; }

const std::vector<CompiledVariant>& CompiledFile::variants() const { return state_->variants; }

const std::string& CompiledFile::signed_by() const { return state_->signed_by; }

const std::string& CompiledFile::device() const { return state_->model.device; }

CompiledModel CompiledFile::load(const Device& device, const CompiledFileOptions& options) const {
  const ArchivedVariant& variant = choose(*state_, options);
  CompiledState begun{{device}, std::nullopt};
  begun.inputs = variant.inputs;
  begun.outputs = variant.outputs;
  begun.planned_values = variant.planned_values;
  begun.growths = variant.growths;
  begun.report.plan = CompileReport::PlanOrigin::compiled_file;
  auto compiled = std::make_shared<CompiledState>(std::move(begun));
  const auto loaded = load_plan(variant, *state_, device, options, compiled->report);
  Countdown countdown({}, loaded->plan(), {});
  finish_loading(loaded, {}, countdown, options.log, compiled->report);
  add_fallbacks(loaded->plan(), compiled->report);
  compiled->loaded = loaded;
  return Inside::make(std::shared_ptr<const CompiledState>(std::move(compiled)));
}

}  // namespace morton
