// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/r17_network.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/files/json_reader.hpp"
#include "base/shape.hpp"

namespace morton::formats {
namespace {

namespace fs = std::filesystem;

/// Far above any list of layers; refuses a file that was named by mistake.
constexpr std::int64_t kFileLimitBytes = std::int64_t{16} << 20;
constexpr const char* kAffine = "AffineLayer";
constexpr const char* kBatch = "batch";

/// A layer without parameters, and the operator that computes it.
struct Activation {
  const char* layer;
  const char* op;
};
constexpr Activation kActivations[] = {{"SigmoidLayer", "Sigmoid"}, {"ReLULayer", "Relu"}};

/// Builds the graph layer by layer.
class NetworkReader {
 public:
  NetworkReader(JsonReader reader, NamedFiles files, const LoadLimits& limits)
      : reader_(std::move(reader)), files_(std::move(files)), budget_(limits) {}

  Graph build(const std::string& name) {
    reader_.allow_keys({"layers", "size"});
    const std::vector<JsonReader> layers = reader_.at("layers").elements();
    const JsonReader size = reader_.at("size");
    if (size.integer() != static_cast<std::int64_t>(layers.size())) {
      size.fail("is " + std::to_string(size.integer()) + ", but there are " +
                std::to_string(layers.size()) + " layers");
    }
    graph_.name = name;
    for (const JsonReader& layer : layers) add_layer(layer);
    if (affine_ == 0) reader_.at("layers").fail("holds no AffineLayer: how large are the inputs?");
    GraphTensor& output = graph_.tensor(current_);
    output.name = "output";
    output.declared = {{rows_, ""}, {0, kBatch}};
    graph_.outputs = {current_};
    verify(graph_, reader_.where());
    return std::move(graph_);
  }

 private:
  void add_layer(const JsonReader& layer) {
    budget_.require_time(layer.where());
    const std::string kind = layer.at("layer").text();
    if (kind == kAffine) return add_affine(layer);
    for (const Activation& activation : kActivations) {
      if (kind != activation.layer) continue;
      layer.allow_keys({"layer"});
      if (affine_ == 0) layer.fail("the first layer must be an AffineLayer, got " + kind);
      return add_node(activation.op,
                      std::string(activation.op) + "_" + std::to_string(++activations_),
                      {current_});
    }
    layer.at("layer").fail("unknown layer '" + kind +
                           "' (known: AffineLayer, SigmoidLayer, ReLULayer)");
  }

  void add_affine(const JsonReader& layer) {
    layer.allow_keys({"layer", "weights", "biases"});
    Tensor weights = read_matrix(layer.at("weights"));
    Tensor biases = read_matrix(layer.at("biases"));
    const std::int64_t height = weights.shape()[0];
    const std::int64_t depth = weights.shape()[1];
    if (affine_ == 0) {
      add_input(depth);
    } else if (depth != rows_) {
      layer.at("weights").fail("the matrix has " + std::to_string(depth) +
                               " columns, but the layer before gives " + std::to_string(rows_) +
                               " rows");
    }
    if (biases.shape() != Shape{height, 1}) {
      layer.at("biases").fail("the matrix is " + to_string(biases.shape()) + "; weights of " +
                              std::to_string(height) + " rows need " + to_string(Shape{height, 1}));
    }
    rows_ = height;
    const std::string name = "affine_" + std::to_string(++affine_);
    const TensorId w = add_constant(name + ".weights", std::move(weights));
    const TensorId b = add_constant(name + ".biases", std::move(biases));
    add_node("MatMul", name + ".product", {w, current_});
    add_node("Add", name, {current_, b});
  }

  Tensor read_matrix(const JsonReader& key) {
    try {
      return read_r17_matrix(files_, key.text(), budget_);
    } catch (const ModelError& error) {
      throw ModelError(key.where() + ": " + error.message());
    }
  }

  void add_input(std::int64_t rows) {
    GraphTensor tensor;
    tensor.name = "input";
    tensor.kind = GraphTensor::Kind::input;
    tensor.declared = {{rows, ""}, {0, kBatch}};
    current_ = graph_.add_tensor(std::move(tensor));
    graph_.inputs = {current_};
  }

  TensorId add_constant(const std::string& name, Tensor data) {
    return graph_.add_tensor(graph::constant_tensor(name, std::move(data)));
  }

  void add_node(const std::string& op, const std::string& name, std::vector<TensorId> inputs) {
    budget_.take_node(reader_.where());
    GraphTensor result;
    result.name = name;
    current_ = graph_.add_tensor(std::move(result));
    Node node;
    node.op = op;
    node.name = name;
    node.inputs = std::move(inputs);
    node.outputs = {current_};
    graph_.nodes.push_back(std::move(node));
  }

  JsonReader reader_;
  NamedFiles files_;
  LoadBudget budget_;
  Graph graph_;
  TensorId current_ = kNoTensor;
  std::int64_t rows_ = 0;  ///< of the current tensor
  int affine_ = 0;         ///< affine layers so far
  int activations_ = 0;
};

/// A layer that is to be written.
struct Layer {
  std::string kind;
  Tensor weights, biases;  ///< of affine layers
};

[[noreturn]] void refuse(const Node& node, const std::string& why) {
  throw UnsupportedError(
      "node '" + node.name + "' (" + node.op + "): " + why +
      "; a network definition holds MatMul(weights, input) + biases, Sigmoid and "
      "Relu, one behind the other, with inputs as columns. Write an .onnx file");
}

/// The f32 constant `id`, or nullptr.
const Tensor* constant_of(const Graph& graph, TensorId id) {
  if (id == kNoTensor) return nullptr;
  const GraphTensor& tensor = graph.tensor(id);
  const bool fits = tensor.kind == GraphTensor::Kind::constant && tensor.dtype == DType::f32;
  return fits ? &tensor.data : nullptr;
}

/// The layers that the nodes of a graph are, in order.
std::vector<Layer> layers_of(const Graph& graph) {
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
    throw UnsupportedError("a network definition has one input and one output; the model has " +
                           std::to_string(graph.inputs.size()) + " and " +
                           std::to_string(graph.outputs.size()));
  }
  std::vector<Layer> layers;
  TensorId current = graph.inputs[0];
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.epilogue.is_identity()) refuse(node, "carries an epilogue");
    if (node.op == "MatMul" && node.inputs.size() == 2) {
      const Tensor* weights = constant_of(graph, node.inputs[0]);
      const Node* add = n + 1 < graph.nodes.size() ? &graph.nodes[n + 1] : nullptr;
      if (weights == nullptr || weights->shape().size() != 2 || node.inputs[1] != current) {
        refuse(node, "does not multiply a matrix of weights by the layer before");
      }
      const bool adds = add != nullptr && add->op == "Add" && add->inputs.size() == 2 &&
                        add->inputs[0] == node.outputs[0] && add->epilogue.is_identity();
      const Tensor* biases = adds ? constant_of(graph, add->inputs[1]) : nullptr;
      if (biases == nullptr || biases->shape() != Shape{weights->shape()[0], 1}) {
        refuse(node, "is not followed by an Add of a column of biases");
      }
      layers.push_back({kAffine, *weights, *biases});
      current = add->outputs[0];
      ++n;
      continue;
    }
    const Activation* found = nullptr;
    for (const Activation& activation : kActivations) {
      if (node.op == activation.op) found = &activation;
    }
    if (found == nullptr) refuse(node, "no layer computes it");
    if (node.inputs != std::vector<TensorId>{current})
      refuse(node, "does not follow the layer before");
    layers.push_back({found->layer, {}, {}});
    current = node.outputs[0];
  }
  if (current != graph.outputs[0]) {
    throw UnsupportedError("the output '" + graph.tensor(graph.outputs[0]).name +
                           "' is not the result of the last layer");
  }
  return layers;
}

}  // namespace

Graph import_r17_network(const fs::path& path, const LoadOptions& options) {
  const std::string text = read_file(path, kFileLimitBytes);
  LoadBudget(options.limits).require_file(static_cast<std::int64_t>(text.size()), path.string());
  const Json json = parse_json(text, path.string());
  const NamedFiles files(path.parent_path(), options);
  return NetworkReader(JsonReader(json, path.string()), files, options.limits)
      .build(path.stem().string());
}

void export_r17_network(const Graph& graph, const fs::path& path, MatrixData data) {
  Json list = Json::array();
  int affine = 0;
  for (const Layer& layer : layers_of(graph)) {
    Json item = {{"layer", layer.kind}};
    if (layer.kind == kAffine) {
      const std::string prefix = path.stem().string() + "_" + std::to_string(++affine);
      const std::string weights = prefix + "_w.json";
      const std::string biases = prefix + "_b.json";
      write_r17_matrix(path.parent_path() / weights, layer.weights, data);
      write_r17_matrix(path.parent_path() / biases, layer.biases, data);
      item["weights"] = weights;
      item["biases"] = biases;
    }
    list.push_back(std::move(item));
  }
  const Json json = {{"layers", list}, {"size", list.size()}};
  write_file_atomically(path, json.dump(2) + "\n");
}

}  // namespace morton::formats
