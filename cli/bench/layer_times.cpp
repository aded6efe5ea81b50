// SPDX-License-Identifier: Apache-2.0
#include "bench/layer_times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/statistics.hpp"

namespace morton::cli {
namespace {

/// The first node of a step's name: "S2" of "S2/pool+S2/scale", "C1" of "C1+C1/tanh:pack".
std::string first_node(const std::string& step) {
  return step.substr(0, step.find_first_of("+:/"));
}

/// The network whose layers the steps compute, all of them.
const PublishedNetwork* network_of(const Profile& profile) {
  const auto computes = [&](const PublishedLayer& layer) {
    return std::ranges::any_of(profile.steps, [&](const ProfiledStep& step) {
      return first_node(step.info.name) == layer.step;
    });
  };
  for (const PublishedNetwork& network : published_networks()) {
    if (std::ranges::all_of(network.layers, computes)) return &network;
  }
  return nullptr;
}

const PublishedLayer* published_layer(const PublishedNetwork* network, const std::string& node) {
  if (network == nullptr) return nullptr;
  const auto found = std::ranges::find(network->layers, node, &PublishedLayer::step);
  return found == network->layers.end() ? nullptr : &*found;
}

bool is_product(const std::string& kernel) {
  constexpr std::array kLayerFamilies{"gemm.", "batched_gemm.", "filter_gemm.", "conv2d."};
  return std::ranges::any_of(kLayerFamilies,
                             [&](const char* family) { return kernel.starts_with(family); });
}

void add_step(const ProfiledStep& step, TimedLayer& layer) {
  if (std::ranges::find(layer.kernels, step.info.kernel) == layer.kernels.end()) {
    layer.kernels.push_back(step.info.kernel);
  }
  layer.wall_ms += step.host_us / 1e3;
  if (!step.device_us) layer.kernel_ms.reset();
  if (!layer.kernel_ms) layer.products_ms.reset();
  if (layer.kernel_ms) *layer.kernel_ms += *step.device_us / 1e3;
  if (layer.products_ms && is_product(step.info.kernel))
    *layer.products_ms += *step.device_us / 1e3;
}

std::string published_text(double milliseconds) {
  return milliseconds == kNotPublished ? "-" : fmt::format("{:.2f}", milliseconds);
}

/// The published layers together, which is what R18's totals are of.
TimedLayer sum_of(const LayerTimes& times) {
  TimedLayer sum;
  sum.name = times.published == nullptr
                 ? "all"
                 : fmt::format("{} to {}", times.published->layers.front().name,
                               times.published->layers.back().name);
  sum.kernel_ms = sum.products_ms = 0.0;
  for (const TimedLayer& layer : times.layers) {
    if (times.published != nullptr && layer.published == nullptr) continue;
    sum.wall_ms += layer.wall_ms;
    if (!layer.kernel_ms) sum.kernel_ms.reset();
    if (!layer.products_ms) sum.products_ms.reset();
    if (sum.kernel_ms) *sum.kernel_ms += *layer.kernel_ms;
    if (sum.products_ms) *sum.products_ms += *layer.products_ms;
  }
  return sum;
}

std::vector<std::string> row_of(const TimedLayer& layer) {
  return {layer.name, fmt::format("{}", fmt::join(layer.kernels, ", ")),
          fmt::format("{:.3f}", layer.wall_ms), number_text(layer.kernel_ms, 3),
          number_text(layer.products_ms, 3)};
}

}  // namespace

LayerTimes times_by_layer(const Profile& profile) {
  LayerTimes times;
  times.published = network_of(profile);
  times.end_to_end_ms = profile.plain_ms;
  std::vector<const ProfiledStep*> before;
  for (const ProfiledStep& step : profile.steps) {
    before.push_back(&step);
    const bool moves = step.info.role != StepInfo::Role::compute;
    if (moves && &step != &profile.steps.back()) continue;
    const std::string node = first_node(step.info.name);
    const PublishedLayer* published = published_layer(times.published, node);
    const std::string name = published == nullptr ? node : std::string(published->name);
    if (times.layers.empty() || (times.layers.back().name != name && !moves)) {
      TimedLayer& layer = times.layers.emplace_back();
      layer.name = name;
      layer.kernel_ms = layer.products_ms = 0.0;
      layer.published = published;
    }
    for (const ProfiledStep* each : before) add_step(*each, times.layers.back());
    before.clear();
  }
  return times;
}

std::string to_text(const LayerTimes& times, Format format) {
  Table table;
  table.columns = {{"layer"},
                   {"kernels"},
                   {"wall ms", Table::Align::right},
                   {"kernel ms", Table::Align::right},
                   {"products ms", Table::Align::right}};
  const std::size_t own = table.columns.size();
  if (times.published != nullptr) {
    for (const std::string_view column : times.published->columns) {
      table.columns.push_back({fmt::format("R18: {}", column), Table::Align::right});
    }
  }
  for (const TimedLayer& layer : times.layers) {
    std::vector<std::string> row = row_of(layer);
    for (std::size_t c = row.size(); c < table.columns.size(); ++c) {
      row.push_back(
          layer.published == nullptr ? "" : published_text(layer.published->milliseconds[c - own]));
    }
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> sum = row_of(sum_of(times));
  if (times.published != nullptr) {
    for (const double total : times.published->totals) sum.push_back(published_text(total));
  }
  table.rows.push_back(std::move(sum));
  std::string text = to_text(table, format);
  text += fmt::format("end to end, one wait: {:.3f} ms\n", times.end_to_end_ms);
  if (times.published != nullptr) text += std::string(times.published->notes) + "\n";
  return text;
}

Json to_json(const LayerTimes& times) {
  const auto one = [&](const TimedLayer& layer) {
    Json value{{"layer", layer.name},
               {"kernels", layer.kernels},
               {"wall_ms", layer.wall_ms},
               {"kernel_ms", layer.kernel_ms ? Json(*layer.kernel_ms) : Json()},
               {"products_ms", layer.products_ms ? Json(*layer.products_ms) : Json()}};
    if (layer.published == nullptr) return value;
    for (std::size_t c = 0; c < times.published->columns.size(); ++c) {
      const double ms = layer.published->milliseconds[c];
      value["published_ms"][std::string(times.published->columns[c])] =
          ms == kNotPublished ? Json() : Json(ms);
    }
    return value;
  };
  Json layers = Json::array();
  for (const TimedLayer& layer : times.layers) layers.push_back(one(layer));
  return {{"layers", layers}, {"sum", one(sum_of(times))}, {"end_to_end_ms", times.end_to_end_ms}};
}

}  // namespace morton::cli
