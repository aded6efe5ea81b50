// SPDX-License-Identifier: Apache-2.0
#ifdef MORTON_HAS_CLBLAST
#include "launch/clblast_parameters.hpp"

#include <clblast_c.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"

namespace morton::launch {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;

}  // namespace

void use_clblast_parameters(const OpenClDevice& device) {
  const auto path = environment_variable("MORTON_CLBLAST_PARAMETERS");
  if (!path) return;
  const Json json = parse_json(read_file(*path, kMostBytes), *path);
  const JsonReader reader(json, *path);
  for (const auto& [kernel, parameters] : reader.at("kernels").members()) {
    std::vector<std::string> names;
    std::vector<std::size_t> values;
    for (const auto& [name, value] : parameters.members()) {
      if (value.integer() < 0) value.fail("expected 0 or more");
      names.push_back(name);
      values.push_back(static_cast<std::size_t>(value.integer()));
    }
    std::vector<const char*> texts;
    for (const std::string& name : names) texts.push_back(name.c_str());
    const CLBlastStatusCode status =
        CLBlastOverrideParameters(device.device()(), kernel.c_str(), CLBlastPrecisionSingle,
                                  names.size(), texts.data(), values.data());
    if (status != CLBlastSuccess) {
      throw DeviceError(*path + ": CLBlastOverrideParameters for " + kernel + " returned status " +
                        std::to_string(static_cast<int>(status)) +
                        " (CLBlastStatusCode in clblast_c.h): each kernel needs all its "
                        "parameters, as bench/clblast_tune.py writes them");
    }
  }
}

}  // namespace morton::launch
#endif
