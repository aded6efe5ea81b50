// SPDX-License-Identifier: Apache-2.0
#include "ops/math/along.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"

namespace morton::ops {
namespace {

/// The name of the extent of tensor dimension `d`, a member of the group that is the problem's
/// dimension `name`.
std::string extent_name(const std::string& name, const std::vector<int>& group, int d) {
  return group.size() == 1 ? name : "D" + std::to_string(d);
}

void set_extent(Problem& problem, const std::string& name, const std::vector<int>& group,
                const Shape& shape) {
  for (const int d : group) {
    problem.extents[extent_name(name, group, d)] = shape[static_cast<std::size_t>(d)];
  }
  problem.extents[name] = extent_of(shape, group);
}

}  // namespace

std::vector<int> Along::kept() const {
  std::vector<int> dimensions = outer;
  dimensions.insert(dimensions.end(), inner.begin(), inner.end());
  return dimensions;
}

Along along(std::size_t rank, const std::vector<std::size_t>& axes) {
  const std::size_t behind = axes.empty() ? 0 : *std::max_element(axes.begin(), axes.end()) + 1;
  Along result;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool chosen = std::find(axes.begin(), axes.end(), d) != axes.end();
    auto& group = chosen ? result.along : d >= behind ? result.inner : result.outer;
    group.push_back(static_cast<int>(d));
  }
  return result;
}

std::vector<std::size_t> checked_axes(const NodeView& node, const std::vector<std::int64_t>& axes,
                                      std::size_t rank) {
  std::vector<std::size_t> result;
  for (const std::int64_t axis : axes) {
    const std::size_t checked = node.axis(axis, rank, static_cast<std::int64_t>(rank) - 1);
    if (std::find(result.begin(), result.end(), checked) != result.end()) {
      node.fail("the axis " + std::to_string(axis) + " stands twice among the axes");
    }
    result.push_back(checked);
  }
  return result;
}

std::int64_t extent_of(const Shape& shape, const std::vector<int>& dimensions) {
  std::int64_t extent = 1;
  for (const int d : dimensions) {
    extent = checked_mul(extent, shape[static_cast<std::size_t>(d)], "joined dimensions");
  }
  return extent;
}

std::vector<std::size_t> offsets_of(const Shape& shape, const std::vector<int>& dimensions) {
  const Shape strides = row_major_strides(shape);
  std::vector<std::size_t> offsets{0};
  for (const int d : dimensions) {
    const auto extent = static_cast<std::size_t>(shape[static_cast<std::size_t>(d)]);
    const auto stride = static_cast<std::size_t>(strides[static_cast<std::size_t>(d)]);
    std::vector<std::size_t> grown;
    grown.reserve(offsets.size() * extent);
    for (const std::size_t offset : offsets) {
      for (std::size_t i = 0; i < extent; ++i) grown.push_back(offset + i * stride);
    }
    offsets = std::move(grown);
  }
  return offsets;
}

Shape reduced_shape(const Along& along, const Shape& shape, Reduced reduced) {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool of_length =
        std::find(along.along.begin(), along.along.end(), static_cast<int>(d)) != along.along.end();
    if (!of_length) {
      result.push_back(shape[d]);
    } else if (reduced == Reduced::kept_as_one) {
      result.push_back(1);
    }
  }
  return result;
}

void set_extents(Problem& problem, const Along& along, const Shape& shape) {
  set_extent(problem, "M", along.outer, shape);
  set_extent(problem, "L", along.along, shape);
  set_extent(problem, "N", along.inner, shape);
}

View view_along(const Along& along, const Shape& shape, const std::string& length) {
  std::vector<Expression> extents(shape.size());
  const auto name_extents = [&](const std::string& name, const std::vector<int>& group) {
    for (const int d : group) {
      extents[static_cast<std::size_t>(d)] = Expression::variable(extent_name(name, group, d));
    }
  };
  name_extents("M", along.outer);
  name_extents(length, along.along);
  name_extents("N", along.inner);
  Grouping grouping(3);
  grouping[0].append(along.outer);
  grouping[1].append(along.along);
  grouping[2].append(along.inner);
  return View::grouped({"M", length, "N"}, std::move(grouping), extents);
}

View view_of_reduced(const Along& along, const Shape& shape, Reduced reduced,
                     const std::string& first) {
  const bool dropped = reduced == Reduced::dropped;
  std::vector<Expression> extents;
  Grouping grouping(3);  // of what is 1, M and N
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto dimension = static_cast<int>(d);
    const auto is_of = [&](const std::vector<int>& group) {
      return std::find(group.begin(), group.end(), dimension) != group.end();
    };
    const bool ones = is_of(along.along);
    if (ones && dropped) continue;
    const auto& group = is_of(along.outer) ? along.outer : along.inner;
    const std::string name = is_of(along.outer) ? "M" : "N";
    grouping[ones ? 0 : is_of(along.outer) ? 1 : 2].push_back(static_cast<int>(extents.size()));
    extents.push_back(ones ? Expression(1)
                           : Expression::variable(extent_name(name, group, dimension)));
  }
  if (!first.empty()) return View::grouped({first, "M", "N"}, std::move(grouping), extents);
  // Dimensions of 1 are M's innermost ones.
  grouping[1].append(grouping[0]);
  grouping.erase(grouping.begin());
  return View::grouped({"M", "N"}, std::move(grouping), extents);
}

}  // namespace morton::ops
