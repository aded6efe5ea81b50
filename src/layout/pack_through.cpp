// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/checked.hpp"
#include "layout/arrangement.hpp"

namespace morton {
namespace {

/// Counts through the coordinates of an operand and knows the tensor coordinates that a view gives
/// each. A coordinate that depends on one operand dimension is evaluated once for each of its
/// values.
class ViewCursor {
 public:
  ViewCursor(const View& view, const Environment& extents, const Shape& operand);

  [[nodiscard]] std::int64_t coordinate(std::size_t t) const {
    const Source& source = sources_[t];
    return source.values.empty() ? source.expression.evaluate(environment_)
                                 : source.values[static_cast<std::size_t>(
                                       source.dimension < 0 ? 0 : position_[source.dimension])];
  }
  void advance();

 private:
  struct Source {
    Expression expression;
    int dimension = -1;
    std::vector<std::int64_t> values;
  };
  /// Sets the dimension the expression depends on and its values, unless it depends on several.
  void tabulate(Source& source, const View& view);
  void set(std::size_t dimension, std::int64_t value) {
    position_[dimension] = value;
    *variables_[dimension] = value;
  }

  Shape operand_;
  Shape position_;
  Environment environment_;
  std::vector<std::int64_t*> variables_;
  std::vector<Source> sources_;
};

ViewCursor::ViewCursor(const View& view, const Environment& extents, const Shape& operand)
    : operand_(operand), position_(operand.size(), 0), environment_(extents) {
  std::map<std::string, Expression> constants;
  for (const auto& [name, value] : extents) constants.emplace(name, Expression(value));
  for (const auto& dimension : view.dimensions) {
    const std::string name = coordinate_name(dimension);
    constants.erase(name);
    variables_.push_back(&environment_.insert_or_assign(name, 0).first->second);
  }
  for (const auto& expression : view.coordinates) {
    sources_.push_back({expression.substitute(constants), -1, {}});
    tabulate(sources_.back(), view);
  }
}

void ViewCursor::tabulate(Source& source, const View& view) {
  const auto used = source.expression.variables();
  int uses = 0;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    if (used.count(coordinate_name(view.dimensions[d])) == 0) continue;
    source.dimension = static_cast<int>(d);
    ++uses;
  }
  if (uses > 1) return;
  const std::int64_t count = uses == 0 ? 1 : operand_[source.dimension];
  for (std::int64_t i = 0; i < count; ++i) {
    if (uses == 1) *variables_[source.dimension] = i;
    source.values.push_back(source.expression.evaluate(environment_));
  }
  if (uses == 1) *variables_[source.dimension] = 0;
}

void ViewCursor::advance() {
  for (std::size_t d = operand_.size(); d-- > 0;) {
    if (position_[d] + 1 < operand_[d]) return set(d, position_[d] + 1);
    set(d, 0);
  }
}

/// The row-major index that the cursor points at in a tensor of `shape`; -1 where it is outside.
std::int64_t tensor_index(const ViewCursor& cursor, const Shape& shape) {
  std::int64_t index = 0;
  for (std::size_t t = 0; t < shape.size(); ++t) {
    const std::int64_t coordinate = cursor.coordinate(t);
    if (coordinate < 0 || coordinate >= shape[t]) return -1;
    index = index * shape[t] + coordinate;
  }
  return index;
}

}  // namespace

void pack_through(const Tensor& source, const View& view, const Environment& extents,
                  const Arrangement& arrangement, std::span<std::byte> destination) {
  const Shape& operand = arrangement.tensor_shape;
  if (view.dimensions.size() != operand.size() ||
      view.coordinates.size() != source.shape().size()) {
    throw ModelError("pack: the view " + view.print() + " does not take a tensor of " +
                     to_string(source.shape()) + " to an operand of " + to_string(operand));
  }
  Tensor seen = Tensor::allocate(source.dtype(), operand);
  std::byte* to = seen.mutable_data();
  const auto size = static_cast<std::size_t>(size_of(source.dtype()));
  const std::int64_t count = seen.size();
  if (count == 0) return pack(seen, arrangement, destination);
  ViewCursor cursor(view, extents, operand);
  for (std::int64_t i = 0; i < count; ++i, cursor.advance()) {
    const std::int64_t from = tensor_index(cursor, source.shape());
    if (from >= 0) {
      std::memcpy(to + static_cast<std::size_t>(i) * size,
                  source.data() + static_cast<std::size_t>(from) * size, size);
    } else if (view.bounded) {
      seen.set(i, view.outside);
    } else {
      throw ModelError("pack: the view " + view.print() + " leaves the tensor of " +
                       to_string(source.shape()) + " at element " + std::to_string(i) +
                       " of the operand " + to_string(operand));
    }
  }
  pack(seen, arrangement, destination);
}

}  // namespace morton
