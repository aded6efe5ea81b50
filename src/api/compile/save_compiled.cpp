// SPDX-License-Identifier: Apache-2.0
//
// Writes compiled models to a file, and signs it, which compiled_file.cpp opens.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "api/compile/compiled_format.hpp"
#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/signature.hpp"
#include "formats/input_file.hpp"
#include "launch/library.hpp"
#include "morton/compiled_file.hpp"
#include "run/loaded_plan.hpp"

namespace morton {
using namespace api;
namespace {

/// Collects blobs, each content once.
class BlobWriter {
 public:
  /// The blob's number.
  std::uint64_t add(std::string bytes) {
    std::string digest = digest_of(bytes);
    for (std::size_t i = 0; i < blobs_.size(); ++i) {
      if (blobs_[i].digest == digest && blobs_[i].bytes == bytes.size()) return i;
    }
    blobs_.push_back({end_, bytes.size(), std::move(digest)});
    const std::uint64_t begin = end_;
    end_ = blob_aligned(begin + bytes.size());
    contents_.push_back(std::move(bytes));
    return blobs_.size() - 1;
  }
  [[nodiscard]] const std::vector<Blob>& blobs() const { return blobs_; }
  [[nodiscard]] const std::vector<std::string>& contents() const { return contents_; }

 private:
  std::vector<Blob> blobs_;
  std::vector<std::string> contents_;
  std::uint64_t end_ = 0;
};

void require_savable(const CompiledModel& model, const std::string& path) {
  const CompiledState& state = *Inside::of(model);
  if (state.report.stage == CompileReport::Stage::interim) {
    throw UsageError(path + ": an interim plan is not compiled ahead; save the settled model");
  }
  if (state.devices.size() != 1) {
    throw UnsupportedError(path + ": a model over several devices is not compiled ahead; compile " +
                           "it for one");
  }
  if (streamed_bytes(state.loaded->plan()) > 0) {
    throw UnsupportedError(path + ": weights that take turns on the device (" +
                           setting("weight_limit_bytes") + ") are not written to compiled files");
  }
  for (const Step& step : state.loaded->plan().steps) {
    if (step.library_call() == nullptr || is_on_host(step)) continue;
    throw UnsupportedError(path + ": step " + step.name + " is computed by " + step.kernel +
                           ", which builds its kernels in each process; compile without it (" +
                           setting("exclude", step.kernel) + ")");
  }
}

ArchivedVariant variant_of(const CompiledModel& model, BlobWriter& blobs) {
  const CompiledState& state = *Inside::of(model);
  const LoadedPlan& loaded = *state.loaded;
  ArchivedVariant variant{state.inputs,
                          state.outputs,
                          state.planned_values,
                          state.growths,
                          with_packed_constants(loaded.plan()),
                          {},
                          {}};
  for (std::size_t p = 0; p < variant.plan.programs.size(); ++p) {
    variant.binaries.push_back(blobs.add(loaded.program_binary(p)));
  }
  for (const BlockId b : variant.plan.blocks.ids()) {
    const bool weights = variant.plan.blocks[b].kind == PlannedBlock::Kind::weights;
    variant.weights.add(weights ? blobs.add(loaded.weights_in(b)) : kNoBlob);
  }
  return variant;
}

/// Whether ports of the model are lists or optional: a variant has others then.
bool has_lists(const Model& model) {
  const auto is_other = [](const PortInfo& port) { return !port.form.is_tensor(); };
  return std::ranges::any_of(model.inputs(), is_other) ||
         std::ranges::any_of(model.outputs(), is_other);
}

}  // namespace

void save_compiled(std::span<const CompiledModel> models, const std::string& path) {
  if (models.empty()) throw UsageError(path + ": no compiled model is given");
  ArchivedModel file;
  BlobWriter blobs;
  const CompiledState& first = *Inside::of(models.front());
  if (!first.model) {
    throw UsageError(path + ": the model was loaded from a compiled file; copy that file");
  }
  const bool has_own_ports = has_lists(*first.model);
  if (has_own_ports && models.size() > 1) {
    throw UnsupportedError(path + ": a model with lists or optional values is compiled ahead for " +
                           "one set of shapes; several are given");
  }
  file.inputs = has_own_ports ? first.inputs : first.model->inputs();
  file.outputs = has_own_ports ? first.outputs : first.model->outputs();
  file.device = fingerprint(Inside::of(models.front().device())->info());
  for (const CompiledModel& model : models) {
    require_savable(model, path);
    const std::optional<Model>& source = Inside::of(model)->model;
    if (!source || &Inside::of(*source) != &Inside::of(*first.model) ||
        Inside::of(model.device()) != Inside::of(models.front().device())) {
      throw UsageError(path + ": holds one model for one device; others are given");
    }
    file.variants.push_back(variant_of(model, blobs));
  }
  file.blobs = blobs.blobs();
  const std::string head = encode_head(file);
  const std::string gap(kBlobAlignment, '\0');
  std::vector<std::string_view> parts{head};
  for (const std::string& content : blobs.contents()) {
    const std::size_t over = content.size() % kBlobAlignment;
    parts.emplace_back(content);
    if (&content != &blobs.contents().back() && over > 0) {
      parts.emplace_back(gap.data(), kBlobAlignment - over);
    }
  }
  // It is code: only its owner may write it, whatever the mask says.
  write_file_atomically(path, parts, Flush::at_once, Access::owner_writes);
}

void make_signing_keys(const std::string& path) {
  const KeyPair pair = new_key_pair();
  const std::filesystem::path secret = path + ".key", open = path + ".pub";
  for (const auto& file : {secret, open}) {
    std::error_code status;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, status))) {
      throw UsageError(file.string() + ": is there already; a key is not written over");
    }
  }
  const std::string_view secret_line = pair.secret_line, public_line = pair.public_line;
  write_file_atomically(secret, std::span(&secret_line, 1), Flush::at_once, Access::owner_alone);
  write_file_atomically(open, std::span(&public_line, 1), Flush::at_once, Access::owner_writes);
}

void sign_compiled(const std::string& path, const std::string& secret_key) {
  const auto file = MappedFile(InputFile(path));
  std::string_view blobs;
  const std::string_view body = without_signature(file.bytes());
  static_cast<void>(decode_compiled(body, path, blobs));
  const std::string signature = signature_of(std::span(&body, 1), secret_key);
  const std::array<std::string_view, 2> parts{body, signature};
  write_file_atomically(path, parts, Flush::at_once, Access::owner_writes);
}

}  // namespace morton
