// SPDX-License-Identifier: Apache-2.0
#include "plan/single/example_problem.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "plan/kernel/kernel_choice.hpp"

namespace morton::plan {
namespace {

bool is_structure(const ProblemFamily& family, const std::string& name) {
  return std::ranges::find(family.structure, name) != family.structure.end();
}

/// A problem in the making.
class ProblemPoser {
 public:
  ProblemPoser(const Entry& entry, const Environment& sizes)
      : entry_(entry), family_(*entry.family) {
    problem().family = entry.family;
    for (const auto& [name, value] : sizes) {
      (is_structure(family_, name) ? problem().structure : problem().extents)[name] = value;
    }
    sizes_ = sizes;
  }

  PosedProblem run(ExampleEpilogue epilogue) {
    if (entry_.family == families::gather) {
      pose_gather();
    } else if (entry_.family == families::pack && writes_parts(entry_)) {
      pose_part();
    } else {
      for (const OperandSchema& schema : family_.operands) pose_whole(schema);
    }
    if (entry_.family == families::elementwise) {
      problem().epilogue.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(0.0)});
    }
    if (epilogue == ExampleEpilogue::of_a_network && entry_.carries_epilogue) pose_epilogue();
    problem().types["acc"] = problem().types.at("dst");
    return std::move(posed_);
  }

 private:
  Problem& problem() { return posed_.bound.problem; }

  void add(const std::string& role, View view, const Shape& shape) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    std::int64_t left = kMost;
    for (const std::int64_t extent : shape) {
      if (extent < 1) {
        throw UsageError(setting("problem") + ": " + role + " of " + entry_.family.name() +
                         " would be " + to_string(shape) + "; its extents must be 1 or more");
      }
      left /= extent;
    }
    if (left == 0) {
      throw UsageError(setting("problem") + ": " + role + " of " + to_string(shape) +
                       " has more elements than kernels index (" + std::to_string(kMost) + ")");
    }
    const std::vector<DType>& types = entry_.operands.at(role).types;
    TaskTensor tensor;
    tensor.kind = role == "dst" ? TaskTensor::Kind::activation : TaskTensor::Kind::input;
    tensor.name = role;
    tensor.shape = shape;
    // Vectors of sums of bytes are whole numbers, and so is what is stored of them as they are.
    const DType sums = entry_.family == families::integer_conv2d ? DType::i32 : DType::f32;
    // Weights of networks have signs.
    const bool is_weight = role == "rhs" && (entry_.family == families::integer_gemm ||
                                             entry_.family == families::batched_integer_gemm);
    const DType wanted = is_weight ? DType::i8 : sums;
    tensor.dtype = std::ranges::count(types, wanted) > 0 ? wanted : types.front();
    problem().types[role] = tensor.dtype;
    posed_.bound.operands[role] = {posed_.tasks.tensors.add(std::move(tensor)), std::move(view)};
  }

  /// The operand is a tensor of its own dimensions.
  void pose_whole(const OperandSchema& schema) {
    std::vector<std::string> names(schema.dimensions.begin(), schema.dimensions.end());
    if (names.empty()) names = {"D0", "D1"};
    Shape shape;
    for (const std::string& name : names) shape.push_back(sizes_.at(name));
    add(std::string(schema.name), View::identity(names), shape);
  }

  /// The right half of dst is src.
  void pose_part() {
    const std::vector<std::string> names{"D0", "D1"};
    const auto size = [](const char* name) { return Expression::variable(name); };
    const std::int64_t rows = sizes_.at("D0");
    const std::int64_t columns = sizes_.at("D1");
    add("src", View::identity(names), {rows, columns});
    View right =
        View::mapped(names, {size("d0"), size("d1") + size("D1")}, {size("D0"), 2 * size("D1")});
    add("dst", std::move(right), {rows, 2 * columns});
  }

  /// Row d0 of dst is the row of src that index[d0] says.
  void pose_gather() {
    const auto size = [](const char* name) { return Expression::variable(name); };
    if (sizes_.at("L") != 1) {
      throw UsageError(setting("problem") + ": only gathers of one index, L=1, are shown");
    }
    problem().extents["I"] = sizes_.at("I0");
    View source = View::mapped({"D0", "D1", "I"}, {size("i"), size("d1")}, {size("I"), size("D1")});
    source.grouping.reset();
    View index = View::mapped({"D0", "D1", "L"}, {size("d0")}, {size("D0")});
    index.grouping.reset();
    add("src", std::move(source), {sizes_.at("I0"), sizes_.at("D1")});
    add("index", std::move(index), {sizes_.at("D0")});
    add("dst", View::identity({"D0", "D1"}), {sizes_.at("D0"), sizes_.at("D1")});
  }

  /// Bias and sum with another tensor, and ReLU behind them.
  void pose_epilogue() {
    const bool is_product = entry_.family == families::gemm && entry_.operands.at("dst").is_any();
    if (is_product) pose_image();
    const Dimensions& names = family_.operands.back().dimensions;
    const auto channel = std::ranges::find_if(
        names, [](std::string_view name) { return name == "M" || name == "O" || name == "C"; });
    const TaskTensor& dst = posed_.tasks.tensors[posed_.bound.operands.at("dst").tensor];
    if (dst.dtype != DType::f32 || channel == names.end()) return;
    const Shape shape = dst.shape;
    Shape bias(shape.size(), 1);
    const std::size_t at =
        is_product ? kImageChannel : static_cast<std::size_t>(channel - names.begin());
    bias[at] = shape[at];
    add_side("bias", TaskTensor::Kind::constant, bias);
    add_side("other", TaskTensor::Kind::activation, shape);
    Chain& chain = problem().epilogue;
    chain.input_count = 3;
    chain.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
    chain.append(ScalarOp::add, {chain.result, ScalarRef::input(2)});
    chain.append(ScalarOp::max, {chain.result, ScalarRef::constant(0.0)});
  }

  void add_side(const char* name, TaskTensor::Kind kind, const Shape& shape) {
    TaskTensor tensor;
    tensor.kind = kind;
    tensor.name = name;
    tensor.shape = shape;
    posed_.bound.sides.push_back({posed_.tasks.tensors.add(std::move(tensor)), shape});
  }

  /// dst is an image of M channels, whose rows of pixels are N.
  void pose_image() {
    constexpr std::int64_t kRow = 8;
    const std::int64_t columns = sizes_.at("N");
    const std::int64_t width = columns % kRow == 0 ? kRow : 1;
    const Environment image{
        {"O", sizes_.at("M")}, {"OH", columns / width}, {"OW", width}, {"outer_N", 1}};
    problem().extents.insert(image.begin(), image.end());
    std::vector<Expression> extents;
    for (const char* name : {"outer_N", "O", "OH", "OW"}) {
      extents.push_back(Expression::variable(name));
    }
    const Grouping grouping{{1}, {0, 2, 3}};
    Binding& dst = posed_.bound.operands.at("dst");
    dst.view = View::grouped({"M", "N"}, grouping, extents);
    posed_.tasks.tensors[dst.tensor].shape = {1, image.at("O"), image.at("OH"), width};
  }

  static constexpr std::size_t kImageChannel = 1;
  const Entry& entry_;
  const ProblemFamily& family_;
  Environment sizes_;
  PosedProblem posed_;
};

}  // namespace

PosedProblem posed_problem(const Entry& entry, const Environment& sizes, ExampleEpilogue epilogue) {
  return ProblemPoser(entry, sizes).run(epilogue);
}

}  // namespace morton::plan
