// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "morton/tensor.hpp"

namespace morton::cli {

/// A layer of a network that R18 measured, in the order of its tables.
struct PublishedLayer {
  std::string_view name;             ///< R18's: "conv1-1"
  std::string_view step;             ///< the model's: the first of the step's nodes, "features.0"
  std::vector<double> milliseconds;  ///< one for each column; kNotPublished where there is none
};

inline constexpr double kNotPublished = -1.0;

/// What R18 published of a network, on a Mali T-628.
struct PublishedNetwork {
  std::string_view name;  ///< "lenet5"
  std::string_view title;
  Shape input;
  std::vector<std::string_view> columns;
  std::vector<PublishedLayer> layers;
  std::vector<double> totals;  ///< as printed, by column
  std::string_view notes;      ///< where the columns are from, and what to know of them
};

[[nodiscard]] std::span<const PublishedNetwork> published_networks();

}  // namespace morton::cli
