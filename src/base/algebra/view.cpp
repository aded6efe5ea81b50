// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/view.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"

namespace morton {
namespace {

/// Coordinates of the tensor dimensions of one group, from the joined coordinate: mixed radix, the
/// outermost member unbounded above.
void split_group(const JoinedDimensions& group, const Expression& joined,
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

/// True for a dimension of one element, which every coordinate 0 reads.
bool is_single(const Expression& coordinate, const Expression& extent) {
  std::int64_t at = -1;
  std::int64_t count = 0;
  return coordinate.is_constant(&at) && at == 0 && extent.is_constant(&count) && count == 1;
}

enum class Singles : std::uint8_t { apart, joined };

/// The grouping that these coordinates would have if they were one: tensor dimensions are joined by
/// the one variable they depend on. In a recipe's binding, one of a single element goes with the
/// dimension before it: there its coordinate has become 0 because the extent was put in.
std::optional<Grouping> guess_grouping(const std::vector<std::string>& dimensions,
                                       const std::vector<Expression>& coordinates,
                                       const std::vector<Expression>& extents, Singles singles) {
  Grouping grouping(dimensions.size());
  int owner = -1;
  for (std::size_t t = 0; t < coordinates.size(); ++t) {
    if (singles == Singles::joined && owner >= 0 && is_single(coordinates[t], extents[t])) {
      grouping[static_cast<std::size_t>(owner)].push_back(static_cast<int>(t));
      continue;
    }
    owner = -1;
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

/// The grouping that the view's coordinates spell in the form in which `View::grouped` writes it.
std::optional<Grouping> find_grouping(const View& view, Singles singles) {
  const auto guess = guess_grouping(view.dimensions, view.coordinates, view.extents, singles);
  if (!guess) return std::nullopt;
  const View canonical = View::grouped(view.dimensions, *guess, view.extents);
  for (std::size_t t = 0; t < view.extents.size(); ++t) {
    if (canonical.coordinates[t] == view.coordinates[t]) continue;
    const bool same = canonical.coordinates[t].substitute({}) == view.coordinates[t] ||
                      is_single(view.coordinates[t], view.extents[t]);
    if (singles == Singles::apart || !same) return std::nullopt;
  }
  return guess;
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
  view.grouping = find_grouping(view, Singles::apart);
  return view;
}

View View::compose(std::vector<std::string> outer_dimensions, const std::vector<Expression>& inner,
                   const std::map<std::string, Expression>& names) const {
  if (inner.size() != dimensions.size()) {
    throw ModelError("view " + print() + ": bound with " + std::to_string(inner.size()) +
                     " coordinates, has " + std::to_string(dimensions.size()));
  }
  // Of the names only those that the coordinates have.
  std::map<std::string, Expression> replacements;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    replacements.insert_or_assign(coordinate_name(dimensions[d]), inner[d]);
  }
  for (const auto& coordinate : coordinates) {
    for (const std::string& name : coordinate.variables()) {
      const auto replacement = names.find(name);
      if (replacement != names.end()) replacements.emplace(name, replacement->second);
    }
  }
  std::vector<Expression> composed;
  for (const auto& coordinate : coordinates)
    composed.push_back(coordinate.substitute(replacements));
  std::vector<Expression> renamed;
  for (const auto& extent : extents) renamed.push_back(extent.substitute(names));
  View view = mapped(std::move(outer_dimensions), std::move(composed), renamed);
  if (!view.grouping) view.grouping = find_grouping(view, Singles::joined);
  // What leaves the tensor is no bijection, whatever its coordinates spell.
  if (bounded) view.grouping.reset();
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
