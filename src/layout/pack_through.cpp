// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "layout/arrangement.hpp"

namespace morton {
namespace {

/// Where the elements of an operand lie in a dense tensor, for a view each of whose coordinates
/// depends on one operand dimension at most: a sum of one table entry for each dimension.
class Tables {
 public:
  /// No tables where a coordinate depends on several dimensions.
  static std::optional<Tables> of(const View& view, const Environment& extents,
                                  const Shape& operand, const Shape& tensor);

  /// Calls visit(i, from) for each operand element in row-major order, `from` being its index in
  /// the tensor or -1 outside of it. The operand is not empty.
  template <typename Visit>
  void run(const Visit& visit) const {
    std::int64_t element = 0;
    descend(0, start_, element, visit);
  }

 private:
  /// What leaves the tensor in any dimension stays below zero: no sum of offsets reaches it.
  static constexpr std::int64_t kOutside = std::numeric_limits<std::int64_t>::min() / 64;

  template <typename Visit>
  void descend(std::size_t depth, std::int64_t from, std::int64_t& element,
               const Visit& visit) const {
    if (depth == offsets_.size()) return visit(element++, from < 0 ? -1 : from);
    if (depth + 1 < offsets_.size()) {
      for (const std::int64_t offset : offsets_[depth]) {
        descend(depth + 1, from + offset, element, visit);
      }
      return;
    }
    for (const std::int64_t offset : offsets_[depth]) {
      const std::int64_t sum = from + offset;
      visit(element++, sum < 0 ? -1 : sum);
    }
  }

  std::int64_t start_ = 0;
  std::vector<std::vector<std::int64_t>> offsets_;
};

/// The expressions of `view` in coordinates alone: every other name is replaced by its value.
std::vector<Expression> in_coordinates(const View& view, const Environment& extents) {
  std::map<std::string, Expression> constants;
  for (const auto& [name, value] : extents) constants.emplace(name, Expression(value));
  for (const auto& dimension : view.dimensions) constants.erase(coordinate_name(dimension));
  std::vector<Expression> expressions;
  for (const auto& expression : view.coordinates) {
    expressions.push_back(expression.substitute(constants));
  }
  return expressions;
}

/// All operand dimensions that `expression` depends on.
std::vector<std::size_t> dimensions_in(const Expression& expression, const View& view) {
  const auto names = expression.variables();
  std::vector<std::size_t> used;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    if (names.count(coordinate_name(view.dimensions[d])) != 0) used.push_back(d);
  }
  return used;
}

std::optional<Tables> Tables::of(const View& view, const Environment& extents, const Shape& operand,
                                 const Shape& tensor) {
  const std::vector<Expression> expressions = in_coordinates(view, extents);
  const Shape strides = row_major_strides(tensor);
  Tables tables;
  for (const std::int64_t extent : operand) {
    tables.offsets_.emplace_back(static_cast<std::size_t>(extent), 0);
  }
  const auto offset = [&](std::size_t t, std::int64_t coordinate) {
    const bool inside = coordinate >= 0 && coordinate < tensor[t];
    return inside ? coordinate * strides[t] : kOutside;
  };
  for (std::size_t t = 0; t < expressions.size(); ++t) {
    const std::vector<std::size_t> used = dimensions_in(expressions[t], view);
    if (used.size() > 1) return std::nullopt;
    if (used.empty()) {
      tables.start_ += offset(t, expressions[t].evaluate(extents));
      continue;
    }
    const std::string name = coordinate_name(view.dimensions[used.front()]);
    std::vector<std::int64_t>& table = tables.offsets_[used.front()];
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] += offset(t, expressions[t].evaluate({{name, static_cast<std::int64_t>(i)}}));
    }
  }
  return tables;
}

/// Likewise for any view, each coordinate evaluated anew for every element.
template <typename Visit>
void run_evaluated(const View& view, const Environment& extents, const Shape& operand,
                   const Shape& tensor, const Visit& visit) {
  const std::vector<Expression> expressions = in_coordinates(view, extents);
  Environment at;
  std::vector<std::int64_t*> position;
  for (const auto& dimension : view.dimensions) {
    position.push_back(&at.insert_or_assign(coordinate_name(dimension), 0).first->second);
  }
  const auto index = [&]() -> std::int64_t {
    std::int64_t from = 0;
    for (std::size_t t = 0; t < tensor.size(); ++t) {
      const std::int64_t coordinate = expressions[t].evaluate(at);
      if (coordinate < 0 || coordinate >= tensor[t]) return -1;
      from = from * tensor[t] + coordinate;
    }
    return from;
  };
  const std::int64_t count = element_count(operand);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, index());
    for (std::size_t d = operand.size(); d-- > 0;) {
      if (++*position[d] < operand[d]) break;
      *position[d] = 0;
    }
  }
}

/// The operand that `view` shows of `source`, dense and row-major.
template <typename T>
Tensor seen_through(const Tensor& source, const View& view, const Environment& extents,
                    const Shape& operand) {
  Tensor seen = Tensor::allocate(source.dtype(), operand);
  if (seen.size() == 0) return seen;
  std::byte* to = seen.mutable_data();
  const auto take = [&](std::int64_t i, std::int64_t from) {
    if (from >= 0) {
      std::memcpy(to + i * std::int64_t{sizeof(T)}, source.data() + from * std::int64_t{sizeof(T)},
                  sizeof(T));
    } else if (view.bounded) {
      seen.set(i, view.outside);
    } else {
      throw ModelError("pack: the view " + view.print() + " leaves the tensor of " +
                       to_string(source.shape()) + " at element " + std::to_string(i) +
                       " of the operand " + to_string(operand));
    }
  };
  if (const auto tables = Tables::of(view, extents, operand, source.shape())) {
    tables->run(take);
  } else {
    run_evaluated(view, extents, operand, source.shape(), take);
  }
  return seen;
}

Tensor seen_through(const Tensor& source, const View& view, const Environment& extents,
                    const Shape& operand) {
  switch (size_of(source.dtype())) {
    case 1:
      return seen_through<std::uint8_t>(source, view, extents, operand);
    case 2:
      return seen_through<std::uint16_t>(source, view, extents, operand);
    case 4:
      return seen_through<std::uint32_t>(source, view, extents, operand);
    case 8:
      return seen_through<std::uint64_t>(source, view, extents, operand);
    default:
      throw InternalError("pack: no copy for " + std::string(name_of(source.dtype())));
  }
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
  pack(seen_through(source, view, extents, operand), arrangement, destination);
}

}  // namespace morton
