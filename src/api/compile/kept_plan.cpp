// SPDX-License-Identifier: Apache-2.0
#include "api/compile/kept_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/compile/kernel_trial.hpp"
#include "api/compile/loading.hpp"
#include "api/compile/port_archive.hpp"
#include "api/compile/self_test.hpp"
#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/sealed.hpp"
#include "base/files/trusted.hpp"
#include "base/stopwatch.hpp"
#include "device/open/cache_limit.hpp"
#include "device/open/refused_kernels.hpp"
#include "formats/input_file.hpp"
#include "plan/ir/whole_plan.hpp"
#include "run/loaded_plan.hpp"
#include "run/program_builds.hpp"

namespace morton::api {

/// What a plan's file holds.
struct KeptFile {
  std::vector<PortInfo> inputs, outputs;
  std::map<std::string, Tensor> planned_values;
  std::vector<Growth> growths;
  WholePlan whole;
  std::string pieces;  ///< name of the file of `whole.pieces`
  std::map<std::string, std::vector<TaskDecision>> built_decisions;
  std::vector<std::string> built_instances;
  int for_other_shapes = 0;
  std::vector<std::string> untried;  ///< untried_keys
};

template <typename Archive, Archived<KeptFile> T>
void visit(Archive& archive, T& file) {
  auto& [inputs, outputs, planned_values, growths, whole, pieces, built_decisions, built_instances,
         for_other_shapes, untried] = file;
  archive(inputs, outputs, planned_values, growths, whole, pieces, built_decisions, built_instances,
          for_other_shapes, untried);
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKeptMagic = "morton plan ";
constexpr int kKeptVersion = 1;

/// The mapped file, or null where there is none. Throws ModelError for one that is not trusted.
std::shared_ptr<const MappedFile> mapped(const fs::path& path) {
  std::error_code status;
  if (!fs::exists(fs::symlink_status(path, status))) return nullptr;
  for (const auto& place : {path.parent_path(), path}) {
    if (const auto why = why_not_trusted(place)) throw ModelError(*why);
  }
  mark_used(path);
  return std::make_shared<const MappedFile>(InputFile(path));
}

KeptFile decoded(std::string_view bytes, const std::string& where) {
  const auto fail = [&](const std::string& why) { throw ModelError(where + ": " + why); };
  std::string_view rest;
  ArchiveReader reader(unsealed(seal_of<KeptFile>(kKeptMagic, kKeptVersion), bytes, rest, fail),
                       where);
  KeptFile file;
  reader(file);
  reader.require_end();
  if (!rest.empty()) fail("it has more bytes than it should");
  return file;
}

/// Tensors over the file of pieces.
class Pieces {
 public:
  Pieces(std::shared_ptr<const MappedFile> file, std::string where)
      : file_(std::move(file)), where_(std::move(where)) {}

  Tensor operator()(const ArchivedPiece& piece, DType type, const Shape& shape) const {
    const std::string_view bytes = bytes_of(piece);
    Tensor tensor = Tensor::of_mapped_file(type, shape, bytes.data(), bytes.size(), file_);
    tensor.drop_pages();
    return tensor;
  }

  /// Throws ModelError where they are not what was written.
  [[nodiscard]] std::string_view bytes_of(const ArchivedPiece& piece) const {
    const std::string_view all = file_->bytes();
    if (piece.offset > all.size() || piece.bytes > all.size() - piece.offset) {
      throw ModelError(where_ + ": is cut short");
    }
    const std::string_view bytes = all.substr(piece.offset, piece.bytes);
    if (digest_of(bytes) != piece.digest) {
      throw ModelError(where_ + ": a digest is wrong, it is damaged");
    }
    return bytes;
  }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::string where_;
};

std::string name_of_pieces(const std::vector<ArchivedPiece>& pieces) {
  std::string digests;
  for (const ArchivedPiece& piece : pieces) digests += piece.digest;
  return digest_of(digests);
}

/// Whether the file holds these pieces, whole.
bool holds(const fs::path& path, const std::vector<ArchivedPiece>& pieces) {
  try {
    const auto file = mapped(path);
    if (file == nullptr) return false;
    const Pieces contents(file, path.string());
    for (const ArchivedPiece& piece : pieces) static_cast<void>(contents.bytes_of(piece));
    return true;
  } catch (const ModelError&) {
    return false;  // it is written anew
  }
}

}  // namespace

KeptPlan::KeptPlan(const Model& model, const CompileOptions& options, const Device& device)
    : model_(model), options_(options), device_(device), store_(store_of(options, device)) {
  const OpenClDevice& opened = *Inside::of(device);
  if (opened.cache_folder().empty()) return;
  key_ = kept_plan_key(model, options, store_, opened.info());
  if (!key_.lasting.empty()) folder_ = opened.cache_folder() / "plans";
}

std::shared_ptr<CompiledState> KeptPlan::compiled() const {
  if (folder_.empty()) return nullptr;
  try {
    return read();
  } catch (const ModelError& error) {
    observer_of(options_).say(error.message() + "; the model is planned anew");
  } catch (const RefusedKernels& error) {
    observer_of(options_).say(error.message() + "; the model is planned anew");
  }
  return nullptr;
}

std::shared_ptr<CompiledState> KeptPlan::read() const {
  const Stopwatch watch;
  OpenClDevice& opened = *Inside::of(device_);
  const fs::path path = folder_ / (key_.name() + ".plan");
  const auto file = mapped(path);
  if (file == nullptr) return nullptr;
  KeptFile kept = decoded(file->bytes(), path.string());
  const fs::path pieces = folder_ / (kept.pieces + ".tensors");
  std::shared_ptr<const MappedFile> contents;
  if (!kept.whole.pieces.empty()) {
    contents = mapped(pieces);
    if (contents == nullptr) return nullptr;
  }
  Plan plan = put_together(std::move(kept.whole), Inside::of(model_),
                           Pieces(contents, pieces.string()), path.string());
  check_archived(plan, opened.info(), path.string(), ArchivedConstants::as_made);
  if (!is_built(plan, opened)) return nullptr;
  if (options_.self_test == CompileOptions::SelfTest::once &&
      options_.precision.operands == DType::f32) {
    // What no self-test could try stays trusted, as it would be.
    const TriedKernels tried(opened.cache_folder(), opened.info());
    if (!std::ranges::includes(kept.untried, untried_keys(plan, tried))) return nullptr;
  }
  auto state = std::make_shared<CompiledState>(CompiledState{{device_}, model_});
  state->passes = pass_options_of(options_, opened.info());
  state->inputs = std::move(kept.inputs);
  state->outputs = std::move(kept.outputs);
  state->planned_values = std::move(kept.planned_values);
  state->growths = std::move(kept.growths);
  auto built = std::make_shared<BuiltKernels>();
  built->decisions = std::move(kept.built_decisions);
  built->instances.insert(kept.built_instances.begin(), kept.built_instances.end());
  state->others.built = std::move(built);
  state->others.policy = LazyPolicy(
      [options = options_, store = store_] { return policy_of(options, store, Observer{}); });
  state->log = options_.log;
  state->fallback = options_.fallback;
  state->report.plan = CompileReport::PlanOrigin::kept;
  state->report.kernels.for_other_shapes = kept.for_other_shapes;
  state->report.times.plan_ms = watch.milliseconds();
  const Observer observer = observer_of(options_);
  observer.say("plan: kept from an earlier start, " + path.string());
  load(std::move(plan), {}, observer, *state);
  take_fallbacks(state->loaded->plan(), options_.fallback, state->report);
  return state;
}

void KeptPlan::keep(const CompiledState& state) const {
  // What was measured or refused meanwhile makes another plan next time.
  if (folder_.empty() || measured_digest(store_) != key_.measured) return;
  try {
    write(state);
  } catch (const Error& error) {
    observer_of(options_).say("the plan cannot be kept: " + error.message());
  }
}

void KeptPlan::write(const CompiledState& state) const {
  std::vector<Tensor> contents;
  KeptFile kept{state.inputs,
                state.outputs,
                state.planned_values,
                state.growths,
                {},
                {},
                {},
                {},
                state.report.kernels.for_other_shapes,
                {}};
  kept.whole = taken_apart(state.loaded->plan(), Inside::of(model_), contents);
  const OpenClDevice& opened = *Inside::of(device_);
  kept.untried =
      untried_keys(state.loaded->plan(), TriedKernels(opened.cache_folder(), opened.info()));
  kept.built_decisions = state.others.built->decisions;
  kept.built_instances.assign(state.others.built->instances.begin(),
                              state.others.built->instances.end());
  if (!contents.empty()) {
    kept.pieces = name_of_pieces(kept.whole.pieces);
    static constexpr std::array<char, kPieceAlignment> kGap{};
    std::vector<std::string_view> parts;
    for (const Tensor& tensor : contents) {
      parts.emplace_back(reinterpret_cast<const char*>(tensor.stored()), tensor.bytes());
      const std::size_t over = tensor.bytes() % kPieceAlignment;
      if (over > 0) parts.emplace_back(kGap.data(), kPieceAlignment - over);
    }
    const fs::path path = folder_ / (kept.pieces + ".tensors");
    if (!holds(path, kept.whole.pieces)) {
      write_trusted_file(path, parts, Flush::later);
      // Plans alone are small: the next build looks after them.
      Inside::of(device_)->programs().keep_within_limit();
    }
  }
  ArchiveWriter writer;
  writer(kept);
  const std::string bytes = sealed(seal_of<KeptFile>(kKeptMagic, kKeptVersion), writer.take());
  const std::string_view whole = bytes;
  // Digests tell what a crash of the system spoils.
  write_trusted_file(folder_ / (key_.name() + ".plan"), std::span(&whole, 1), Flush::later);
}

}  // namespace morton::api
