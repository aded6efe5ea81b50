// SPDX-License-Identifier: Apache-2.0
#include "reproduce/published_layers.hpp"

#include <algorithm>

#include "morton/error.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

const std::vector<std::string> kProducts{"gemm.", "batched_gemm.", "filter_gemm.", "conv2d.",
                                         "conv2d_pool."};

/// One figure less another.
Reader difference(Reader all, Reader part) {
  return
      [all = std::move(all), part = std::move(part)](const Json& report) -> std::optional<Reading> {
        std::optional<Reading> whole = all(report);
        const std::optional<Reading> less = part(report);
        if (!whole || !less) return std::nullopt;
        // Both are medians, and of different runs where their clocks differ.
        if (whole->value < less->value) return std::nullopt;
        whole->value -= less->value;
        return whole;
      };
}

Reader layer_reader(const std::string& node, LayerClock clock) {
  const Reader kernels = profiled_layer(node, "device_us");
  switch (clock) {
    case LayerClock::wall:
      return profiled_layer(node, "host_us");
    case LayerClock::kernels:
      return kernels;
    case LayerClock::overhead:
      return difference(profiled_layer(node, "host_us"), kernels);
    case LayerClock::products:
      return profiled_layer_part(node, kProducts);
    case LayerClock::rest:
      return difference(kernels, profiled_layer_part(node, kProducts));
    case LayerClock::unfolding:
      return profiled_layer_routines(node, {"xIM2COL"});
    case LayerClock::copying:
      return profiled_layer_routines(node, {"xCOPY"});
    case LayerClock::routines_of_product:
      break;
  }
  return profiled_layer_routines(node, {"xGEMMBATCHED", "xGEMM", "xGEMV"});
}

}  // namespace

const PublishedNetwork& published_network(const std::string& name) {
  for (const PublishedNetwork& network : published_networks()) {
    if (network.name == name) return network;
  }
  throw InternalError("nothing is published of the network " + name);
}

std::vector<double> published_column(const PublishedNetwork& network, const std::string& column,
                                     const std::vector<PublishedLayer>& layers) {
  const auto found = std::ranges::find(network.columns, column);
  if (found == network.columns.end()) throw InternalError("no column " + column + " is published");
  const auto index = static_cast<std::size_t>(found - network.columns.begin());
  std::vector<double> values;
  for (const PublishedLayer& layer : layers) values.push_back(layer.milliseconds[index]);
  return values;
}

std::vector<std::string> names_of(const std::vector<PublishedLayer>& layers) {
  std::vector<std::string> names;
  for (const PublishedLayer& layer : layers) names.emplace_back(layer.name);
  return names;
}

std::vector<PublishedLayer> layers_named(const PublishedNetwork& network,
                                         const std::string& prefix) {
  std::vector<PublishedLayer> layers;
  for (const PublishedLayer& layer : network.layers) {
    if (layer.name.starts_with(prefix)) layers.push_back(layer);
  }
  return layers;
}

void add_layer_places(const std::vector<PublishedLayer>& layers, std::size_t column,
                      LayerClock clock, Cell& cell) {
  for (std::size_t row = 0; row < layers.size(); ++row) {
    cell.places.push_back({row, column, layer_reader(std::string(layers[row].step), clock)});
  }
}

}  // namespace morton::cli
