// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/published.hpp"
#include "reproduce/experiment.hpp"

namespace morton::cli {

/// A network of `published_networks()`, by its name. Throws InternalError.
[[nodiscard]] const PublishedNetwork& published_network(const std::string& name);

/// Its layers' published milliseconds in a column of that name; only of `layers`, in their order.
[[nodiscard]] std::vector<double> published_column(const PublishedNetwork& network,
                                                   const std::string& column,
                                                   const std::vector<PublishedLayer>& layers);

/// The names of layers, as a table's rows.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<PublishedLayer>& layers);

/// Those layers whose names begin so: "conv", "fc"; all for "".
[[nodiscard]] std::vector<PublishedLayer> layers_named(const PublishedNetwork& network,
                                                       const std::string& prefix);

/// What is read of each layer of a profile.
enum class LayerClock : std::uint8_t {
  wall,                ///< each step alone and waited for
  kernels,             ///< on the device's clock
  overhead,            ///< the one without the other
  products,            ///< on the device's clock, steps that convolve or multiply
  rest,                ///< on it, all other steps
  unfolding,           ///< on it, CLBlast's xIM2COL
  copying,             ///< on it, CLBlast's xCOPY
  routines_of_product  ///< on it, CLBlast's products
};

/// Reads a clock of all layers into a column.
void add_layer_places(const std::vector<PublishedLayer>& layers, std::size_t column,
                      LayerClock clock, Cell& cell);

}  // namespace morton::cli
