// SPDX-License-Identifier: Apache-2.0
//
// How long planning takes, in milliseconds. Run it in the repository's root:
//
//     build/bench/planning --benchmark_repetitions=5
//
//     catalogue                reads and checks all entries and recipes, which a process does once
//     passes/NETWORK           the passes over the graph, constants folded
//     plan/NETWORK/DEVICE      make_plan: catalogue, tuning data and the graph are in memory
//
// The devices are files of tests/devices, so every machine plans the same.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/device/device_info.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "catalogue/catalogue.hpp"
#include "graph/architectures.hpp"
#include "passes/pipeline.hpp"
#include "plan/ir/plan.hpp"
#include "plan/make_plan.hpp"
#include "plan/measured/tuned_file.hpp"
#include "plan/policy/plan_options.hpp"

namespace {

using namespace morton;
using namespace morton::plan;

DeviceInfo saved_device(const std::string& name) {
  const std::string path = "tests/devices/" + name + ".json";
  const Json json = parse_json(read_file(path, 1 << 20), path);
  return device_info_from_json(JsonReader(json, path));
}

Graph network(const std::string& name) { return build(find_architecture(name), 1); }

/// One digit, or one picture of ImageNet's usual size.
PassOptions one_sample(const std::string& name) {
  PassOptions options;
  options.batch = 1;
  if (name != "lenet5") options.shapes["input"] = {1, 3, 224, 224};
  return options;
}

void read_catalogue(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Catalogue::from_folder("src/kernels"));
}

void passes(benchmark::State& state, const std::string& name) {
  const Graph graph = network(name);
  for (auto _ : state) {
    Graph prepared = graph;
    benchmark::DoNotOptimize(run_passes(prepared, one_sample(name)));
  }
}

void plan(benchmark::State& state, const std::string& name, const std::string& device_name) {
  Graph graph = network(name);
  run_passes(graph, one_sample(name));
  const Catalogue catalogue = Catalogue::standard();
  const DeviceInfo device = saved_device(device_name);
  auto tuned = std::make_shared<TunedData>();
  read_shipped_tuning(*tuned);
  PlanOptions options;
  options.tuned = std::move(tuned);
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(graph, catalogue, device, options));
}

void add_benchmarks() {
  benchmark::RegisterBenchmark("catalogue", read_catalogue)->Unit(benchmark::kMillisecond);
  for (const std::string name : {"lenet5", "mobilenet_v2", "resnet50"}) {
    benchmark::RegisterBenchmark(("passes/" + name).c_str(), passes, name)
        ->Unit(benchmark::kMillisecond);
    for (const std::string device : {"pocl_cpu", "nvidia_h200"}) {
      benchmark::RegisterBenchmark(("plan/" + name + "/" + device).c_str(), plan, name, device)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    add_benchmarks();
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "planning: %s\n", error.what());
    return 1;
  }
}
