// SPDX-License-Identifier: Apache-2.0
#include "api/tuning/tune_problem.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/pooled_map.hpp"
#include "graph/graph.hpp"
#include "morton/compile.hpp"
#include "passes/pipeline.hpp"
#include "plan/search/cost.hpp"
#include "plan/search/join_pools.hpp"
#include "plan/search/tasks.hpp"

namespace morton::api {
namespace {

constexpr std::int64_t kPosedOpset = 13;

GemmShape::Order order_of(const TunedProblem& problem, const std::string& operand,
                          const std::string& transposed) {
  const auto order = problem.orders.find(operand);
  if (order == problem.orders.end()) return GemmShape::Order::plain;
  if (order->second == transposed) return GemmShape::Order::transposed;
  throw UnsupportedError("tune: " + operand + " is held as " + order->second +
                         ", which no matrix of a product is");
}

std::int64_t value_of(const Environment& values, const std::string& name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  throw UnsupportedError("tune: the problem has no " + name);
}

/// Where the names of a window's structure and extents are in a problem: those of a convolution
/// and of a pool behind it differ.
struct WindowNames {
  const char *kernel_h, *kernel_w, *stride_h, *stride_w, *top, *left;
  const char *in_h, *in_w, *out_h, *out_w;
};

constexpr WindowNames kOwn{"KH", "KW", "SH", "SW", "PT", "PL", "H", "W", "OH", "OW"};
constexpr WindowNames kFirst{"KH", "KW", "SH", "SW", "PT", "PL", "H", "W", "RH", "RW"};
constexpr WindowNames kBehind{"QH", "QW", "UH", "UW", "QT", "QL", "RH", "RW", "OH", "OW"};

/// A graph of one node or two, in the making.
class ImageGraph {
 public:
  explicit ImageGraph(const TunedProblem& problem) : problem_(problem) {
    graph_.name = problem.family;
    graph_.opset = kPosedOpset;
    values_ = problem.extents;
    values_.insert(problem.structure.begin(), problem.structure.end());
  }

  Model finish() {
    const std::string& family = problem_.family;
    TensorId result = add_input("src", {at("N"), at("C"), at("H"), at("W")});
    if (family == "conv2d" || family == "conv2d_pool") {
      const bool behind = family == "conv2d_pool";
      result = add_convolution(result, behind ? kFirst : kOwn);
      if (behind) result = add_map(result);
      if (behind) result = add_pool(result, kBehind, at("COMBINE") == 0, "QB", "QR");
    } else {
      result = add_pool(result, kOwn, family == "average_pool2d", "PB", "PR");
    }
    graph_.tensor(result).name = "dst";
    graph_.outputs.push_back(result);
    verify(graph_, "single problem");
    return Model(std::make_shared<const Graph>(std::move(graph_)));
  }

 private:
  [[nodiscard]] std::int64_t at(const std::string& name) const { return value_of(values_, name); }

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

  TensorId add_node(Node node) {
    node.name = node.op;
    const TensorId id = add_tensor("result of " + node.op, GraphTensor::Kind::activation, {});
    node.outputs.push_back(id);
    graph_.nodes.push_back(std::move(node));
    return id;
  }

  /// Padding behind the image that leads to `out` windows; a window need not reach its end.
  [[nodiscard]] std::int64_t padding_behind(const char* in, const char* out, const char* kernel,
                                            const char* stride, const char* before,
                                            std::int64_t dilation) const {
    const std::int64_t reach = (at(kernel) - 1) * dilation + 1;
    return std::max<std::int64_t>((at(out) - 1) * at(stride) + reach - at(in) - at(before), 0);
  }

  void set_window(Node& node, const WindowNames& names, std::int64_t dilation_h,
                  std::int64_t dilation_w) const {
    node.attributes["kernel_shape"] =
        std::vector<std::int64_t>{at(names.kernel_h), at(names.kernel_w)};
    node.attributes["strides"] = std::vector<std::int64_t>{at(names.stride_h), at(names.stride_w)};
    node.attributes["pads"] =
        std::vector<std::int64_t>{at(names.top), at(names.left),
                                  padding_behind(names.in_h, names.out_h, names.kernel_h,
                                                 names.stride_h, names.top, dilation_h),
                                  padding_behind(names.in_w, names.out_w, names.kernel_w,
                                                 names.stride_w, names.left, dilation_w)};
  }

  TensorId add_convolution(TensorId image, const WindowNames& names) {
    Node node;
    node.op = "Conv";
    set_window(node, names, at("DH"), at("DW"));
    node.attributes["dilations"] = std::vector<std::int64_t>{at("DH"), at("DW")};
    node.attributes["group"] = at("G");
    node.inputs = {image, add_input("weights", {at("O"), at("I"), at("KH"), at("KW")})};
    if (problem_.family == "conv2d_pool") node.inputs.push_back(add_input("bias", {at("O")}));
    return add_node(std::move(node));
  }

  /// What the convolution's values go through before they are pooled.
  TensorId add_map(TensorId input) {
    static const std::vector<std::string> kOperators{"", "Relu", "Tanh", "Sigmoid"};
    const auto map = static_cast<std::size_t>(at("MAP"));
    if (map == 0) return input;
    if (map >= kOperators.size()) throw UnsupportedError("tune: there is no such MAP");
    Node node;
    node.op = kOperators[map];
    node.inputs = {input};
    return add_node(std::move(node));
  }

  TensorId add_pool(TensorId image, const WindowNames& names, bool mean, const char* below,
                    const char* right) {
    Node node;
    node.op = mean ? "AveragePool" : "MaxPool";
    const std::int64_t dilation_h = names.kernel_h == kOwn.kernel_h ? at("DH") : 1;
    const std::int64_t dilation_w = names.kernel_h == kOwn.kernel_h ? at("DW") : 1;
    set_window(node, names, dilation_h, dilation_w);
    if (dilation_h != 1 || dilation_w != 1) {
      node.attributes["dilations"] = std::vector<std::int64_t>{dilation_h, dilation_w};
    }
    if (mean) {
      // What hangs over counts for nothing, so that its padding must be what the problem says.
      auto& pads = std::get<std::vector<std::int64_t>>(node.attributes["pads"]);
      if (pads[2] > at(below) || pads[3] > at(right))
        node.attributes["ceil_mode"] = std::int64_t{1};
      pads[2] = at(below);
      pads[3] = at(right);
      node.attributes["count_include_pad"] = at("COUNT_PAD");
    }
    node.inputs = {image};
    return add_node(std::move(node));
  }

  const TunedProblem& problem_;
  Environment values_;
  Graph graph_;
};

void require_f32(const TunedProblem& problem) {
  for (const auto& [operand, type] : problem.types) {
    if (type == "f32") continue;
    throw UnsupportedError("tune: measures problems of f32 only, not of " + type);
  }
}

bool is_of_images(const std::string& family) {
  return family == "conv2d" || family == "conv2d_pool" || family == "max_pool2d" ||
         family == "average_pool2d";
}

BoundProblem bound_in(const Model& model, const std::string& family) {
  Graph graph = model.graph();
  run_passes(graph, PassOptions{});
  const TaskList list = make_tasks(graph);
  if (family != "conv2d_pool") return list.tasks.front().bound;
  const auto both = joined_with_pool(list.tasks.at(0), list.tasks.at(1), list);
  if (!both) throw UnsupportedError("tune: no graph poses this problem of " + family);
  return both->bound;
}

}  // namespace

Model with_constants(const Model& model, const std::vector<NamedTensor>& constants) {
  Graph graph = model.graph();
  for (const NamedTensor& constant : constants) {
    const TensorId id = graph.find(constant.name);
    if (id == kNoTensor) throw InternalError("tune: no input '" + constant.name + "'");
    GraphTensor& tensor = graph.tensor(id);
    tensor.kind = GraphTensor::Kind::constant;
    tensor.declared.clear();
    tensor.shape = constant.tensor.shape();
    tensor.data = constant.tensor;
    std::erase(graph.inputs, id);
  }
  verify(graph, "problem with constants");
  return Model(std::make_shared<const Graph>(std::move(graph)));
}

Model model_of(const TunedProblem& problem) {
  if (problem.family == "gemm") return gemm_model(shape_of(problem));
  if (!is_of_images(problem.family)) {
    throw UnsupportedError("tune: measures products, convolutions and pools, not " +
                           problem.family);
  }
  require_f32(problem);
  Model model = ImageGraph(problem).finish();
  if (TunedProblem::of(bound_in(model, problem.family)) != problem) {
    throw UnsupportedError("tune: no graph poses this problem of " + problem.family);
  }
  return model;
}

BoundProblem bound_of(const TunedProblem& problem) {
  return bound_in(model_of(problem), problem.family);
}

std::vector<TunedProblem> parts_of(const TunedProblem& problem) {
  if (problem.family != "conv2d_pool") return {};
  Graph graph = model_of(problem).graph();
  run_passes(graph, PassOptions{});
  std::vector<TunedProblem> parts;
  for (const Task& task : make_tasks(graph).tasks) parts.push_back(TunedProblem::of(task.bound));
  return parts;
}

TunedProblem problem_of(const GemmShape& shape) {
  return TunedProblem::of(bound_in(gemm_model(shape), "gemm"));
}

GemmShape shape_of(const TunedProblem& problem) {
  if (problem.family != "gemm") {
    throw UnsupportedError("tune: no product, but " + problem.family);
  }
  require_f32(problem);
  const auto extent = [&](const char* name) {
    const auto found = problem.extents.find(name);
    if (found != problem.extents.end() && found->second > 0) return found->second;
    throw UnsupportedError(std::string("tune: a product needs the extent ") + name +
                           ", of 1 or more");
  };
  GemmShape shape;
  shape.m = extent("M");
  shape.n = extent("N");
  shape.k = extent("K");
  shape.lhs = order_of(problem, "lhs", "KM");
  shape.rhs = order_of(problem, "rhs", "NK");
  return shape;
}

double flop_of(const Entry& entry, const Problem& problem, const DeviceInfo& device) {
  const Environment names = entry_environment(entry, problem, standard_tunables(entry), device, 0);
  return static_cast<double>(entry.flop.evaluate(names));
}

}  // namespace morton::api
