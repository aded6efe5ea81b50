// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/problems.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "catalogue/catalogue.hpp"
#include "catalogue/fill_in.hpp"
#include "graph/graph.hpp"
#include "plan/policy/work_group.hpp"
#include "problems/problem.hpp"

namespace morton {
using namespace tools;
namespace {

/// Of ONNX's operator sets, one in which Gemm, Add and the activations are defined as here.
constexpr std::int64_t kProblemOpset = 13;

void require_positive(const std::string& what, const Shape& extents) {
  if (std::ranges::min(extents) < 1) {
    throw UsageError(what + ": its extents must be 1 or more, got " + to_string(extents));
  }
}

/// Before anything is made of them: plans refuse such tensors too.
void require_index_range(const std::string& problem, const std::string& name, const Shape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t left = kMost;
  for (const std::int64_t extent : shape) left /= extent;
  if (left > 0) return;
  throw UnsupportedError(problem + ": " + name + " of " + to_string(shape) +
                         " has more elements than kernels index (" + std::to_string(kMost) +
                         "): give smaller extents");
}

/// A graph of one node, in the making.
class SingleNode {
 public:
  SingleNode(const std::string& op, const std::string& name) {
    graph_.name = name;
    graph_.opset = kProblemOpset;
    node_.op = op;
    node_.name = name;
  }

  void add_input(const std::string& name, const Shape& shape, DType type = DType::f32) {
    const TensorId id = add(name, GraphTensor::Kind::input, shape);
    graph_.tensor(id).dtype = type;
    graph_.inputs.push_back(id);
    node_.inputs.push_back(id);
  }

  void set(const std::string& attribute, std::int64_t value) {
    node_.attributes[attribute] = value;
  }

  Model finish(const Shape& dst) {
    const TensorId id = add("dst", GraphTensor::Kind::activation, dst);
    graph_.outputs.push_back(id);
    node_.outputs.push_back(id);
    graph_.nodes.push_back(std::move(node_));
    verify(graph_, "single problem");
    return Inside::make(std::move(graph_));
  }

 private:
  TensorId add(const std::string& name, GraphTensor::Kind kind, const Shape& shape) {
    GraphTensor tensor;
    tensor.name = name;
    tensor.kind = kind;
    require_index_range(graph_.name, name, shape);
    for (const std::int64_t extent : shape) tensor.declared.push_back({extent, ""});
    return graph_.add_tensor(std::move(tensor));
  }

  Graph graph_;
  Node node_;
};

std::string demand_text(const OperandFormat& format) {
  std::string text = format.layout_text;
  if (format.types != std::vector<DType>{DType::f32}) {
    text += " of";
    for (const DType type : format.types) text += " " + std::string(name_of(type));
  }
  if (format.stored) text += " as " + std::string(name_of(*format.stored));
  if (format.memory == MemoryKind::image) text += " in an image";
  if (format.padding != PaddingContents::undefined)
    text += ", padding " + std::string(name_of(format.padding));
  return text;
}

std::string work_group_text(const Entry& entry) {
  std::string text;
  for (const auto& size : entry.launch.local) text += (text.empty() ? "" : "x") + size.print();
  for (const auto& [name, tunable] : entry.tunables) {
    if (text.find(name) == std::string::npos) continue;
    text += ", " + name + " of";
    for (const std::int64_t value : tunable.values) text += " " + std::to_string(value);
  }
  return text;
}

KernelInfo info_of(const Entry& entry) {
  KernelInfo info;
  info.name = entry.name;
  info.family = entry.family.name();
  info.file = entry.origin.file;
  for (const auto& schema : entry.family->operands) {
    const std::string role(schema.name);
    const auto format = entry.operands.find(role);
    if (format == entry.operands.end()) continue;
    info.operands.emplace_back(role, demand_text(format->second));
    if (format->second.stored) info.precision = *format->second.stored;
  }
  if (entry.sums.terms_in_f16 > 0) info.sums = DType::f16;
  for (const auto& [dimension, multiple] : entry.padding.align) {
    info.padding += (info.padding.empty() ? "" : ", ") + dimension + " " + multiple.print();
  }
  info.work_group = work_group_text(entry);
  return info;
}

/// A product of operands that are held plain, or a batch of such products.
Model plain_product(const std::string& op, const GemmShape& shape) {
  const auto with_batch = [&](Shape matrix) {
    if (shape.batch > 0) matrix.insert(matrix.begin(), shape.batch);
    return matrix;
  };
  SingleNode node(op, "gemm");
  node.add_input("lhs", with_batch({shape.m, shape.k}), shape.type);
  node.add_input("rhs", with_batch({shape.k, shape.n}), shape.type);
  return node.finish(with_batch({shape.m, shape.n}));
}

Model integer_gemm_model(const GemmShape& shape) {
  using Order = GemmShape::Order;
  if (shape.type != DType::u8 && shape.type != DType::i8) {
    throw UsageError("gemm: operands are f32, u8 or i8, not " + std::string(name_of(shape.type)));
  }
  if (shape.lhs == Order::transposed || shape.rhs == Order::transposed) {
    throw UsageError("gemm: operands of 8 bits are held plain, not transposed");
  }
  return plain_product("MatMulInteger", shape);
}

Model batched_gemm_model(const GemmShape& shape) {
  using Order = GemmShape::Order;
  if (shape.lhs == Order::transposed || shape.rhs == Order::transposed) {
    throw UsageError("gemm: operands of a batch are held plain, not transposed");
  }
  return plain_product("MatMul", shape);
}

}  // namespace

Model gemm_model(const GemmShape& shape) {
  require_positive("gemm", {shape.m, shape.n, shape.k});
  if (shape.batch < 0) throw UsageError("gemm: its batch must be 0 or more");
  const bool lhs = shape.lhs == GemmShape::Order::transposed;
  const bool rhs = shape.rhs == GemmShape::Order::transposed;
  if (shape.type != DType::f32) return integer_gemm_model(shape);
  if (shape.batch > 0) return batched_gemm_model(shape);
  SingleNode node("Gemm", "gemm");
  node.add_input("lhs", lhs ? Shape{shape.k, shape.m} : Shape{shape.m, shape.k});
  node.add_input("rhs", rhs ? Shape{shape.n, shape.k} : Shape{shape.k, shape.n});
  if (lhs) node.set("transA", 1);
  if (rhs) node.set("transB", 1);
  return node.finish({shape.m, shape.n});
}

Model bias_model(std::int64_t rows, std::int64_t columns) {
  require_positive("bias", {rows, columns});
  SingleNode node("Add", "bias");
  node.add_input("src", {rows, columns});
  node.add_input("bias", {rows, 1});
  return node.finish({rows, columns});
}

Model activation_model(std::string_view function, std::int64_t rows, std::int64_t columns) {
  static const std::vector<std::pair<std::string_view, std::string>> kFunctions{
      {"sigmoid", "Sigmoid"}, {"relu", "Relu"}, {"tanh", "Tanh"}};
  const auto found =
      std::ranges::find(kFunctions, function, &std::pair<std::string_view, std::string>::first);
  if (found == kFunctions.end()) {
    throw UsageError("there is no activation '" + std::string(function) +
                     "'; there are sigmoid, relu and tanh");
  }
  require_positive(std::string(function), {rows, columns});
  SingleNode node(found->second, std::string(function));
  node.add_input("src", {rows, columns});
  return node.finish({rows, columns});
}

std::vector<KernelInfo> kernels_of(std::string_view family,
                                   const std::vector<std::string>& catalogue_files,
                                   const std::map<std::string, std::string>& use) {
  if (find_problem_family(family) == nullptr) {
    throw UsageError("there is no family of problems '" + std::string(family) +
                     "'; there are: " + names_of_families());
  }
  Catalogue catalogue = Catalogue::standard();
  for (const std::string& file : catalogue_files) catalogue.add_file(file);
  catalogue.take_by_convention(use);
  std::vector<KernelInfo> kernels;
  for (const Entry& entry : catalogue.entries()) {
    if (entry.family == family) kernels.push_back(info_of(entry));
  }
  for (const Recipe& recipe : catalogue.recipes()) {
    if (recipe.family != family) continue;
    KernelInfo info;
    info.name = recipe.name;
    info.kind = KernelInfo::Kind::recipe;
    info.family = recipe.family.name();
    info.file = recipe.file;
    kernels.push_back(std::move(info));
  }
  return kernels;
}

std::string demand_with(const std::string& demand,
                        const std::map<std::string, std::int64_t>& tunables) {
  Environment values;
  for (const auto& [name, value] : tunables) values[name] = value;
  try {
    return catalogue::fill_in(demand, values);
  } catch (const ModelError&) {
    return demand;
  }
}

}  // namespace morton
