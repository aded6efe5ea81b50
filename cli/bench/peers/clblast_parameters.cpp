// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/clblast_parameters.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

// Of clblast_c.h.
constexpr int kSingle = 32;
using Override = int(cl_device_id device, const char* kernel, int precision, std::size_t count,
                     const char** names, const std::size_t* values);

/// {"Xgemm": {"MWG": 64, ...}, ...}, where bench/clblast_tune.py writes it under "kernels". Throws
/// ModelError.
ClblastParameters read_parameters(const std::string& path) {
  try {
    return Json::parse(read_text(path)).at("kernels").get<ClblastParameters>();
  } catch (const Json::exception& error) {
    throw ModelError(fmt::format(
        "{}: expected an object with \"kernels\": {{\"Xgemm\": {{\"MWG\": 64, ...}}}}, as "
        "bench/clblast_tune.py writes it: {}",
        path, error.what()));
  }
}

}  // namespace

void require_clblast(int status, const std::string& what) {
  if (status == 0) return;
  throw DeviceError(fmt::format("clblast: {} returned status {} (CLBlastStatusCode in clblast_c.h)",
                                what, status));
}

void override_parameters(const SharedLibrary& library, cl_device_id device,
                         const ClblastParameters& parameters, const std::string& origin) {
  Override* call = nullptr;
  library.load("CLBlastOverrideParameters", call);
  for (const auto& [kernel, values] : parameters) {
    std::vector<const char*> names;
    std::vector<std::size_t> numbers;
    for (const auto& [name, value] : values) {
      names.push_back(name.c_str());
      numbers.push_back(value);
    }
    require_clblast(
        call(device, kernel.c_str(), kSingle, names.size(), names.data(), numbers.data()),
        fmt::format("CLBlastOverrideParameters for {} of {}", kernel, origin));
  }
}

void override_by_file(const SharedLibrary& library, cl_device_id device, const std::string& path) {
  override_parameters(library, device, read_parameters(path), path);
}

}  // namespace morton::cli
