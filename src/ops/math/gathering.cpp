// SPDX-License-Identifier: Apache-2.0
#include "ops/math/gathering.hpp"

#include <algorithm>

#include "problems/movement/movement.hpp"

namespace morton::ops {
namespace {

constexpr std::size_t kMostIndices = 4;

std::vector<Expression> extents_named(const std::string& letter, const Shape& shape,
                                      Environment& extents) {
  std::vector<Expression> names;
  for (std::size_t t = 0; t < shape.size(); ++t) {
    const std::string name = letter + std::to_string(t);
    extents[name] = shape[t];
    names.push_back(Expression::variable(name));
  }
  return names;
}

}  // namespace

const std::vector<DType>& index_types() {
  static const std::vector<DType> kTypes{DType::i32, DType::i64};
  return kTypes;
}

std::int64_t wrapped_index(const ReferenceTensor& indices, std::int64_t at, std::int64_t extent) {
  auto index = static_cast<std::int64_t>(indices.value.at(static_cast<std::size_t>(at)));
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

void check_indices(const NodeView& node) {
  const DType type = node.input(1).dtype;
  const auto& known = index_types();
  if (std::find(known.begin(), known.end(), type) != known.end()) return;
  node.fail("the indices are " + std::string(name_of(type)) + ", expected i64 or i32");
}

void check_known_indices(const NodeView& node, const std::vector<std::int64_t>& extents) {
  const Tensor* indices = node.constant(1);
  if (indices == nullptr) return;
  for (std::int64_t i = 0; i < indices->size(); ++i) {
    const auto extent = static_cast<double>(extents[static_cast<std::size_t>(i) % extents.size()]);
    const double index = indices->at(i);
    if (index >= -extent && index < extent) continue;
    node.fail("index " + std::to_string(static_cast<std::int64_t>(index)) +
              " lies outside of the extent " + std::to_string(static_cast<std::int64_t>(extent)));
  }
}

BoundProblem gather_problem(const NodeView& node, std::vector<Expression> source_coordinates,
                            std::vector<Expression> index_coordinates,
                            const std::vector<std::int64_t>& indexed) {
  if (indexed.size() > kMostIndices) {
    node.unsupported("takes tuples of " + std::to_string(indexed.size()) +
                     " indices; 4 are supported");
  }
  const Shape result = node.output().shape;
  BoundProblem bound = Movement(node, 0, 0).read(std::move(source_coordinates));
  bound.problem.family = families::gather;
  bound.problem.types["acc"] = node.input(0).dtype;
  bound.problem.structure = numbers_of(GatherStructure{static_cast<std::int64_t>(indexed.size())});
  std::int64_t all = 1;
  for (std::size_t l = 0; l < kMostIndices; ++l) {
    const std::int64_t extent = l < indexed.size() ? indexed[l] : 1;
    bound.problem.extents["I" + std::to_string(l)] = extent;
    all *= extent;
  }
  bound.problem.extents["I"] = all;
  View& source = bound.operands.at("src").view;
  source.dimensions.emplace_back("I");
  source.grouping.reset();
  std::vector<std::string> dimensions = bound.operands.at("dst").view.dimensions;
  dimensions.emplace_back("L");
  const auto extents = extents_named("X", node.input(1).shape, bound.problem.extents);
  View index = View::mapped(dimensions, std::move(index_coordinates), extents);
  index.grouping.reset();
  bound.operands["index"] = {node.input_id(1), std::move(index)};
  return bound;
}

}  // namespace morton::ops
