// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/numbers/small_types.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "problems/movement/scatter.hpp"
#include "problems/reduce.hpp"
#include "support/case_codes.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// A number of the kind; `bits` are 32 random ones.
float draw(DataKind kind, std::uint64_t bits) {
  const auto whole = static_cast<std::int64_t>(bits % 17) - 8;
  const double unit = static_cast<double>(bits) / 4294967296.0;
  switch (kind) {
    case DataKind::integers:
      return static_cast<float>(whole);
    case DataKind::zero_mean:
      return static_cast<float>(2.0 * unit - 1.0);
    case DataKind::same_sign:
      return static_cast<float>(unit);
  }
  throw InternalError("test data of an unknown kind");
}

/// What divides stays away from zero, where errors have no bound.
float away_from_zero(float value) { return value < 0 ? value - 0.5F : value + 0.5F; }

/// Operators on codes, whose reals are scales (and biases).
bool has_positive_scales(const std::string& op) {
  constexpr std::array kOthers{"com.microsoft.QGemm", "com.microsoft.MatMulIntegerToFloat",
                               "com.microsoft.QuantizeLinear"};
  return op.find("QLinear") != std::string::npos ||
         std::find(kOthers.begin(), kOthers.end(), op) != kOthers.end();
}

/// What has a logarithm or a root in it stays above zero, and so do scales.
bool must_be_positive(const Node& node) {
  return (node.op == "BatchNormalization" && node.inputs.size() == 4) ||
         (node.op == "com.microsoft.DynamicQuantizeMatMul" && !node.inputs.empty()) ||
         node.op == "ReduceLogSum" || node.op == "QuantizeLinear" || has_positive_scales(node.op);
}

/// Builds the graph; the n-th tensor with values draws from a generator of its own, so that a
/// constant and a given input in its place hold the same.
class CaseMaker {
 public:
  CaseMaker(const OperatorCase& test, std::uint64_t seed, DataKind kind)
      : test_(test), seed_(seed), kind_(kind) {}

  void run() {
    graph.name = test_.op + "_" + test_.name;
    graph.opset = test_.opset;
    Node node;
    node.op = test_.op;
    node.attributes = test_.attributes;
    for (const CaseInput& input : test_.inputs) add_input(node, input);
    TensorId result = add_node(std::move(node), static_cast<std::size_t>(test_.output));
    for (const CaseStep& step : test_.then) {
      Node next;
      next.op = step.op;
      next.attributes = step.attributes;
      next.inputs.push_back(result);
      for (const CaseInput& input : step.more_inputs) add_input(next, input);
      result = add_node(std::move(next), 0);
    }
    graph.tensor(result).name = "y";
    graph.outputs = {result};
    verify(graph, describe(test_));
  }

  Graph graph;
  std::vector<NamedTensor> inputs;

 private:
  [[nodiscard]] Tensor values_of(const Node& node, const CaseInput& input) {
    if (input.kind == CaseInput::Kind::list) return Tensor::from(input.shape, input.values);
    if (input.kind == CaseInput::Kind::number) {
      Tensor scalar = Tensor::allocate(input.dtype, {});
      scalar.set(0, input.value);
      ++drawn_;
      return scalar;
    }
    const bool single = input.kind == CaseInput::Kind::constant && element_count(input.shape) == 1;
    if (single && is_real(input.dtype)) return whole_scalar(input.dtype, input.shape);
    if (input.dtype == DType::f32) return random_tensor(node, input.shape);
    if (!is_real(input.dtype)) {
      const auto number = static_cast<std::uint64_t>(drawn_++);
      return random_codes(input.dtype, input.shape, seed_ * 1000 + number);
    }
    return random_tensor(node, input.shape).converted(input.dtype);
  }

  /// A constant of one element becomes a part of the kernel's text, so it belongs to the case's
  /// structure: the same whole number for data of every kind.
  [[nodiscard]] Tensor whole_scalar(DType type, const Shape& shape) {
    Tensor tensor = Tensor::allocate(type, shape);
    tensor.set(0, static_cast<double>(2 + drawn_++ % 3));
    return tensor;
  }

  [[nodiscard]] Tensor random_tensor(const Node& node, const Shape& shape) {
    std::mt19937_64 generator(seed_ * 1000 + static_cast<std::uint64_t>(drawn_++));
    Tensor tensor = Tensor::allocate(DType::f32, shape);
    const bool divisor = node.op == "Div" && node.inputs.size() == 1;
    const bool positive = must_be_positive(node);
    for (float& value : tensor.as_mutable<float>()) {
      value = draw(kind_, generator() >> 32);
      if (divisor) value = away_from_zero(value);
      if (positive) value = away_from_zero(std::fabs(value));
    }
    return tensor;
  }

  void add_input(Node& node, const CaseInput& input) {
    if (input.kind == CaseInput::Kind::absent) {
      node.inputs.push_back(kNoTensor);
      return;
    }
    GraphTensor tensor;
    tensor.shape = input.shape;
    const std::string number = std::to_string(drawn_);
    Tensor values = values_of(node, input);
    tensor.dtype = values.dtype();
    if (input.kind == CaseInput::Kind::given) {
      tensor.name = "x" + std::to_string(inputs.size());
      tensor.kind = GraphTensor::Kind::input;
      for (const std::int64_t extent : input.shape) tensor.declared.push_back({extent, ""});
      inputs.push_back({tensor.name, values});
    } else {
      const bool list = input.kind == CaseInput::Kind::list;
      tensor.name = list ? "list" + std::to_string(graph.tensors.size()) : "c" + number;
      tensor.kind = GraphTensor::Kind::constant;
      tensor.data = values;
    }
    const bool given = input.kind == CaseInput::Kind::given;
    const TensorId id = graph.add_tensor(std::move(tensor));
    if (given) graph.inputs.push_back(id);
    node.inputs.push_back(id);
  }

  /// Adds the node with its outputs up to number `output`, which it returns.
  TensorId add_node(Node node, std::size_t output) {
    node.name = node.op + "_" + std::to_string(graph.nodes.size());
    const std::vector<TensorType> types = infer(graph, node);
    for (std::size_t i = 0; i <= output; ++i) {
      GraphTensor tensor;
      tensor.name = "t" + std::to_string(graph.nodes.size());
      if (i < output) tensor.name += "_" + std::to_string(i);
      tensor.dtype = types.at(i).dtype;
      tensor.shape = types.at(i).shape;
      node.outputs.push_back(graph.add_tensor(std::move(tensor)));
    }
    const TensorId id = node.outputs.back();
    graph.nodes.push_back(std::move(node));
    return id;
  }

  const OperatorCase& test_;
  std::uint64_t seed_;
  DataKind kind_;
  int drawn_ = 0;
};

std::int64_t product_over(const Environment& sizes, std::initializer_list<const char*> names) {
  std::int64_t result = 1;
  for (const char* name : names) result *= sizes.at(name);
  return result;
}

bool is_whole(double value) { return std::fabs(value) <= 8.0 && std::nearbyint(value) == value; }

/// Of a reduction: no quotient, and no product of many.
bool stays_whole(const Environment& structure) {
  const auto reduce = structure_of<ReduceStructure>(structure);
  return reduce.finish == ReduceStructure::Finish::none &&
         reduce.combine != ReduceStructure::Combine::product;
}

/// Whole numbers stay whole: sums, products and choices of them, no quotient and no function.
bool keeps_integers(const Problem& problem) {
  constexpr std::array kMoving{families::pack, families::gather};
  const bool moves = std::find(kMoving.begin(), kMoving.end(), problem.family) != kMoving.end();
  if (moves) return true;
  if (problem.family == families::scatter) {
    const auto scatter = structure_of<ScatterStructure>(problem.structure);
    return scatter.reduction != ScatterStructure::Reduction::mul ||
           !is_real(problem.types.at("dst"));
  }
  if (problem.family == families::reduce && !stays_whole(problem.structure)) return false;
  constexpr std::array kOfIntegers{families::elementwise,    families::reduce,
                                   families::arg_max,        families::top_k,
                                   families::cumulative_sum, families::cumulative_product};
  if (!is_real(problem.types.at("dst"))) {
    return std::find(kOfIntegers.begin(), kOfIntegers.end(), problem.family) != kOfIntegers.end();
  }
  constexpr std::array kFamilies{
      families::gemm,       families::batched_gemm, families::conv2d,  families::conv_transpose2d,
      families::max_pool2d, families::elementwise,  families::hardmax, families::cumulative_sum,
      families::reduce,     families::arg_max,      families::top_k};
  if (std::find(kFamilies.begin(), kFamilies.end(), problem.family) == kFamilies.end()) {
    return false;
  }
  constexpr std::array kSteps{
      ScalarOp::add,         ScalarOp::sub,         ScalarOp::mul,        ScalarOp::min,
      ScalarOp::max,         ScalarOp::neg,         ScalarOp::abs,        ScalarOp::sign,
      ScalarOp::floor,       ScalarOp::ceil,        ScalarOp::trunc,      ScalarOp::round,
      ScalarOp::equal,       ScalarOp::less,        ScalarOp::less_equal, ScalarOp::is_nan,
      ScalarOp::is_inf,      ScalarOp::logical_and, ScalarOp::logical_or, ScalarOp::logical_xor,
      ScalarOp::logical_not, ScalarOp::select};
  const auto whole = [](const ScalarRef& argument) {
    return argument.kind != ScalarRef::Kind::constant || is_whole(argument.value);
  };
  const auto& steps = problem.epilogue.steps;
  return std::all_of(steps.begin(), steps.end(), [&](const ScalarStep& step) {
    return std::find(kSteps.begin(), kSteps.end(), step.op) != kSteps.end() &&
           std::all_of(step.arguments.begin(), step.arguments.end(), whole);
  });
}

/// An 8-bit product, which may have zero points: a pass makes a product of it that can be lowered.
bool is_integer_product(const Node& node) {
  return node.op == "MatMulInteger" || node.op == "QLinearMatMul";
}

/// Renames elements, or is known when planning.
bool is_nothing_to_compute(const Node& node) {
  return operator_of(node).host.alias || operator_of(node).host.values != nullptr;
}

}  // namespace

Graph make_graph(const OperatorCase& test, std::uint64_t seed, DataKind kind) {
  CaseMaker maker(test, seed, kind);
  maker.run();
  return std::move(maker.graph);
}

std::vector<NamedTensor> make_inputs(const OperatorCase& test, std::uint64_t seed, DataKind kind) {
  CaseMaker maker(test, seed, kind);
  maker.run();
  return std::move(maker.inputs);
}

namespace {

/// The graph of a case, its nodes those of operators that are computed as they are.
Graph written_out(const OperatorCase& test) {
  Graph graph = make_graph(test, 1, DataKind::integers);
  expand_composites(graph, {});
  return graph;
}

/// Of a constant; others may hold any. Types of few bits end between whole numbers, or lack them.
bool has_whole_numbers(const GraphTensor& tensor) {
  if (is_only_stored(tensor.dtype)) return false;
  if (tensor.kind != GraphTensor::Kind::constant) return true;
  for (std::int64_t i = 0; i < tensor.data.size(); ++i) {
    if (std::nearbyint(tensor.data.at(i)) != tensor.data.at(i)) return false;
  }
  return true;
}

}  // namespace

bool is_exact_on_integers(const OperatorCase& test) {
  const Graph graph = written_out(test);
  if (!std::ranges::all_of(graph.tensors, has_whole_numbers)) return false;
  // The bits of one type may be a fraction in another.
  const auto rereads = [](const Node& node) { return node.op == "BitCast"; };
  if (std::ranges::any_of(graph.nodes, rereads)) return false;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (is_nothing_to_compute(node) || is_integer_product(node)) return true;
    const auto problems = lower(graph, node);
    return std::all_of(problems.begin(), problems.end(),
                       [](const BoundProblem& bound) { return keeps_integers(bound.problem); });
  });
}

namespace {

std::int64_t work_of_node(const Graph& graph, const Node& node) {
  const std::int64_t elements = element_count(graph.tensor(node.outputs[0]).shape);
  if (is_nothing_to_compute(node)) return elements;
  if (is_integer_product(node)) return elements * graph.tensor(node.inputs[0]).shape.back();
  const Problem problem = lower(graph, node).front().problem;
  const Environment sizes = environment_of(problem);
  if (problem.family == families::scatter) {
    return elements + product_over(sizes, {"O", "M", "I", "L"});
  }
  if (problem.family == families::determinant || problem.family == families::suppression) {
    return elements * sizes.at("M");
  }
  if (problem.family == families::grid_sample) {
    return elements * product_over(sizes, {"TAPS", "TAPS", "R"});
  }
  if (problem.family == families::top_k) return product_over(sizes, {"M", "L", "N", "L"});
  if (problem.family != families::gather && sizes.contains("L")) {
    return product_over(sizes, {"M", "L", "N"});
  }
  if (sizes.contains("K")) return elements * sizes.at("K");
  if (problem.family == families::conv2d) return elements * product_over(sizes, {"I", "KH", "KW"});
  if (problem.family == families::conv_transpose2d) {
    return elements * product_over(sizes, {"C", "KH", "KW"}) / sizes.at("G");
  }
  if (problem.family == families::local_response) return elements * sizes.at("SIZE");
  if (sizes.contains("KH")) return elements * product_over(sizes, {"KH", "KW"});
  return elements;
}

}  // namespace

std::int64_t work_of(const OperatorCase& test) {
  const Graph graph = written_out(test);
  const bool is_written_out =
      operator_of(make_graph(test, 1, DataKind::integers).nodes[0]).expand != nullptr;
  if (!is_written_out && !graph.nodes.empty()) {
    return work_of_node(graph, graph.nodes[0]);
  }
  std::int64_t work = 0;
  for (const Node& node : graph.nodes) work += work_of_node(graph, node);
  return work;
}

std::string describe(const OperatorCase& test) {
  return test.where + " " + test.op + " " + test.name;
}

}  // namespace morton::test
