// SPDX-License-Identifier: Apache-2.0
//
// Computes models for tests/graphs/random_graphs.py, one for each line of its input, in one process
// that keeps the kernels that it has built: graph_runner CACHE-FOLDER.
//
// A line is a JSON object: `folder`, which holds model.onnx and inputs.npz, and `wish`, a list of
// - "reference": the operators' references in double, to reference.npz: of output i the arrays
// `value_i` and `error_i`;
// - "generic": generic kernels alone (an interim plan), to generic.npz, with the outputs' names;
// - "fast": the plan that a user gets, to fast.npz.
// The answer is a line too: of each wish what came of it.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/arrays/npy.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "morton/morton.hpp"
#include "passes/pipeline.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const char* word_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::usage:
      return "usage";
    case ErrorClass::model:
      return "model";
    case ErrorClass::unsupported:
      return "unsupported";
    case ErrorClass::device:
      return "device";
    case ErrorClass::internal:
      break;
  }
  return "internal";
}

/// What `compute` says of itself, or the error that it ends with.
template <typename Compute>
Json outcome_of(const Compute& compute) {
  try {
    Json said = compute();
    said["ended"] = "well";
    return said;
  } catch (const Error& error) {
    return {{"ended", word_of(error.error_class())}, {"why", error.what()}};
  } catch (const std::exception& error) {
    return {{"ended", "foreign"}, {"why", error.what()}};
  }
}

Tensor of_doubles(const Shape& shape, const std::vector<double>& values) {
  Tensor tensor = Tensor::allocate(DType::f64, shape);
  std::ranges::copy(values, tensor.as_mutable<double>().begin());
  return tensor;
}

/// Without the passes that only make a graph faster.
Graph stated(const fs::path& model, const std::vector<NamedTensor>& inputs) {
  PassOptions options;
  for (const NamedTensor& input : inputs) {
    options.shapes[input.name] = input.tensor.shape();
    options.values[input.name] = input.tensor;
  }
  for (const Pass& pass : all_passes()) {
    if (pass.need == Pass::Need::optional) options.skip.emplace_back(pass.name);
  }
  Graph graph = import_onnx(model);
  run_passes(graph, options);
  return graph;
}

Json reference(const fs::path& folder, const std::vector<NamedTensor>& inputs) {
  const Graph graph = stated(folder / "model.onnx", inputs);
  const std::vector<ReferenceTensor> outputs = reference_outputs(graph, inputs);
  std::vector<NamedTensor> arrays;
  for (std::size_t i = 0; i < outputs.size() - graph.counting_outputs; ++i) {
    const std::string number = std::to_string(i);
    arrays.push_back({"value_" + number, of_doubles(outputs[i].shape, outputs[i].value)});
    arrays.push_back({"error_" + number, of_doubles(outputs[i].shape, outputs[i].error)});
  }
  write_npz(folder / "reference.npz", arrays);
  // Of an output that a run finds the length of, the reference has the bound.
  Json late = Json::array();
  for (const OutputCount& count : graph.counts) {
    late.push_back(std::ranges::find(graph.outputs, count.output) - graph.outputs.begin());
  }
  return {{"late", late}};
}

/// The options at the inputs' shapes, with the values that planning needs.
CompileOptions options_for(const Model& model, const std::vector<NamedTensor>& inputs) {
  CompileOptions options;
  options.self_test = CompileOptions::SelfTest::off;  // what is wrong is to be seen
  options.other_shapes = CompileOptions::OtherShapes::leave;
  const std::vector<std::string> planned = model.summary().planned_inputs;
  for (const NamedTensor& input : inputs) {
    options.shapes[input.name] = input.tensor.shape();
    if (std::ranges::find(planned, input.name) != planned.end())
      options.values[input.name] = input.tensor;
  }
  return options;
}

Json on_device(const fs::path& folder, const std::string& wish,
               const std::vector<NamedTensor>& inputs, const Device& device) {
  const Model model = Model::load((folder / "model.onnx").string());
  CompileOptions options = options_for(model, inputs);
  if (wish == "generic") options.start = CompileOptions::Start::interim_alone;
  Json said = {{"built", 0}, {"segments", false}};
  std::vector<NamedTensor> outputs;
  const int built = device.program_builds();
  try {
    const CompiledModel compiled = compile(model, device, options);
    Session session(compiled);
    outputs = session.run(inputs);
  } catch (const NeedsSegments&) {
    options.shapes.clear();
    options.values.clear();
    SegmentedSession session(model, device, options);
    outputs = session.run(inputs);
    said["segments"] = true;
  }
  said["built"] = device.program_builds() - built;
  write_npz(folder / (wish + ".npz"), outputs);
  return said;
}

Json answer(const Json& asked, const Device& device) {
  const fs::path folder = asked.at("folder").get<std::string>();
  std::vector<NamedTensor> inputs;
  if (fs::exists(folder / "inputs.npz")) inputs = read_npz(folder / "inputs.npz");
  Json said;
  for (const std::string wish : asked.at("wish")) {
    said[wish] = outcome_of([&] {
      return wish == "reference" ? reference(folder, inputs)
                                 : on_device(folder, wish, inputs, device);
    });
  }
  return said;
}

}  // namespace
}  // namespace morton::test

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: graph_runner CACHE-FOLDER\n";
    return 2;
  }
  const morton::Device device = morton::Device::open("", {words[1]});
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << morton::test::answer(nlohmann::json::parse(line), device)
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}
