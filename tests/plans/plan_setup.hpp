// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "catalogue/catalogue.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "passes/pipeline.hpp"
#include "plan/ir/plan.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// The devices saved in tests/devices.
inline std::vector<std::string> saved_devices() {
  return {"adreno_530", "mali_t628", "nvidia_h200", "pocl_avx2",
          "pocl_cpu",   "pocl_neon", "pocl_sse4"};
}

inline DeviceInfo saved_device(const std::string& name) {
  const auto path =
      std::filesystem::path(MORTON_SOURCE_DIR) / "tests" / "devices" / (name + ".json");
  const Json json = parse_json(read_file(path, 1 << 20), path.string());
  return device_info_from_json(JsonReader(json, path.string()));
}

/// "lenet5", "mlp", "small_cnn" or "residual".
inline Graph network_named(const std::string& name) {
  if (name == "mlp") return make_mlp(1);
  if (name == "small_cnn") return make_small_cnn(2);
  if (name == "residual") return make_residual_network(3);
  return import_onnx(std::filesystem::path(MORTON_SOURCE_DIR) / "models" / (name + ".onnx"));
}

/// After all passes, as the planner gets it.
inline Graph prepared(Graph graph, std::int64_t batch) {
  PassOptions options;
  options.batch = batch;
  run_passes(graph, options);
  return graph;
}

inline Plan plan_of(const Graph& graph, std::int64_t batch, const DeviceInfo& device,
                    const PlanOptions& options = {}) {
  return make_plan(prepared(graph, batch), Catalogue::standard(), device, options);
}

/// The launch of a step that launches a kernel, to change it.
inline KernelLaunch& launch_in(Step& step) { return std::get<KernelLaunch>(step.action); }

/// Number of steps that run `kernel`.
inline std::int64_t count_of(const Plan& plan, const std::string& kernel) {
  return std::count_if(plan.steps.begin(), plan.steps.end(),
                       [&](const Step& step) { return step.kernel == kernel; });
}

}  // namespace morton::test
