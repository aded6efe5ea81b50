// SPDX-License-Identifier: Apache-2.0
#include "base/view.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"

namespace morton {
namespace {

/// Coordinates of the tensor dimensions of one group, from the joined coordinate: mixed radix, the
/// outermost member unbounded above.
void split_group(const std::vector<int>& group, const Expression& joined,
                 const std::vector<Expression>& extents, std::vector<Expression>& coordinates) {
  Expression below(1);
  for (std::size_t i = group.size(); i-- > 0;) {
    const auto dimension = static_cast<std::size_t>(group[i]);
    Expression coordinate = joined / below;
    if (i > 0) coordinate = coordinate % extents[dimension];
    coordinates[dimension] = coordinate;
    below = extents[dimension] * below;
  }
}

/// The grouping that these coordinates would have if they were one: tensor dimensions are joined by
/// the one variable they depend on.
std::optional<Grouping> guess_grouping(const std::vector<std::string>& dimensions,
                                       const std::vector<Expression>& coordinates) {
  Grouping grouping(dimensions.size());
  for (std::size_t t = 0; t < coordinates.size(); ++t) {
    int owner = -1;
    for (const auto& name : coordinates[t].variables()) {
      for (std::size_t d = 0; d < dimensions.size(); ++d) {
        if (name != coordinate_name(dimensions[d])) continue;
        if (owner >= 0) return std::nullopt;
        owner = static_cast<int>(d);
      }
    }
    if (owner < 0) return std::nullopt;
    grouping[static_cast<std::size_t>(owner)].push_back(static_cast<int>(t));
  }
  return grouping;
}

}  // namespace

std::string coordinate_name(const std::string& dimension) {
  std::string name = dimension;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

View View::grouped(std::vector<std::string> dimensions, Grouping grouping,
                   const std::vector<Expression>& extents) {
  if (grouping.size() != dimensions.size()) {
    throw InternalError("view: " + std::to_string(grouping.size()) + " groups for " +
                        std::to_string(dimensions.size()) + " dimensions");
  }
  View view;
  view.dimensions = std::move(dimensions);
  view.coordinates.resize(extents.size());
  view.extents = extents;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    split_group(grouping[d], Expression::variable(coordinate_name(view.dimensions[d])), extents,
                view.coordinates);
  }
  view.grouping = std::move(grouping);
  return view;
}

View View::identity(std::vector<std::string> dimensions) {
  Grouping grouping;
  std::vector<Expression> extents;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    grouping.push_back({static_cast<int>(d)});
    extents.push_back(Expression::variable(dimensions[d]));
  }
  return grouped(std::move(dimensions), std::move(grouping), extents);
}

View View::mapped(std::vector<std::string> dimensions, std::vector<Expression> coordinates,
                  const std::vector<Expression>& extents) {
  View view;
  view.dimensions = std::move(dimensions);
  view.coordinates = std::move(coordinates);
  view.extents = extents;
  if (const auto guess = guess_grouping(view.dimensions, view.coordinates)) {
    const View canonical = grouped(view.dimensions, *guess, extents);
    if (canonical.coordinates == view.coordinates) view.grouping = *guess;
  }
  return view;
}

View View::compose(std::vector<std::string> outer_dimensions, const std::vector<Expression>& inner,
                   const std::map<std::string, Expression>& names) const {
  if (inner.size() != dimensions.size()) {
    throw ModelError("view " + print() + ": bound with " + std::to_string(inner.size()) +
                     " coordinates, has " + std::to_string(dimensions.size()));
  }
  std::map<std::string, Expression> replacements = names;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    replacements.insert_or_assign(coordinate_name(dimensions[d]), inner[d]);
  }
  std::vector<Expression> composed;
  for (const auto& coordinate : coordinates)
    composed.push_back(coordinate.substitute(replacements));
  std::vector<Expression> renamed;
  for (const auto& extent : extents) renamed.push_back(extent.substitute(names));
  View view = mapped(std::move(outer_dimensions), std::move(composed), renamed);
  view.bounded = bounded;
  view.outside = outside;
  return view;
}

std::string View::print() const {
  std::string text = "(";
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    text += (d > 0 ? ", " : "") + coordinate_name(dimensions[d]);
  }
  text += ") -> [";
  for (std::size_t t = 0; t < coordinates.size(); ++t) {
    text += (t > 0 ? ", " : "") + coordinates[t].print();
  }
  return text + "]";
}

}  // namespace morton
