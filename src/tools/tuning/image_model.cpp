// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/image_model.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "graph/graph.hpp"
#include "problems/conv2d_pool.hpp"

namespace morton::tools {
namespace {

constexpr std::int64_t kPosedOpset = 13;

/// A graph of one node or two that read an image, in the making. The image, the filters and the
/// bias are as large as the problem says.
class ImageGraph {
 public:
  explicit ImageGraph(const TunedProblem& problem) : values_(problem.extents) {
    values_.insert(problem.structure.begin(), problem.structure.end());
    graph_.name = problem.family.name();
    graph_.opset = kPosedOpset;
    last_ = add_input("src", {at("N"), at("C"), at("H"), at("W")});
  }

  [[nodiscard]] std::int64_t at(const std::string& name) const { return values_.at(name); }

  template <typename Structure>
  [[nodiscard]] Structure structure() const {
    return structure_of<Structure>(values_);
  }

  Model finish() {
    graph_.tensor(last_).name = "dst";
    graph_.outputs.push_back(last_);
    verify(graph_, "single problem");
    return Inside::make(std::move(graph_));
  }

  /// From one image size to another.
  struct Sizes {
    SlidingWindow::Pair in, out;
  };

  /// A node that scans what the last one computed.
  Node scan(const std::string& op, const SlidingWindow& window, const Sizes& sizes) const {
    Node node = after_last(op);
    const auto both = [](const SlidingWindow::Pair& pair) {
      return std::vector<std::int64_t>(pair.begin(), pair.end());
    };
    node.attributes["kernel_shape"] = both(window.kernel);
    node.attributes["strides"] = both(window.stride);
    if (window.dilation != SlidingWindow::Pair{1, 1}) {
      node.attributes["dilations"] = both(window.dilation);
    }
    std::vector<std::int64_t> pads = both(window.before);
    for (std::size_t d = 0; d < 2; ++d) {
      // Behind the image; the last window need not reach its end.
      const std::int64_t end = (sizes.out[d] - 1) * window.stride[d] + window.reach(d);
      pads.push_back(std::max<std::int64_t>(end - sizes.in[d] - window.before[d], 0));
    }
    node.attributes["pads"] = pads;
    return node;
  }

  enum class Bias : std::uint8_t { none, added };

  void add_convolution(const Conv2dStructure& conv, const Sizes& sizes, Bias bias) {
    Node node = scan("Conv", conv.window, sizes);
    node.attributes["group"] = conv.groups;
    node.inputs.push_back(add_input(
        "weights", {at("O"), conv.channels, conv.window.kernel[0], conv.window.kernel[1]}));
    if (bias == Bias::added) node.inputs.push_back(add_input("bias", {at("O")}));
    add_node(std::move(node));
  }

  void add_max_pool(const SlidingWindow& window, const Sizes& sizes) {
    add_node(scan("MaxPool", window, sizes));
  }

  void add_average_pool(const AveragePool2dStructure& pool, const Sizes& sizes) {
    Node node = scan("AveragePool", pool.window, sizes);
    // What hangs over counts for nothing, so that its padding must be what the problem says.
    auto& pads = std::get<std::vector<std::int64_t>>(node.attributes["pads"]);
    if (pads[2] > pool.after[0] || pads[3] > pool.after[1]) {
      node.attributes["ceil_mode"] = std::int64_t{1};
    }
    pads[2] = pool.after[0];
    pads[3] = pool.after[1];
    node.attributes["count_include_pad"] = static_cast<std::int64_t>(pool.count);
    add_node(std::move(node));
  }

  /// What the convolution's values go through before they are pooled.
  void add_map(PooledMap map) {
    static const std::vector<std::string> kOperators{"", "Relu", "Tanh", "Sigmoid"};
    const auto number = static_cast<std::size_t>(map);
    if (number >= kOperators.size()) throw UnsupportedError("tune: there is no such MAP");
    if (map != PooledMap::none) add_node(after_last(kOperators[number]));
  }

 private:
  TensorId add_tensor(const std::string& name, GraphTensor::Kind kind, const Shape& shape) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = kind;
    if (kind == GraphTensor::Kind::input) {
      for (const std::int64_t extent : shape) tensor.declared.push_back({extent, ""});
    }
    return graph_.add_tensor(std::move(tensor));
  }

  TensorId add_input(const std::string& name, const Shape& shape) {
    const TensorId id = add_tensor(name, GraphTensor::Kind::input, shape);
    graph_.inputs.push_back(id);
    return id;
  }

  Node after_last(const std::string& op) const {
    Node node;
    node.op = op;
    node.name = op;
    node.inputs = {last_};
    return node;
  }

  void add_node(Node node) {
    last_ = add_tensor("result of " + node.op, GraphTensor::Kind::activation, {});
    node.outputs.push_back(last_);
    graph_.nodes.push_back(std::move(node));
  }

  Environment values_;  ///< extents and structure
  Graph graph_;
  TensorId last_ = kNoTensor;
};

/// Files of others may name problems without some of their sizes.
void require_sizes(const TunedProblem& problem) {
  const auto require = [&](std::string_view name) {
    if (problem.extents.contains(name) || problem.structure.contains(name)) return;
    throw UnsupportedError("tune: the problem has no " + std::string(name));
  };
  for (const OperandSchema& schema : problem.family->operands) {
    std::ranges::for_each(schema.dimensions, require);
  }
  std::ranges::for_each(problem.family->structure, require);
  std::ranges::for_each(problem.family->parameters, require);
}

/// From the image to the result, in one node.
ImageGraph::Sizes whole_way(const ImageGraph& graph) {
  return {{graph.at("H"), graph.at("W")}, {graph.at("OH"), graph.at("OW")}};
}

void pose_conv2d(ImageGraph& graph) {
  graph.add_convolution(graph.structure<Conv2dStructure>(), whole_way(graph),
                        ImageGraph::Bias::none);
}

void pose_max_pool2d(ImageGraph& graph) {
  graph.add_max_pool(graph.structure<SlidingWindow>(), whole_way(graph));
}

void pose_average_pool2d(ImageGraph& graph) {
  graph.add_average_pool(graph.structure<AveragePool2dStructure>(), whole_way(graph));
}

void pose_conv2d_pool(ImageGraph& graph) {
  const auto both = graph.structure<Conv2dPoolStructure>();
  const SlidingWindow::Pair between{graph.at("RH"), graph.at("RW")};
  graph.add_convolution(both.conv, {whole_way(graph).in, between}, ImageGraph::Bias::added);
  graph.add_map(both.map);
  const ImageGraph::Sizes behind{between, whole_way(graph).out};
  if (both.combine == Conv2dPoolStructure::Combine::mean) {
    graph.add_average_pool({both.window, both.after, both.count}, behind);
  } else {
    graph.add_max_pool(both.window, behind);
  }
}

/// How the problems of a family of images are posed.
struct Posing {
  Family family;
  void (*add_nodes)(ImageGraph& graph) = nullptr;
  /// Whether the graph poses the problem itself, or two that the plan makes one.
  enum class Tasks : std::uint8_t { one, two } tasks = Tasks::one;
};

constexpr std::array kPosings{Posing{families::conv2d, pose_conv2d},
                              Posing{families::max_pool2d, pose_max_pool2d},
                              Posing{families::average_pool2d, pose_average_pool2d},
                              Posing{families::conv2d_pool, pose_conv2d_pool, Posing::Tasks::two}};

const Posing* find_posing(Family family) {
  const auto* const found = std::ranges::find(kPosings, family, &Posing::family);
  return found == kPosings.end() ? nullptr : found;
}

}  // namespace

bool reads_an_image(Family family) { return find_posing(family) != nullptr; }

bool is_made_of_two(Family family) {
  const Posing* posing = find_posing(family);
  return posing != nullptr && posing->tasks == Posing::Tasks::two;
}

Model image_model(const TunedProblem& problem) {
  require_sizes(problem);
  const Posing* posing = find_posing(problem.family);
  if (posing == nullptr) {
    throw InternalError("tune: " + problem.family.name() + " reads no image");
  }
  ImageGraph graph(problem);
  posing->add_nodes(graph);
  return graph.finish();
}

}  // namespace morton::tools
