// SPDX-License-Identifier: Apache-2.0
#include "morton/model.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "api/inside.hpp"
#include "api/model/output_ports.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "formats/arrays/r17_network.hpp"
#include "formats/onnx/onnx_export.hpp"
#include "formats/onnx/onnx_import.hpp"
#include "graph/graph.hpp"
#include "morton/compiled_file.hpp"
#include "ops/core/operator.hpp"
#include "ops/core/planned.hpp"
#include "passes/shapes/list_inputs.hpp"

namespace morton {
using namespace api;
namespace {

/// In lower case, with its dot.
std::string extension_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

Graph read_graph(const std::filesystem::path& path, const LoadOptions& options) {
  if (CompiledFile::is_one(path.string())) {
    throw ModelError(path.string() +
                     ": is a compiled model; this needs the model that it was compiled from");
  }
  return extension_of(path) == ".json" ? import_r17_network(path, options)
                                       : import_onnx(path, options);
}

/// Counts constants and nodes, those inside of bodies too.
void count_all(const Graph& graph, ModelSummary& summary, std::map<std::string, int>& counts) {
  for (const auto& tensor : graph.tensors) {
    if (tensor.kind != GraphTensor::Kind::constant) continue;
    summary.parameters += tensor.data.size();
    summary.parameter_bytes += static_cast<std::int64_t>(tensor.data.bytes());
  }
  for (const auto& node : graph.nodes) {
    ++counts[node.op];
    for (const auto& [name, body] : node.bodies) count_all(*body.graph, summary, counts);
  }
}

}  // namespace

Model::Model(std::shared_ptr<const Graph> graph, const LoadLimits& limits)
    : graph_(std::move(graph)), limits_(limits) {}

Model Model::load(const std::string& path, const LoadOptions& options) {
  return Inside::make(read_graph(path, options), options.limits);
}

Model Model::from_bytes(std::string_view onnx, const std::string& name,
                        const LoadOptions& options) {
  return Inside::make(import_onnx(onnx, name, {}, options), options.limits);
}

void Model::save(const std::string& path, MatrixFormat matrices) const {
  const std::string extension = extension_of(path);
  if (extension == ".onnx") return export_onnx(*graph_, path);
  if (extension != ".json") {
    throw UsageError(path + ": models are written to .onnx and .json files");
  }
  export_r17_network(*graph_, path,
                     matrices == MatrixFormat::csv ? MatrixData::csv : MatrixData::binary);
}

std::vector<PortInfo> Model::inputs() const {
  std::vector<PortInfo> ports;
  for (const TensorId id : graph_->inputs) ports.push_back(to_port(graph_->tensor(id)));
  return ports;
}

std::vector<PortInfo> Model::inputs(const std::map<std::string, Shape>& shapes) const {
  PassOptions options;
  options.shapes = shapes;
  Graph graph = *graph_;
  open_list_inputs(graph, options);
  std::vector<PortInfo> ports;
  for (const TensorId id : graph.inputs) ports.push_back(to_port(graph.tensor(id)));
  return ports;
}

std::vector<PortInfo> Model::outputs() const { return output_ports(*graph_); }

ModelSummary Model::summary() const {
  ModelSummary summary;
  summary.name = graph_->name;
  summary.opset = graph_->opset;
  std::map<std::string, int> counts;
  count_all(*graph_, summary, counts);
  for (const auto& node : graph_->nodes) {
    try {
      check_supported(*graph_, node);
    } catch (const Error& error) {
      summary.unsupported.emplace_back(node.name, error.message());
    }
  }
  for (const TensorId id : planned_graph_inputs(*graph_)) {
    summary.planned_inputs.push_back(graph_->tensor(id).name);
  }
  for (const auto& node : graph_->nodes) {
    if (node.op != "ai.onnx.ml.ZipMap" || node.outputs.empty()) continue;
    summary.notes.push_back(
        "'" + graph_->tensor(node.outputs[0]).name +
        "' is a list of maps in the file; here it is a tensor with a row for each "
        "of the list and a column for each class");
  }
  summary.operators.assign(counts.begin(), counts.end());
  return summary;
}

ModelFacts Model::facts() const {
  const graph::FileFacts& facts = graph_->facts;
  return {facts.producer,    facts.producer_version,
          facts.domain,      facts.version,
          facts.description, facts.graph_description,
          facts.metadata,    {facts.left_out.begin(), facts.left_out.end()}};
}

std::vector<PortInfo> Model::replaceable_constants() const {
  std::map<std::string_view, const GraphTensor*> constants;
  for (const GraphTensor& tensor : graph_->tensors) {
    if (tensor.kind == GraphTensor::Kind::constant) constants[tensor.name] = &tensor;
  }
  std::vector<PortInfo> ports;
  for (const std::string& name : graph_->facts.replaceable) {
    const auto found = constants.find(name);
    if (found == constants.end()) continue;
    PortInfo port;
    port.name = name;
    port.dtype = found->second->dtype;
    port.shape = found->second->data.shape();
    ports.push_back(std::move(port));
  }
  return ports;
}

std::string Model::text() const { return print(*graph_); }

std::string Model::dot() const { return print_dot(*graph_); }

}  // namespace morton
