// SPDX-License-Identifier: Apache-2.0
#include "common/read_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "common/conv_path.hpp"
#include "morton/architectures.hpp"
#include "morton/error.hpp"
#include "morton/tools/near_names.hpp"

namespace morton::cli {
namespace {

constexpr std::uint64_t kWeightsSeed = 1;

}  // namespace

bool names_architecture(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return false;
  std::vector<std::string> names;
  for (const ArchitectureInfo& known : architectures()) {
    if (known.name == path) return true;
    names.push_back(known.name);
  }
  // A dot or a slash is in no architecture's name.
  if (path.find_first_of("./") != std::string::npos) return false;
  throw UsageError(fmt::format("{}: no file has this name, and no architecture ({}){}", path,
                               fmt::join(names, ", "), did_you_mean(path, names)));
}

Model read_model(const ModelOptions& options) {
  const LoadOptions loading = load_options(options.loading);
  const Model model = names_architecture(options.path) ? new_model(options.path, kWeightsSeed)
                                                       : Model::load(options.path, loading);
  return prepared_for(find_conv_path(options.conv), model);
}

}  // namespace morton::cli
