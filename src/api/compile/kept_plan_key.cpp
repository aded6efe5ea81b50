// SPDX-License-Identifier: Apache-2.0
#include "api/compile/kept_plan_key.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/cache/cache_folder.hpp"
#include "api/cache/tried_kernels.hpp"
#include "api/inside.hpp"
#include "base/environment_variables.hpp"
#include "base/files/archive.hpp"
#include "base/files/build_id.hpp"
#include "base/files/emptied_json.hpp"
#include "base/files/file.hpp"
#include "base/files/folder.hpp"
#include "graph/graph_digest.hpp"
#include "launch/library.hpp"
#include "plan/policy/tunables.hpp"

namespace morton {

template <>
struct LastOf<CompileOptions::Tuning> {
  static constexpr auto value = CompileOptions::Tuning::ignore;
};
template <>
struct LastOf<CompileOptions::OtherShapes> {
  static constexpr auto value = CompileOptions::OtherShapes::leave;
};

}  // namespace morton

namespace morton::api {
namespace {

constexpr std::int64_t kMostFileBytes = std::int64_t{64} << 20;

std::vector<std::string> contents_of(const std::vector<std::string>& files) {
  std::vector<std::string> digests;
  for (const std::string& file : files) {
    digests.push_back(digest_of(read_file(file, kMostFileBytes)));
  }
  return digests;
}

/// Adds the name and the content of each .json file of the folder, in the order of their names.
void add_files(const std::filesystem::path& folder, std::string& text) {
  std::error_code status;
  std::vector<std::filesystem::path> files;
  if (folder.empty()) return;
  for (const auto& file : entries_of(folder, status)) {
    if (file.extension() == ".json") files.push_back(file);
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    text += file.filename().string() + "\n" + digest_of(read_file(file, kMostFileBytes)) + "\n";
  }
}

/// What of the options a plan depends on. Every member is named, so that somebody decides about a
/// new one.
std::string text_of(const CompileOptions& options) {
  const auto& [batch, shapes, values, feeds, use, exclude, local, tunables, tuning, tuning_files,
               cache_dir, precision, limits, skip_passes, weights, catalogue_files, launches, also,
               other_shapes, self_test, start, fallback, unkept, log, progress] = options;
  ArchiveWriter writer;
  writer(batch, shapes, values, feeds, use, exclude, local, tunables, tuning,
         contents_of(tuning_files), precision.operands, precision.sums,
         limits.workspace_bytes.value_or(-1), limits.weight_bytes.value_or(-1),
         limits.kernel_ms.value_or(0), skip_passes, contents_of(catalogue_files),
         static_cast<int>(launches), other_shapes, static_cast<int>(self_test));
  return writer.take();
}

}  // namespace

std::string KeptPlanKey::name() const { return digest_of(lasting + measured); }

std::string measured_digest(const Store& store) {
  std::string text;
  if (store.tuning == CompileOptions::Tuning::use) add_files(tuning_folder(store.folder), text);
  // A file of verdicts is there as soon as a kernel was tried, and mostly holds none.
  TunedData found;
  for (const std::string& problem : read_self_test_verdicts(store.folder, found)) text += problem;
  for (const Verdict& verdict : found.verdicts()) {
    text += "\n" + verdict.device.fingerprint + " " + verdict.kernel + " " + verdict.hash + " " +
            print_tunables(verdict.tunables);
  }
  return digest_of(text);
}

KeptPlanKey kept_plan_key(const Model& model, const CompileOptions& options, const Store& store,
                          const DeviceInfo& device) {
  const bool has_digests = !build_id().empty() && !environment_variable("MORTON_KERNEL_DIR") &&
                           !environment_variable("MORTON_CLBLAST_PARAMETERS");
  if (!has_digests || !options.also.empty()) return {};
  // A file of a plan does not say how nodes were cut.
  if (options.limits.kernel_ms || options.limits.weight_bytes) return {};
  const Graph& graph = Inside::of(model);
  const auto is_state = [](const GraphTensor& tensor) {
    return tensor.kind == GraphTensor::Kind::state;
  };
  if (std::ranges::any_of(graph.tensors, is_state)) return {};
  const EmptiedJson facts(to_json(device));
  std::string text = build_id() + "\n" + (*facts).dump() + "\n" + graph_digest(graph) + "\n";
  for (const std::string& library : available_libraries()) text += library + " ";
  text += std::to_string(Inside::limits_of(model).folded_bytes);
  return {digest_of(text + "\n" + text_of(options)), measured_digest(store)};
}

}  // namespace morton::api
