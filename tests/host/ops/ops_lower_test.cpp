// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "ops/core/operator.hpp"
#include "passes/pipeline.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using test::DataKind;

constexpr std::uint64_t kOpsLowerSeed = 11;
constexpr std::int64_t kMostWork = 4000;  // the solver below is slow

/// Solves a problem as base/problem.hpp states it, reading and writing through the views: what
/// every kernel must agree with, however it is written.
class Solver {
 public:
  Solver(const Graph& graph, const BoundProblem& bound, const std::vector<ReferenceTensor>& values)
      : bound_(bound),
        values_(values),
        sizes_(environment_of(bound.problem)),
        epilogue_(bound.problem.epilogue, types_of(graph, bound)) {
    const Shape& result = graph.tensor(bound.operands.at("dst").tensor).shape;
    result_.shape = result;
    result_.value.assign(static_cast<std::size_t>(element_count(result)), std::nan(""));
    for (const auto& [name, binding] : bound.operands) {
      const auto& tensor = values.at(static_cast<std::size_t>(binding.tensor));
      check_extents(binding.view, name == "dst" ? result : tensor.shape);
    }
  }

  ReferenceTensor run() {
    const View& view = bound_.operands.at("dst").view;
    Shape extents;
    for (const auto& name : view.dimensions) extents.push_back(sizes_.at(name));
    std::vector<std::int64_t> at(extents.size(), 0);
    for (std::int64_t left = element_count(extents); left > 0; --left) {
      store(at, value_at(at));
      for (std::size_t d = at.size(); d-- > 0 && ++at[d] == extents[d];) at[d] = 0;
    }
    return result_;
  }

 private:
  /// What the epilogue reads: src0 of an elementwise problem, else the value computed, and the
  /// sides.
  static std::vector<DType> types_of(const Graph& graph, const BoundProblem& bound) {
    const auto& types = bound.problem.types;
    std::vector<DType> read{types.at(types.contains("src0") ? "src0" : "acc")};
    for (const Side& side : bound.sides) read.push_back(graph.tensor(side.tensor).dtype);
    return read;
  }

  using Coordinates = std::vector<std::int64_t>;

  void check_extents(const View& view, const Shape& shape) const {
    Shape extents;
    for (const auto& extent : view.extents) extents.push_back(extent.evaluate(sizes_));
    if (extents != shape || view.coordinates.size() != shape.size()) {
      throw InternalError("a view of " + to_string(extents) + " on " + to_string(shape));
    }
  }

  /// Index into the operand's tensor; every coordinate must lie inside of it.
  std::size_t index_of(const std::string& operand, const Coordinates& at, const Shape& shape) {
    const View& view = bound_.operands.at(operand).view;
    for (std::size_t d = 0; d < at.size(); ++d) {
      sizes_[coordinate_name(view.dimensions[d])] = at[d];
    }
    std::int64_t index = 0;
    for (std::size_t t = 0; t < shape.size(); ++t) {
      const std::int64_t coordinate = view.coordinates[t].evaluate(sizes_);
      if (coordinate < 0 || coordinate >= shape[t]) throw InternalError("outside the tensor");
      index = index * shape[t] + coordinate;
    }
    return static_cast<std::size_t>(index);
  }

  double load(const std::string& operand, const Coordinates& at) {
    const auto& tensor = values_.at(static_cast<std::size_t>(bound_.operands.at(operand).tensor));
    if (is_outside(operand, at, tensor.shape)) return bound_.operands.at(operand).view.outside;
    return tensor.value.at(index_of(operand, at, tensor.shape));
  }

  /// Whether the view may leave the tensor, and does.
  bool is_outside(const std::string& operand, const Coordinates& at, const Shape& shape) {
    const View& view = bound_.operands.at(operand).view;
    if (!view.bounded) return false;
    for (std::size_t d = 0; d < at.size(); ++d) {
      sizes_[coordinate_name(view.dimensions[d])] = at[d];
    }
    for (std::size_t t = 0; t < shape.size(); ++t) {
      const std::int64_t coordinate = view.coordinates[t].evaluate(sizes_);
      if (coordinate < 0 || coordinate >= shape[t]) return true;
    }
    return false;
  }

  void store(const Coordinates& at, double value) {
    const std::size_t index = index_of("dst", at, result_.shape);
    if (!std::isnan(result_.value.at(index))) throw InternalError("stored twice");
    std::vector<Bounded> inputs{{value, 0.0}};
    for (const Side& side : bound_.sides) inputs.push_back({side_at(side, index), 0.0});
    const DType type = bound_.problem.types.at("dst");
    EXPECT_EQ(register_type(epilogue_.result_type()), register_type(type));
    result_.value[index] = stored_as(type, {epilogue_.evaluate(inputs).value, 0.0}).value;
  }

  double side_at(const Side& side, std::size_t index) {
    std::size_t own = 0;
    std::size_t stride = 1;
    for (std::size_t d = 0; d < side.shape.size(); ++d) {
      const std::size_t from_back = side.shape.size() - 1 - d;
      const auto extent = static_cast<std::size_t>(result_.shape[result_.shape.size() - 1 - d]);
      if (side.shape[from_back] != 1) own += index % extent * stride;
      stride *= static_cast<std::size_t>(side.shape[from_back]);
      index /= extent;
    }
    return values_.at(static_cast<std::size_t>(side.tensor)).value.at(own);
  }

  double value_at(const Coordinates& at) {
    const std::string& family = bound_.problem.family;
    if (family == "gemm") return gemm({}, at[0], at[1]);
    if (family == "batched_gemm") return gemm({at[0]}, at[1], at[2]);
    if (family == "integer_gemm") return integer_gemm(at[0], at[1]);
    if (family == "conv2d" || family == "max_pool2d" || family == "average_pool2d") {
      return window(family, at);
    }
    if (family == "conv_transpose2d") return conv_transpose(at);
    if (family == "lp_pool2d") return lp_pool(at);
    if (family == "max_pool2d_indices") return max_place(at);
    if (family == "max_pool2d_gradient") return max_gradient(at);
    if (family == "resize2d") return resize(at);
    if (family == "softmax") return softmax(at);
    if (family == "log_sum_exp") return std::log(sum_of_exp(at[0], at[1]));
    if (family == "inverse_deviation") return inverse_deviation(at);
    if (family == "arg_max") return arg_max(at);
    if (family == "hardmax") return hardmax(at);
    if (family == "top_k") return top_k(at);
    if (family == "reduce") return reduce(at);
    if (family == "normalize") return normalize(at);
    if (family == "cumulative_sum") return cumulative_sum(at);
    if (family == "local_response") return local_response(at);
    if (family == "elementwise") return load("src0", at);
    if (family == "pack") return load("src", at);
    if (family == "gather") return gather(at);
    throw InternalError("no such family: " + family);
  }

  /// The gradients of the windows in which the element is the first of the largest.
  double max_gradient(const Coordinates& at) {
    double sum = 0.0;
    for (std::int64_t oh = 0; oh < sizes_.at("OH"); ++oh) {
      for (std::int64_t ow = 0; ow < sizes_.at("OW"); ++ow) {
        const std::int64_t plane = (at[0] * sizes_.at("C") + at[1]) * sizes_.at("H");
        const auto place = static_cast<double>((plane + at[2]) * sizes_.at("W") + at[3]);
        sizes_["COLUMNS"] = 0;
        if (max_place({at[0], at[1], oh, ow}) == place)
          sum += load("above", {at[0], at[1], oh, ow});
      }
    }
    return sum;
  }

  double gather(const Coordinates& at) {
    std::int64_t i = 0;
    for (std::int64_t l = 0; l < sizes_.at("L"); ++l) {
      sizes_["l"] = l;
      const std::int64_t extent = sizes_.at("I" + std::to_string(l));
      auto index = static_cast<std::int64_t>(load("index", at));
      if (index < 0) index += extent;
      if (index < 0 || index >= extent) return 0.0;
      i = i * extent + index;
    }
    sizes_["i"] = i;
    return load("src", at);
  }

  double gemm(const Coordinates& batch, std::int64_t m, std::int64_t n) {
    const auto at = [&](std::int64_t row, std::int64_t column) {
      Coordinates coordinates = batch;
      coordinates.insert(coordinates.end(), {row, column});
      return coordinates;
    };
    double sum = 0.0;
    for (std::int64_t k = 0; k < sizes_.at("K"); ++k) {
      sum += load("lhs", at(m, k)) * load("rhs", at(k, n));
    }
    return sum;
  }

  double integer_gemm(std::int64_t m, std::int64_t n) {
    const auto zl = static_cast<double>(sizes_.at("ZL"));
    const auto zr = static_cast<double>(sizes_.at("ZR"));
    double sum = 0.0;
    for (std::int64_t k = 0; k < sizes_.at("K"); ++k) {
      sum += (load("lhs", {m, k}) - zl) * (load("rhs", {k, n}) - zr);
    }
    return sum;
  }

  double sum_of_exp(std::int64_t m, std::int64_t n) {
    double sum = 0.0;
    for (std::int64_t l = 0; l < sizes_.at("L"); ++l) sum += std::exp(load("src", {m, l, n}));
    return sum;
  }

  double softmax(const Coordinates& at) {
    const double value = load("src", at);
    const double sum = sum_of_exp(at[0], at[2]);
    return sizes_.at("LOG") != 0 ? value - std::log(sum) : std::exp(value) / sum;
  }

  double hardmax(const Coordinates& at) {
    const double value = load("src", at);
    for (std::int64_t l = 0; l < sizes_.at("L"); ++l) {
      const double other = load("src", {at[0], l, at[2]});
      if (other > value || (other == value && l < at[1])) return 0.0;
    }
    return 1.0;
  }

  /// Whether element `a` of a row comes before element `b`.
  bool comes_before(std::int64_t m, std::int64_t a, std::int64_t b, std::int64_t n, bool last) {
    const double sign = sizes_.at("SMALLEST") != 0 ? -1.0 : 1.0;
    const double x = sign * load("src", {m, a, n});
    const double y = sign * load("src", {m, b, n});
    return x > y || (x == y && (last ? a > b : a < b));
  }

  double arg_max(const Coordinates& at) {
    std::int64_t best = 0;
    for (std::int64_t l = 1; l < sizes_.at("L"); ++l) {
      if (comes_before(at[0], l, best, at[1], sizes_.at("LAST") != 0)) best = l;
    }
    return static_cast<double>(best);
  }

  double top_k(const Coordinates& at) {
    for (std::int64_t l = 0; l < sizes_.at("L"); ++l) {
      std::int64_t before = 0;
      for (std::int64_t j = 0; j < sizes_.at("L"); ++j) {
        before += comes_before(at[0], j, l, at[2], false) ? 1 : 0;
      }
      if (before != at[1]) continue;
      const double value = load("src", {at[0], l, at[2]});
      return sizes_.at("INDICES") != 0 ? static_cast<double>(l) : value;
    }
    throw InternalError("no such place in an order");
  }

  double reduce(const Coordinates& at) {
    const std::int64_t first = at[0] * sizes_.at("DEPTH");
    const std::int64_t end = std::min(first + sizes_.at("DEPTH"), sizes_.at("L"));
    double total = 0.0;
    for (std::int64_t l = first; l < end; ++l) {
      double value = load("src", {at[1], l, at[2]});
      if (sizes_.at("MAP") == 1) value = std::fabs(value);
      if (sizes_.at("MAP") == 2) value *= value;
      const double both[] = {total + value, total * value, std::min(total, value),
                             std::max(total, value)};
      total = l == first ? value : both[sizes_.at("COMBINE")];
    }
    if (sizes_.at("MEAN") == 0) return total;
    const double mean = total / static_cast<double>(sizes_.at("COUNT"));
    return is_real(bound_.problem.types.at("dst")) ? mean : std::trunc(mean);
  }

  double real(const char* name) const {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(sizes_.at(name))));
  }

  double normalize(const Coordinates& at) {
    const std::int64_t kind = sizes_.at("KIND");
    const std::int64_t length = sizes_.at("L");
    double mean = 0.0;
    for (std::int64_t l = 0; kind == 0 && l < length; ++l) {
      mean += load("src", {at[0], l, at[2]}) / static_cast<double>(length);
    }
    double sum = 0.0;
    for (std::int64_t l = 0; l < length; ++l) {
      const double distance = load("src", {at[0], l, at[2]}) - mean;
      sum += kind == 1 ? std::fabs(distance) : distance * distance;
    }
    if (kind == 0) sum = sum / static_cast<double>(length) + real("EPSILON");
    return (load("src", at) - mean) / (kind == 1 ? sum : std::sqrt(sum));
  }

  double inverse_deviation(const Coordinates& at) {
    const auto length = static_cast<double>(sizes_.at("L"));
    double mean = 0.0;
    double squares = 0.0;
    for (std::int64_t l = 0; l < sizes_.at("L"); ++l) {
      const double value = load("src", {at[0], l, at[1]});
      mean += value / length;
      squares += value * value / length;
    }
    return 1.0 / std::sqrt(squares - mean * mean + real("EPSILON"));
  }

  double cumulative_sum(const Coordinates& at) {
    const bool reverse = sizes_.at("REVERSE") != 0;
    const bool own = sizes_.at("EXCLUSIVE") == 0;
    double sum = 0.0;
    for (std::int64_t l = 0; l < sizes_.at("L"); ++l) {
      const bool before = reverse ? l > at[1] : l < at[1];
      if (before || (own && l == at[1])) sum += load("src", {at[0], l, at[2]});
    }
    return sum;
  }

  double local_response(const Coordinates& at) {
    const std::int64_t size = sizes_.at("SIZE");
    double sum = 0.0;
    for (std::int64_t c = at[1] - (size - 1) / 2; c <= at[1] + size / 2; ++c) {
      if (c < 0 || c >= sizes_.at("C")) continue;
      const double value = load("src", {at[0], c, at[2]});
      sum += value * value;
    }
    const double base = real("BIAS") + real("ALPHA") / static_cast<double>(size) * sum;
    return load("src", at) / std::pow(base, real("BETA"));
  }

  double window(const std::string& family, const Coordinates& at) {
    const auto size = [&](const char* name) { return sizes_.at(name); };
    const bool conv = family == "conv2d";
    const std::int64_t depth = conv ? size("I") : 1;
    const std::int64_t first = conv ? at[1] / (size("O") / size("G")) * depth : at[1];
    double sum = 0.0;
    double largest = -INFINITY;
    std::int64_t count = 0;
    for (std::int64_t kh = 0; kh < size("KH"); ++kh) {
      for (std::int64_t kw = 0; kw < size("KW"); ++kw) {
        const std::int64_t h = at[2] * size("SH") + kh * size("DH") - size("PT");
        const std::int64_t w = at[3] * size("SW") + kw * size("DW") - size("PL");
        const bool inside = h >= 0 && h < size("H") && w >= 0 && w < size("W");
        const bool counts = family == "average_pool2d" && size("COUNT_PAD") == 1
                                ? h < size("H") + size("PB") && w < size("W") + size("PR")
                                : inside;
        count += counts ? 1 : 0;
        if (!inside) continue;
        for (std::int64_t i = 0; i < depth; ++i) {
          const double value = load("src", {at[0], first + i, h, w});
          sum += conv ? value * load("weights", {at[1], i, kh, kw}) : value;
          largest = std::max(largest, value);
        }
      }
    }
    if (family == "max_pool2d") return largest;
    return conv ? sum : sum / static_cast<double>(count);
  }

  /// Calls `take(h, w)` for the elements of the image under the window of dst at `at`.
  template <typename Take>
  void for_window(const Coordinates& at, Take take) {
    for (std::int64_t kh = 0; kh < sizes_.at("KH"); ++kh) {
      for (std::int64_t kw = 0; kw < sizes_.at("KW"); ++kw) {
        const std::int64_t h = at[2] * sizes_.at("SH") + kh * sizes_.at("DH") - sizes_.at("PT");
        const std::int64_t w = at[3] * sizes_.at("SW") + kw * sizes_.at("DW") - sizes_.at("PL");
        if (h >= 0 && h < sizes_.at("H") && w >= 0 && w < sizes_.at("W")) take(h, w);
      }
    }
  }

  double lp_pool(const Coordinates& at) {
    const auto p = static_cast<double>(sizes_.at("P"));
    double sum = 0.0;
    for_window(at, [&](std::int64_t h, std::int64_t w) {
      sum += std::pow(std::fabs(load("src", {at[0], at[1], h, w})), p);
    });
    return std::pow(sum, 1.0 / p);
  }

  double max_place(const Coordinates& at) {
    const std::int64_t height = sizes_.at("H");
    const std::int64_t width = sizes_.at("W");
    double largest = -INFINITY;
    std::int64_t place = -1;
    for_window(at, [&](std::int64_t h, std::int64_t w) {
      const double value = load("src", {at[0], at[1], h, w});
      if (place >= 0 && !(value > largest)) return;
      largest = value;
      place = sizes_.at("COLUMNS") == 1 ? w * height + h : h * width + w;
    });
    return static_cast<double>((at[0] * sizes_.at("C") + at[1]) * height * width + place);
  }

  /// By scattering, as the family is defined: every element of src that adds to dst at `at`.
  double conv_transpose(const Coordinates& at) {
    const auto size = [&](const char* name) { return sizes_.at(name); };
    const std::int64_t depth = size("C") / size("G");
    const std::int64_t first = at[1] / size("J") * depth;
    double sum = 0.0;
    for (std::int64_t h = 0; h < size("H"); ++h) {
      for (std::int64_t w = 0; w < size("W"); ++w) {
        for (std::int64_t kh = 0; kh < size("KH"); ++kh) {
          if (h * size("SH") + kh * size("DH") - size("PT") != at[2]) continue;
          for (std::int64_t kw = 0; kw < size("KW"); ++kw) {
            if (w * size("SW") + kw * size("DW") - size("PL") != at[3]) continue;
            for (std::int64_t c = first; c < first + depth; ++c) {
              sum +=
                  load("src", {at[0], c, h, w}) * load("weights", {c, at[1] % size("J"), kh, kw});
            }
          }
        }
      }
    }
    return sum;
  }

  /// Rows (or columns) around a position, inside the image, with their weights.
  std::vector<std::pair<std::int64_t, double>> taps(double position, std::int64_t extent) const {
    const std::int64_t count = sizes_.at("TAPS");
    const double coefficient =
        static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(sizes_.at("CUBIC"))));
    const auto whole = static_cast<std::int64_t>(std::floor(position));
    std::vector<std::pair<std::int64_t, double>> found;
    double total = 0.0;
    for (std::int64_t t = whole - count / 2 + 1; t <= whole + count / 2; ++t) {
      const double x = std::fabs(position - static_cast<double>(t));
      double weight = 1.0 - x;
      if (count == 4 && x <= 1.0) {
        weight = ((coefficient + 2.0) * x - (coefficient + 3.0)) * x * x + 1.0;
      } else if (count == 4) {
        weight = coefficient * (((x - 5.0) * x + 8.0) * x - 4.0);
      }
      if (sizes_.at("EXCLUDE") == 1 && (t < 0 || t >= extent)) continue;
      total += weight;
      found.emplace_back(std::clamp<std::int64_t>(t, 0, extent - 1), weight);
    }
    if (sizes_.at("EXCLUDE") == 1) {
      for (auto& tap : found) tap.second /= total;
    }
    return found;
  }

  double resize(const Coordinates& at) {
    const auto position = [&](std::int64_t index, const char* n, const char* a, const char* d) {
      return static_cast<double>(sizes_.at(n) * index + sizes_.at(a)) /
             static_cast<double>(sizes_.at(d));
    };
    const auto rows = taps(position(at[1], "HN", "HA", "HD"), sizes_.at("H"));
    const auto columns = taps(position(at[2], "WN", "WA", "WD"), sizes_.at("W"));
    double sum = 0.0;
    for (const auto& [h, row_weight] : rows) {
      for (const auto& [w, column_weight] : columns) {
        sum += row_weight * column_weight * load("src", {at[0], h, w});
      }
    }
    return sum;
  }

  const BoundProblem& bound_;
  const std::vector<ReferenceTensor>& values_;
  Environment sizes_;  ///< extents and structure, and the coordinates of the last access
  TypedChain epilogue_;
  ReferenceTensor result_;
};

/// Joins what a part wrote with what the parts before it did.
void add_part(const ReferenceTensor& part, ReferenceTensor& whole) {
  if (whole.value.empty()) {
    whole = part;
    return;
  }
  for (std::size_t i = 0; i < part.value.size(); ++i) {
    if (std::isnan(part.value[i])) continue;
    ASSERT_TRUE(std::isnan(whole.value[i])) << "two parts write element " << i;
    whole.value[i] = part.value[i];
  }
}

/// Runs the graph node by node through `lower` and the solver (renaming nodes through the
/// reference).
ReferenceTensor solve(const Graph& graph, const std::vector<NamedTensor>& inputs) {
  std::vector<ReferenceTensor> values(graph.tensors.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].kind == GraphTensor::Kind::constant) {
      values[i] = to_reference(graph.tensors[i].data);
    }
  }
  for (const auto& input : inputs) {
    values[static_cast<std::size_t>(graph.find(input.name))] = to_reference(input.tensor);
  }
  for (const Node& node : graph.nodes) {
    const auto output = static_cast<std::size_t>(node.outputs[0]);
    if (operator_of(node).alias) {
      values[output] = values[static_cast<std::size_t>(node.inputs[0])];
      values[output].shape = graph.tensors[output].shape;
    } else if (operator_of(node).values != nullptr) {
      std::vector<ReferenceTensor> operands;
      for (const TensorId id : node.inputs)
        operands.push_back(values[static_cast<std::size_t>(id)]);
      values[output] = reference(graph, node, operands);
    } else {
      for (const BoundProblem& bound : lower(graph, node)) {
        EXPECT_EQ(bound.problem.epilogue.input_count, static_cast<int>(bound.sides.size()) + 1);
        const auto dst = static_cast<std::size_t>(bound.operands.at("dst").tensor);
        ReferenceTensor part = Solver(graph, bound, values).run();
        add_part(part, values[dst]);
      }
    }
  }
  return values[static_cast<std::size_t>(graph.outputs[0])];
}

/// Passes that fold constants round them to f32.
enum class Constants : std::uint8_t { as_given, folded };

void expect_agreement(const ReferenceTensor& expected, const ReferenceTensor& got,
                      Constants constants = Constants::as_given) {
  ASSERT_EQ(expected.shape, got.shape);
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double rounding = constants == Constants::folded ? expected.error[i] : 0.0;
    const double tolerance = 1e-12 * (1.0 + std::fabs(expected.value[i])) + rounding;
    ASSERT_TRUE(test::matches(expected.value[i], tolerance, got.value[i]))
        << "element " << i << ": " << expected.value[i] << " and " << got.value[i];
  }
}

/// For every small case: the lowered problem, as it is and after the passes, has the reference's
/// value.
TEST(Lower, EveryCaseAgreesWithItsReference) {
  int count = 0;
  for (const auto& parsed : test::all_cases(MORTON_SOURCE_DIR "/tests/cases")) {
    if (test::work_of(parsed) > kMostWork) continue;
    SCOPED_TRACE(test::describe(parsed) + ", seed " + std::to_string(kOpsLowerSeed));
    Graph graph = test::make_graph(parsed, kOpsLowerSeed, DataKind::zero_mean);
    const auto inputs = test::make_inputs(parsed, kOpsLowerSeed, DataKind::zero_mean);
    const auto expected = test::reference_outputs(graph, inputs)[0];
    expect_agreement(expected, solve(graph, inputs));
    run_passes(graph, {});
    const bool folds = parsed.op == "BatchNormalization";
    const Constants constants = folds ? Constants::folded : Constants::as_given;
    expect_agreement(expected, test::reference_outputs(graph, inputs)[0], constants);
    expect_agreement(expected, solve(graph, inputs), constants);
    ++count;
  }
  EXPECT_GT(count, 100);
}

BoundProblem lower_case(const std::string& op, const std::string& line) {
  const Graph graph = test::make_graph(test::parse_case(op, "t | " + line, "test"), kOpsLowerSeed,
                                       DataKind::zero_mean);
  return lower(graph, graph.nodes[0]).front();
}

TEST(Lower, GemmTransposesByGrouping) {
  const BoundProblem bound = lower_case("Gemm", "17x3 63x17 63 | transA=1 transB=1 alpha=0.5");
  EXPECT_EQ(bound.problem.extents, (Environment{{"K", 17}, {"M", 3}, {"N", 63}}));
  EXPECT_EQ(*bound.operands.at("lhs").view.grouping, (Grouping{{1}, {0}}));
  EXPECT_EQ(bound.problem.epilogue.print(), "add(mul(v, 0.5), s1)");
  EXPECT_EQ(bound.sides.at(0).shape, (Shape{63}));
  EXPECT_EQ(bound.problem.types.at("acc"), DType::f32);
  EXPECT_EQ(print(bound.problem), "gemm K=17 M=3 N=63 f32, add(mul(v, 0.5), s1)");
}

TEST(Lower, MatMulJoinsRows) {
  const BoundProblem bound = lower_case("MatMul", "2x3x17 17x5");
  EXPECT_EQ(bound.problem.extents,
            (Environment{{"K", 17}, {"M", 6}, {"M0", 2}, {"M1", 3}, {"N", 5}}));
  EXPECT_EQ(*bound.operands.at("dst").view.grouping, (Grouping{{0, 1}, {2}}));
}

TEST(Lower, ConvBroadcastsItsBiasAlongChannels) {
  const BoundProblem bound = lower_case("Conv", "2x4x9x8 6x2x3x3 6 | group=2 pads=[1,0,2,1]");
  EXPECT_EQ(bound.sides.at(0).shape, (Shape{6, 1, 1}));
  EXPECT_EQ(bound.problem.structure.at("G"), 2);
  EXPECT_EQ(bound.problem.structure.at("I"), 2);
  EXPECT_EQ(bound.problem.structure.at("PT"), 1);
  EXPECT_EQ(bound.problem.extents.at("OH"), 10);
}

TEST(Lower, ElementwiseTakesTheFullInputAsSource) {
  const BoundProblem bound = lower_case("Sub", "17 3x17");
  EXPECT_EQ(bound.operands.at("src0").tensor, 1);
  EXPECT_EQ(bound.problem.epilogue.print(), "sub(s1, v)");
  EXPECT_EQ(bound.sides.at(0).shape, (Shape{17}));
  EXPECT_TRUE(bound.operands.at("src0").view.grouping.has_value());
  EXPECT_FALSE(lower_case("Sub", "3x1 1x17").operands.at("src0").view.grouping.has_value());
}

TEST(Lower, RefusesWhatComputesNothing) {
  EXPECT_THROW((void)lower_case("Flatten", "2x3x5"), InternalError);
}

}  // namespace
}  // namespace morton::test
