// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "layout/arrangement.hpp"
#include "layout/element_bits.hpp"
#include "layout/pack_slabs.hpp"

namespace morton::layout {
namespace {

/// Where the elements of an operand lie in a dense tensor: a sum of one table entry for each group
/// of dimensions that some coordinate joins (most coordinates depend on one dimension alone).
class Tables {
 public:
  /// Throws ModelError where the view names what `extents` lacks. The operand is not empty.
  Tables(const View& view, const Environment& extents, const Shape& operand, const Shape& tensor);

  /// Calls visit(i, from) for each operand element in row-major order, `from` being its index in
  /// the tensor or -1 outside of it.
  template <typename Visit>
  void run(const Visit& visit) {
    std::int64_t element = 0;
    descend(0, element, visit);
  }

 private:
  /// What leaves the tensor in any dimension stays below zero: no sum of offsets reaches it.
  static constexpr std::int64_t kOutside = std::numeric_limits<std::int64_t>::min() / 64;

  struct Table {
    std::vector<std::size_t> dimensions;  ///< of the operand, outermost first
    std::vector<std::int64_t> offsets;    ///< row-major over them
    std::int64_t position = 0;            ///< of the element that is visited
  };
  /// Where an operand dimension counts in its table.
  struct Step {
    std::size_t table = 0;
    std::int64_t stride = 1;
  };

  void group(const std::vector<std::vector<std::size_t>>& used);
  void lay_out();

  template <typename Visit>
  void descend(std::size_t depth, std::int64_t& element, const Visit& visit) {
    if (depth == operand_.size()) return visit(element++, sum() < 0 ? -1 : sum());
    const Step step = steps_[depth];
    Table& table = tables_[step.table];
    const std::int64_t before = table.position;
    if (depth + 1 < operand_.size()) {
      for (std::int64_t i = 0; i < operand_[depth]; ++i, table.position += step.stride) {
        descend(depth + 1, element, visit);
      }
    } else {
      const std::int64_t others = sum() - offset_of(table);
      for (std::int64_t i = 0; i < operand_[depth]; ++i, table.position += step.stride) {
        const std::int64_t from = others + offset_of(table);
        visit(element++, from < 0 ? -1 : from);
      }
    }
    table.position = before;
  }

  static std::int64_t offset_of(const Table& table) {
    return table.offsets[static_cast<std::size_t>(table.position)];
  }
  [[nodiscard]] std::int64_t sum() const {
    std::int64_t from = start_;
    for (const Table& table : tables_) from += offset_of(table);
    return from;
  }

  Shape operand_;
  std::int64_t start_ = 0;
  std::vector<Table> tables_;
  std::vector<Step> steps_;  ///< by operand dimension
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

/// Counts through the coordinates of some operand dimensions, row-major.
class Counter {
 public:
  Counter(const View& view, const std::vector<std::size_t>& dimensions, const Shape& operand) {
    for (const std::size_t d : dimensions) at_[coordinate_name(view.dimensions[d])] = 0;
    for (const std::size_t d : dimensions) {
      positions_.push_back(&at_.at(coordinate_name(view.dimensions[d])));
      extents_.push_back(operand[d]);
    }
  }
  [[nodiscard]] const Environment& at() const { return at_; }
  void advance() {
    for (std::size_t d = extents_.size(); d-- > 0;) {
      if (++*positions_[d] < extents_[d]) return;
      *positions_[d] = 0;
    }
  }

 private:
  Environment at_;
  std::vector<std::int64_t*> positions_;
  Shape extents_;
};

/// Gives every dimension a table; those that one coordinate depends on share theirs.
void Tables::group(const std::vector<std::vector<std::size_t>>& used) {
  std::vector<std::size_t> group_of(operand_.size());
  std::iota(group_of.begin(), group_of.end(), std::size_t{0});
  for (const auto& together : used) {
    for (const std::size_t d : together) {
      const std::size_t old = group_of[d];
      std::replace(group_of.begin(), group_of.end(), old, group_of[together.front()]);
    }
  }
  std::map<std::size_t, std::size_t> table_of_group;
  for (std::size_t d = 0; d < operand_.size(); ++d) {
    const auto [found, is_new] = table_of_group.emplace(group_of[d], tables_.size());
    if (is_new) tables_.emplace_back();
    tables_[found->second].dimensions.push_back(d);
    steps_.push_back({found->second, 1});
  }
}

void Tables::lay_out() {
  for (Table& table : tables_) {
    std::int64_t stride = 1;
    for (std::size_t i = table.dimensions.size(); i-- > 0;) {
      const std::size_t d = table.dimensions[i];
      steps_[d].stride = stride;
      stride *= operand_[d];
    }
    table.offsets.assign(static_cast<std::size_t>(stride), 0);
  }
}

Tables::Tables(const View& view, const Environment& extents, const Shape& operand,
               const Shape& tensor)
    : operand_(operand) {
  const std::vector<Expression> expressions = in_coordinates(view, extents);
  std::vector<std::vector<std::size_t>> used;
  for (const Expression& expression : expressions) used.push_back(dimensions_in(expression, view));
  group(used);
  lay_out();
  const Shape strides = row_major_strides(tensor);
  for (std::size_t t = 0; t < expressions.size(); ++t) {
    const auto offset = [&](const Environment& at) {
      const std::int64_t coordinate = expressions[t].evaluate(at);
      const bool inside = coordinate >= 0 && coordinate < tensor[t];
      return inside ? coordinate * strides[t] : kOutside;
    };
    if (used[t].empty()) {
      start_ += offset(extents);
      continue;
    }
    Table& table = tables_[steps_[used[t].front()].table];
    Counter counter(view, table.dimensions, operand);
    for (std::int64_t& sum : table.offsets) {
      sum += offset(counter.at());
      counter.advance();
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
      std::memcpy(to + i * std::int64_t{sizeof(T)},
                  source.stored() + from * std::int64_t{sizeof(T)}, sizeof(T));
    } else if (view.bounded) {
      seen.set(i, view.outside);
    } else {
      throw ModelError("pack: the view " + view.print() + " leaves the tensor of " +
                       to_string(source.shape()) + " at element " + std::to_string(i) +
                       " of the operand " + to_string(operand));
    }
  };
  Tables(view, extents, operand, source.shape()).run(take);
  return seen;
}

/// How the outermost loop cuts an arrangement: each of its iterations holds `span` coordinates of
/// one dimension, in `stride` elements of memory.
struct Cut {
  std::size_t dimension = 0;
  std::int64_t iterations = 1;
  std::int64_t stride = 0;
  std::int64_t span = 1;
};

/// No value where memory cannot be cut so.
std::optional<Cut> cut_of(const Arrangement& arrangement) {
  if (arrangement.memory != MemoryKind::buffer || arrangement.pitch != 0) return std::nullopt;
  const BoundLayout bound(arrangement.layout, arrangement.padded);
  const auto& loops = arrangement.layout.loops();
  std::vector<bool> is_cut(arrangement.padded.size(), false);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const auto dimension = static_cast<std::size_t>(loops[i].dimension);
    const std::int64_t iterations = bound.iterations()[i];
    if (iterations > 1) {
      // An inner loop of its dimension has the same iterations at every extent.
      if (is_cut[dimension] || arrangement.grouping[dimension].size() != 1) return std::nullopt;
      return Cut{dimension, iterations, bound.strides()[i],
                 arrangement.padded[dimension] / iterations};
    }
    is_cut[dimension] = true;
  }
  return std::nullopt;
}

/// The view of what begins at `first` in one of its dimensions.
View from_coordinate(const View& view, std::size_t dimension, std::int64_t first) {
  const std::string name = coordinate_name(view.dimensions[dimension]);
  const std::map<std::string, Expression> shifted{
      {name, Expression::variable(name) + Expression(first)}};
  View part = view;
  for (Expression& coordinate : part.coordinates) coordinate = coordinate.substitute(shifted);
  return part;
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
  const Tensor seen = with_element_bits(source.dtype(), [&](auto bits) {
    return seen_through<decltype(bits)>(source, view, extents, operand);
  });
  pack(seen, arrangement, destination);
}

void pack_through_in_slabs(const Tensor& source, const View& view, const Environment& extents,
                           const Arrangement& arrangement, std::int64_t most_bytes,
                           const TakeSlab& take) {
  const std::optional<Cut> cut = cut_of(arrangement);
  const std::int64_t whole_bytes = bytes_of(arrangement);
  if (!cut || whole_bytes <= most_bytes) {
    return take({0, whole_bytes, [&](std::span<std::byte> to) {
                   pack_through(source, view, extents, arrangement, to);
                 }});
  }
  const std::int64_t stride_bytes = cut->stride * size_of(arrangement.dtype);
  const std::int64_t at_once = std::max<std::int64_t>(1, most_bytes / stride_bytes);
  const auto tensor_dimension =
      static_cast<std::size_t>(arrangement.grouping[cut->dimension].front());
  const std::int64_t extent = arrangement.tensor_shape[tensor_dimension];
  for (std::int64_t first = 0; first < cut->iterations; first += at_once) {
    const std::int64_t count = std::min(at_once, cut->iterations - first);
    const std::int64_t start = std::min(first * cut->span, extent);
    Arrangement part = arrangement;
    part.padded[cut->dimension] = count * cut->span;
    part.tensor_shape[tensor_dimension] = std::min(count * cut->span, extent - start);
    const auto fill = [&](std::span<std::byte> to) {
      if (start >= extent) return std::fill(to.begin(), to.end(), std::byte{0});  // padding
      pack_through(source, from_coordinate(view, tensor_dimension, start), extents, part, to);
    };
    take({first * stride_bytes, bytes_of(part), fill});
  }
}

}  // namespace morton::layout
