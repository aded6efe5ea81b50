// SPDX-License-Identifier: Apache-2.0
#include "fuzz/planned_model.hpp"

#include <filesystem>
#include <string>

#include "base/files/file.hpp"
#include "catalogue/catalogue.hpp"
#include "passes/pipeline.hpp"
#include "plan/ir/verify.hpp"
#include "plan/make_plan.hpp"
#include "plan/policy/plan_options.hpp"
#include "support/networks.hpp"

namespace morton::test {

const DeviceInfo& fuzzed_device() {
  static const DeviceInfo kDevice = [] {
    const auto path = std::filesystem::path(MORTON_SOURCE_DIR) / "tests/devices/pocl_cpu.json";
    return device_info_from_text(read_file(path, 1 << 20));
  }();
  return kDevice;
}

Graph prepared(Graph graph) {
  PassOptions options;
  for (const TensorId id : graph.inputs) {
    const GraphTensor& input = graph.tensor(id);
    if (!input.form.is_tensor()) continue;
    bool is_open = false;
    Shape shape;
    for (const auto& extent : input.declared) {
      is_open |= !extent.symbol.empty();
      shape.push_back(extent.symbol.empty() ? extent.value : 2);
    }
    if (is_open) options.shapes[input.name] = shape;
  }
  (void)run_passes(graph, options);
  return graph;
}

Plan planned(const Graph& graph) {
  static const auto kCatalogue = Catalogue::shared();
  Plan plan = make_plan(graph, *kCatalogue, fuzzed_device(), PlanOptions{});
  verify(plan, fuzzed_device());
  return plan;
}

Graph small_network() {
  NetworkBuilder network("small", 1);
  const TensorId x = network.input("x", {-1, 2, 5, 5});
  const TensorId y = network.relu(network.conv(x, 2, 3, {.size = 3}));
  network.output(network.dense(network.node("Flatten", {y}), 27, 4));
  return network.finish();
}

}  // namespace morton::test
