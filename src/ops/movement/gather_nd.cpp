// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// The last dimension of the indices is a tuple of indices into the source's dimensions from
/// `batch_dims` on; the dimensions before those are the same in both.
struct Tuples {
  std::size_t batch = 0;
  std::size_t length = 0;  ///< of a tuple
};

Tuples tuples_of(const NodeView& node) {
  check_indices(node);
  const Shape source = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  if (indices.empty() || source.empty()) node.fail("the data and the indices need dimensions");
  const std::int64_t batch = node.integer("batch_dims", 0);
  const std::int64_t length = indices.back();
  const auto rank = static_cast<std::int64_t>(source.size());
  if (batch < 0 || batch >= static_cast<std::int64_t>(indices.size()) || length < 1 ||
      batch + length > rank) {
    node.fail("tuples of " + std::to_string(length) + " indices behind " + std::to_string(batch) +
              " dimensions do not fit data of " + to_string(source));
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(batch); ++d) {
    if (source[d] != indices[d]) {
      node.fail("dimension " + std::to_string(d) + " of the data " + to_string(source) +
                " and of the indices " + to_string(indices) + " must agree");
    }
  }
  return {static_cast<std::size_t>(batch), static_cast<std::size_t>(length)};
}

std::vector<TensorType> infer_gather_nd(const NodeView& node) {
  const Tuples tuples = tuples_of(node);
  const TensorType source = node.input(0);
  const Shape indices = node.input(1).shape;
  TensorType result{source.dtype, {indices.begin(), indices.end() - 1}};
  result.shape.insert(
      result.shape.end(),
      source.shape.begin() + static_cast<std::ptrdiff_t>(tuples.batch + tuples.length),
      source.shape.end());
  if (result.shape.size() > kMaxRank) node.unsupported("more than 8 dimensions");
  const auto first = source.shape.begin() + static_cast<std::ptrdiff_t>(tuples.batch);
  check_known_indices(node, {first, first + static_cast<std::ptrdiff_t>(tuples.length)});
  return {result};
}

/// Where the element at `at` comes from.
Origin origin_at(const Shape& at, const Tuples& tuples, const Shape& source, const Shape& indices,
                 const ReferenceTensor& values) {
  const std::size_t lead = indices.size() - 1;
  Shape tuple(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(lead));
  tuple.push_back(0);
  Shape from(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(tuples.batch));
  for (std::size_t l = 0; l < tuples.length; ++l) {
    tuple.back() = static_cast<std::int64_t>(l);
    const std::int64_t extent = source[tuples.batch + l];
    from.push_back(wrapped_index(values, index_in(indices, tuple), extent));
    if (from.back() < 0) return Origin{};
  }
  from.insert(from.end(), at.begin() + static_cast<std::ptrdiff_t>(lead), at.end());
  return Origin{0, index_in(source, from)};
}

ReferenceTensor reference_gather_nd(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Tuples tuples = tuples_of(node);
  const Shape source = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  ReferenceTensor result;
  result.shape = infer_gather_nd(node)[0].shape;
  for (const Origin& origin : origins_of(result.shape, [&](const Shape& at) {
         return origin_at(at, tuples, source, indices, inputs[1]);
       })) {
    const auto at = static_cast<std::size_t>(origin.index);
    result.value.push_back(origin.input == 0 ? inputs[0].value[at] : 0.0);
    result.error.push_back(origin.input == 0 ? inputs[0].error[at] : 0.0);
  }
  return result;
}

BoundProblem lower_gather_nd(const NodeView& node) {
  const Tuples tuples = tuples_of(node);
  const Shape source = node.input(0).shape;
  const std::size_t lead = node.input(1).shape.size() - 1;
  std::vector<Expression> index;
  for (std::size_t d = 0; d < lead; ++d) index.push_back(Movement::at(d));
  index.push_back(Expression::variable("l"));
  std::vector<Expression> from(source.size());
  std::vector<std::int64_t> indexed;
  // The tuple in mixed radix, innermost last.
  Expression below(1);
  for (std::size_t l = tuples.length; l-- > 0;) {
    const std::size_t t = tuples.batch + l;
    Expression coordinate = Expression::variable("i") / below;
    if (l > 0) coordinate = coordinate % Movement::source_extent(t);
    from[t] = std::move(coordinate);
    below = Movement::source_extent(t) * below;
  }
  for (std::size_t l = 0; l < tuples.length; ++l) indexed.push_back(source[tuples.batch + l]);
  for (std::size_t d = 0; d < tuples.batch; ++d) from[d] = Movement::at(d);
  for (std::size_t t = tuples.batch + tuples.length; t < source.size(); ++t) {
    from[t] = Movement::at(lead + t - tuples.batch - tuples.length);
  }
  return gather_problem(node, std::move(from), std::move(index), indexed);
}

/// The tuples with the batch's own numbers before them.
TensorId whole_tuples(Gradient& gradient, std::size_t batch) {
  const TensorId indices = gradient.node().input_id(1);
  if (batch == 0) return indices;
  Shape shape = gradient.shape_of(indices);
  shape.back() = static_cast<std::int64_t>(batch);
  Tensor own = Tensor::allocate(gradient.type_of(indices), shape);
  for (std::int64_t e = 0; e < own.size(); ++e) {
    std::int64_t below = 1;
    for (std::size_t d = static_cast<std::size_t>(e % shape.back()) + 1; d < shape.size(); ++d) {
      below *= shape[d];
    }
    const auto d = static_cast<std::size_t>(e % shape.back());
    own.set(e, static_cast<double>(e / below % shape[d]));
  }
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  return gradient.add("Concat", {gradient.constant(std::move(own)), indices}, {{"axis", last}});
}

/// What comes back to an element is the sum over the places that it was read for.
void gradient_of_gather_nd(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const TensorId none = zeros(gradient, node.input(0).dtype, node.input(0).shape);
  gradient.give(
      0, gradient.add("ScatterND",
                      {none, whole_tuples(gradient, tuples_of(node).batch), gradient.of_output()},
                      {{"reduction", std::string("add")}}));
}

}  // namespace

const Operator& operator_GatherND() {
  static const Operator kOperator{
      .name = "GatherND",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"batch_dims"},
      .since_opset = 11,
      .infer = infer_gather_nd,
      .host = {.reference = reference_gather_nd},
      .lower = lower_gather_nd,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_gather_nd,
  };
  return kOperator;
}

}  // namespace morton::ops
