// SPDX-License-Identifier: Apache-2.0
//
// The Reduce operators, each by what it does to an element, how it makes one of many, and what it
// does to that one. ReduceLogSumExp, which is no such reduction, has a file of its own.
#include "base/rooms.hpp"
#include "ops/math/reduction.hpp"
#include "ops/reduce/reduce_composed.hpp"

namespace morton::ops {
namespace {

template <Reduction::Map kMap, Reduction::Combine kCombine, Reduction::Finish kFinish>
Operator reduce_operator(std::string_view name) {
  static constexpr Reduction kReduction{.map = kMap, .combine = kCombine, .finish = kFinish};
  return {
      .name = name,
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"axes", "keepdims", "noop_with_empty_axes"},
      .since_opset = 1,
      .infer = infer_reduction,
      .host = {.reference =
                   [](const NodeView& node, std::span<const ReferenceTensor> inputs) {
                     return reference_reduction(node, inputs[0], kReduction);
                   }},
      .lower = [](const NodeView& node) { return lower_reduction(node, kReduction); },
      .expand = [](Expansion& expansion) { return expand_reduction(expansion, kReduction); },
      .types = types_of(kReduction),
      .gradient = [](Gradient& gradient) { gradient_of_reduce(gradient, kReduction); },
  };
}

}  // namespace

const OperatorTable& reduce_operators() {
  using Map = Reduction::Map;
  using Combine = Reduction::Combine;
  using Finish = Reduction::Finish;
  static const OperatorTable kTable{
      reduce_operator<Map::magnitude, Combine::sum, Finish::none>("ReduceL1"),
      reduce_operator<Map::square, Combine::sum, Finish::square_root>("ReduceL2"),
      reduce_operator<Map::none, Combine::sum, Finish::logarithm>("ReduceLogSum"),
      reduce_operator<Map::none, Combine::largest, Finish::none>("ReduceMax"),
      reduce_operator<Map::none, Combine::sum, Finish::mean>("ReduceMean"),
      reduce_operator<Map::none, Combine::smallest, Finish::none>("ReduceMin"),
      reduce_operator<Map::none, Combine::product, Finish::none>("ReduceProd"),
      reduce_operator<Map::none, Combine::sum, Finish::none>("ReduceSum"),
      reduce_operator<Map::square, Combine::sum, Finish::none>("ReduceSumSquare"),
  };
  return kTable;
}

}  // namespace morton::ops
