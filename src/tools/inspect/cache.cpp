// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/cache.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/cache/cache_folder.hpp"
#include "api/cache/tried_kernels.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/folder.hpp"
#include "base/files/trusted.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/measured/tuned_store.hpp"
#include "plan/policy/tunables.hpp"

namespace morton {
using namespace tools;
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFileLimitBytes = std::int64_t{64} << 20;

fs::path known_folder(const std::string& cache_dir) {
  fs::path folder = cache_folder(cache_dir);
  if (folder.empty()) {
    throw UsageError("no cache folder is known: give " + setting("cache_dir") +
                     ", or set MORTON_CACHE_DIR");
  }
  return folder;
}

/// Regular files of the folder with this extension in their names: at the end, or before the mark
/// of one that a kill left unfinished. None where there is no folder.
std::vector<fs::path> files_named(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code status;
  for (const fs::path& file : entries_of(folder, status)) {
    const std::string name = file.filename().string();
    if (fs::is_regular_file(file, status) && name.find(extension) != std::string::npos) {
      files.push_back(file);
    }
  }
  return files;
}

/// Those that end with it.
std::vector<fs::path> files_of(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files = files_named(folder, extension);
  std::erase_if(files, [&](const fs::path& file) { return file.extension() != extension; });
  return files;
}

std::int64_t remove_all(const std::vector<fs::path>& files) {
  std::int64_t removed = 0;
  for (const fs::path& file : files) {
    std::error_code status;
    if (fs::remove(file, status)) ++removed;
    if (status) throw UsageError(file.string() + ": cannot be removed: " + status.message());
  }
  return removed;
}

/// Stores one device's data in its file.
std::int64_t import_device(const fs::path& folder, const Json& json, const std::string& file,
                           const Catalogue& catalogue) {
  TunedData data;
  const TunedDevice device = read_tuning(json, file, data);
  const auto records = static_cast<std::int64_t>(data.records().size());
  store_tuning(tuning_file(folder, device), device, std::move(data), catalogue);
  return records;
}

/// The verdicts of one device's self-tests, and how many kernels beside them are right.
CachedSelfTest self_test_in(const fs::path& verdicts) {
  TunedData data;
  CachedSelfTest found;
  found.file = verdicts.string();
  found.device = read_tuning_file(verdicts, data).name;
  for (const Verdict& verdict : data.verdicts()) {
    const std::string values = print_tunables(verdict.tunables);
    found.refused.push_back(verdict.kernel + (values.empty() ? "" : " " + values) + ": " +
                            verdict.why);
  }
  const fs::path right = fs::path(verdicts).replace_extension(".txt");
  std::error_code status;
  if (fs::exists(right, status)) {
    found.right = static_cast<std::int64_t>(read_tried_kernels(right).size());
  }
  return found;
}

/// Reads each file; a damaged one is listed as a problem and hides no other.
template <typename Read>
void for_each_sound(const std::vector<fs::path>& files, CacheContent& content, const Read& read) {
  for (const fs::path& file : files) {
    try {
      read(file);
    } catch (const ModelError& error) {
      content.problems.emplace_back(error.what());
    }
  }
}

}  // namespace

std::string made_cache_folder(const std::string& cache_dir, const std::string& inner) {
  const fs::path folder = trusted_cache(known_folder(cache_dir)) / inner;
  make_private_folder(folder);
  return folder.string();
}

std::string cache_folder_named(const std::string& cache_dir) {
  return known_folder(cache_dir).string();
}

std::string why_cache_keeps_nothing(const std::string& cache_dir) {
  const fs::path folder = known_folder(cache_dir);
  if (const auto why = why_cache_not_trusted(folder)) return *why;
  return why_not_kept_in(folder / "programs");
}

CacheContent cache_content(const std::string& cache_dir) {
  const fs::path folder = known_folder(cache_dir);
  CacheContent content;
  content.folder = folder.string();
  std::error_code status;
  if (!fs::is_directory(folder, status)) {
    content.missing = fs::exists(folder, status) ? "it is no folder" : "there is no such folder";
    return content;
  }
  for (const fs::path& file : files_of(folder / "programs", ".bin")) {
    ++content.programs;
    content.program_bytes += static_cast<std::int64_t>(fs::file_size(file, status));
  }
  for (const char* extension : {".plan", ".tensors"}) {
    for (const fs::path& file : files_of(folder / "plans", extension)) {
      content.plans += file.extension() == ".plan" ? 1 : 0;
      content.plan_bytes += static_cast<std::int64_t>(fs::file_size(file, status));
    }
  }
  for_each_sound(files_of(tuning_folder(folder), ".json"), content, [&](const fs::path& file) {
    TunedData data;
    const TunedDevice device = read_tuning_file(file, data);
    content.tuning.push_back({file.string(), device.name,
                              static_cast<std::int64_t>(data.records().size()),
                              static_cast<std::int64_t>(data.verdicts().size()),
                              static_cast<std::int64_t>(data.static_costs().size())});
  });
  content.journals =
      static_cast<std::int64_t>(files_of(tuning_folder(folder) / "journal", ".jsonl").size());
  for_each_sound(files_of(self_test_folder(folder), ".json"), content,
                 [&](const fs::path& file) { content.self_tests.push_back(self_test_in(file)); });
  return content;
}

std::int64_t clear_cache(const std::string& cache_dir, CachePart part) {
  const fs::path folder = known_folder(cache_dir);
  std::int64_t removed = 0;
  const auto clears = [&](CachePart one) { return part == one || part == CachePart::all; };
  if (clears(CachePart::programs)) {
    removed += remove_all(files_named(folder / "programs", ".bin"));
    // Left by builds that were ended at once.
    removed += remove_all(files_of(folder / "programs", ".lock"));
  }
  if (clears(CachePart::plans)) {
    removed += remove_all(files_named(folder / "plans", ".plan"));
    removed += remove_all(files_named(folder / "plans", ".tensors"));
  }
  if (clears(CachePart::tuning)) {
    removed += remove_all(files_of(tuning_folder(folder), ".json"));
    removed += remove_all(files_of(tuning_folder(folder) / "journal", ".jsonl"));
  }
  if (clears(CachePart::self_test)) {
    removed += remove_all(files_of(self_test_folder(folder), ".json"));
    removed += remove_all(files_of(self_test_folder(folder), ".txt"));
  }
  return removed;
}

std::string export_tuning(const std::string& cache_dir) {
  Json devices = Json::array();
  for (const fs::path& file : files_of(tuning_folder(known_folder(cache_dir)), ".json")) {
    TunedData checked;
    static_cast<void>(read_tuning_file(file, checked));
    devices.push_back(parse_json(read_file(file, kFileLimitBytes), file.string()));
  }
  return Json{{"schema", 1}, {"devices", devices}}.dump(1, ' ', false,
                                                        Json::error_handler_t::replace) +
         "\n";
}

std::int64_t import_tuning(const std::string& cache_dir, const std::string& text,
                           const std::string& file) {
  const fs::path folder = tuning_folder(trusted_cache(known_folder(cache_dir)));
  const Json json = parse_json(text, file);
  const std::vector<JsonReader> parts = tuning_parts(JsonReader(json, file));
  // Nothing is stored unless all of it is right.
  for (const JsonReader& part : parts) {
    TunedData checked;
    static_cast<void>(read_tuning(part.json(), part.where(), checked));
  }
  const Catalogue& catalogue = *Catalogue::shared();
  std::int64_t records = 0;
  for (const JsonReader& part : parts) {
    records += import_device(folder, part.json(), part.where(), catalogue);
  }
  return records;
}

void add_tuning(const std::string& into, const std::string& text, const std::string& file) {
  TunedData data;
  const TunedDevice device = read_tuning(parse_json(text, file), file, data);
  store_tuning(into, device, std::move(data), *Catalogue::shared());
}

void require_tuning_file(const std::string& into, const std::string& device_json) {
  require_storable(into, TunedDevice::of(device_info_from_text(device_json)));
}

}  // namespace morton
