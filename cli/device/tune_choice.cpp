// SPDX-License-Identifier: Apache-2.0
#include "device/tune_choice.hpp"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "morton/error.hpp"
#include "morton/tools/cache.hpp"

namespace morton::cli {

std::filesystem::path findings_file(const std::string& cache_dir, const std::string& job) {
  const std::filesystem::path folder = cache_folder_named(cache_dir);
  const std::filesystem::path journals = folder / "tuning" / "journal";
  std::filesystem::create_directories(journals);
  return journals / fmt::format("{:016x}.found.json", std::hash<std::string>{}(job));
}

std::string records_of(const std::string& text, const std::set<std::string>& kernels) {
  nlohmann::json file = nlohmann::json::parse(text);
  nlohmann::json kept = nlohmann::json::array();
  for (const auto& record : file.at("records")) {
    const auto kernel = record.at("kernel").get<std::string>();
    if (kernels.contains(kernel) || kernels.contains("batched_" + kernel)) kept.push_back(record);
  }
  file["records"] = std::move(kept);
  return file.dump();
}

}  // namespace morton::cli
