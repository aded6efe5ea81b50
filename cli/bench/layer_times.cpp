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

/// The nodes of a step's name, in their order: "S2" of "S2/pool+S2/scale", "C1" and "S2" of
/// "C1+C1/tanh+S2:pack".
std::vector<std::string> nodes_of(const std::string& step) {
  std::vector<std::string> nodes;
  for (std::size_t begin = 0; begin <= step.size();) {
    const std::size_t end = std::min(step.find('+', begin), step.size());
    std::string node = step.substr(begin, end - begin);
    node.resize(std::min(node.find_first_of(":/"), node.size()));
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(std::move(node));
    begin = end + 1;
  }
  return nodes;
}

bool computes(const ProfiledStep& step, const PublishedLayer& layer) {
  const std::vector<std::string> nodes = nodes_of(step.info.name);
  return std::ranges::find(nodes, layer.step) != nodes.end();
}

/// The network whose layers the steps compute, all of them.
const PublishedNetwork* network_of(const Profile& profile) {
  const auto is_computed = [&](const PublishedLayer& layer) {
    return std::ranges::any_of(profile.steps,
                               [&](const ProfiledStep& step) { return computes(step, layer); });
  };
  for (const PublishedNetwork& network : published_networks()) {
    if (std::ranges::all_of(network.layers, is_computed)) return &network;
  }
  return nullptr;
}

/// The layers that a step computes, in the network's order.
std::vector<const PublishedLayer*> published_layers(const PublishedNetwork* network,
                                                    const ProfiledStep& step) {
  std::vector<const PublishedLayer*> layers;
  if (network == nullptr) return layers;
  for (const PublishedLayer& layer : network->layers) {
    if (computes(step, layer)) layers.push_back(&layer);
  }
  return layers;
}

std::string name_of(const std::vector<const PublishedLayer*>& layers) {
  std::string name;
  for (const PublishedLayer* layer : layers) {
    name += fmt::format("{}{}", name.empty() ? "" : "+", layer->name);
  }
  return name;
}

/// Milliseconds of all the layers; kNotPublished where they are not known of each.
double published_ms(const std::vector<const PublishedLayer*>& layers, std::size_t column) {
  double sum = 0.0;
  for (const PublishedLayer* layer : layers) {
    if (layer->milliseconds[column] == kNotPublished) return kNotPublished;
    sum += layer->milliseconds[column];
  }
  return sum;
}

bool is_product(const std::string& kernel) {
  constexpr std::array kLayerFamilies{"gemm.", "batched_gemm.", "filter_gemm.", "conv2d.",
                                      "conv2d_pool."};
  return std::ranges::any_of(kLayerFamilies,
                             [&](const char* family) { return kernel.starts_with(family); });
}

void add_routine(const std::string& routine, double milliseconds, TimedLayer& layer) {
  const auto known =
      std::ranges::find(layer.routines_ms, routine, &std::pair<std::string, double>::first);
  if (known == layer.routines_ms.end()) {
    layer.routines_ms.emplace_back(routine, milliseconds);
  } else {
    known->second += milliseconds;
  }
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
  for (const CallTime& call : step.calls) add_routine(call.routine, call.device_us / 1e3, layer);
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
    if (times.published != nullptr && layer.published.empty()) continue;
    sum.wall_ms += layer.wall_ms;
    if (!layer.kernel_ms) sum.kernel_ms.reset();
    if (!layer.products_ms) sum.products_ms.reset();
    if (sum.kernel_ms) *sum.kernel_ms += *layer.kernel_ms;
    if (sum.products_ms) *sum.products_ms += *layer.products_ms;
    for (const auto& [routine, ms] : layer.routines_ms) add_routine(routine, ms, sum);
  }
  return sum;
}

/// What the products take of the kernels' time; R18 has 21 to 66 % (7.3.4).
std::optional<double> products_share(const TimedLayer& layer) {
  if (!layer.products_ms || *layer.kernel_ms <= 0.0) return std::nullopt;
  return *layer.products_ms / *layer.kernel_ms;
}

std::vector<std::string> row_of(const TimedLayer& layer) {
  const std::optional<double> share = products_share(layer);
  return {layer.name,
          fmt::format("{}", fmt::join(layer.kernels, ", ")),
          fmt::format("{:.3f}", layer.wall_ms),
          number_text(layer.kernel_ms, 3),
          number_text(layer.products_ms, 3),
          share ? fmt::format("{:.0f} %", 100.0 * *share) : "n/a"};
}

/// A column for each routine of a library; "" where no layer calls any.
std::string routines_text(const LayerTimes& times, Format format) {
  const TimedLayer sum = sum_of(times);
  if (sum.routines_ms.empty()) return "";
  Table table;
  table.columns = {{"layer"}};
  for (const auto& [routine, ms] : sum.routines_ms) {
    table.columns.push_back({routine + " ms", Table::Align::right});
  }
  const auto add_row = [&](const TimedLayer& layer) {
    std::vector<std::string> row{layer.name};
    for (const auto& [routine, all] : sum.routines_ms) {
      const auto own =
          std::ranges::find(layer.routines_ms, routine, &std::pair<std::string, double>::first);
      row.push_back(own == layer.routines_ms.end() ? "-" : fmt::format("{:.3f}", own->second));
    }
    table.rows.push_back(std::move(row));
  };
  for (const TimedLayer& layer : times.layers) {
    if (!layer.routines_ms.empty()) add_row(layer);
  }
  add_row(sum);
  return to_text(table, format);
}

}  // namespace

LayerTimes times_by_layer(const Profile& profile, const Shape& input) {
  LayerTimes times;
  times.input = input;
  times.published = network_of(profile);
  times.end_to_end_ms = profile.plain_ms;
  std::vector<const ProfiledStep*> before;
  for (const ProfiledStep& step : profile.steps) {
    before.push_back(&step);
    const bool moves = step.info.role != StepInfo::Role::compute;
    if (moves && &step != &profile.steps.back()) continue;
    std::vector<const PublishedLayer*> published = published_layers(times.published, step);
    const std::string name =
        published.empty() ? nodes_of(step.info.name).front() : name_of(published);
    if (times.layers.empty() || (times.layers.back().name != name && !moves)) {
      TimedLayer& layer = times.layers.emplace_back();
      layer.name = name;
      layer.kernel_ms = layer.products_ms = 0.0;
      layer.published = std::move(published);
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
                   {"products ms", Table::Align::right},
                   {"share", Table::Align::right}};
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
          layer.published.empty() ? "" : published_text(published_ms(layer.published, c - own)));
    }
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> sum = row_of(sum_of(times));
  if (times.published != nullptr) {
    for (const double total : times.published->totals) sum.push_back(published_text(total));
  }
  table.rows.push_back(std::move(sum));
  std::string text = to_text(table, format);
  text += routines_text(times, format);
  text += fmt::format("end to end, one wait: {:.3f} ms\n", times.end_to_end_ms);
  if (times.published != nullptr) {
    text += fmt::format("{}, {}: {}\n", times.published->title,
                        fmt::join(times.published->input, "x"), times.published->notes);
    if (times.input != times.published->input) {
      text += fmt::format("The input is {} here: R18's columns are times of other work\n",
                          fmt::join(times.input, "x"));
    }
  }
  return text;
}

Json to_json(const LayerTimes& times) {
  const auto one = [&](const TimedLayer& layer) {
    const std::optional<double> share = products_share(layer);
    Json value{{"layer", layer.name},
               {"kernels", layer.kernels},
               {"wall_ms", layer.wall_ms},
               {"kernel_ms", layer.kernel_ms ? Json(*layer.kernel_ms) : Json()},
               {"products_ms", layer.products_ms ? Json(*layer.products_ms) : Json()},
               {"products_share", share ? Json(*share) : Json()},
               {"routines_ms", Json::object()}};
    for (const auto& [routine, ms] : layer.routines_ms) value["routines_ms"][routine] = ms;
    if (layer.published.empty()) return value;
    for (std::size_t c = 0; c < times.published->columns.size(); ++c) {
      const double ms = published_ms(layer.published, c);
      value["published_ms"][std::string(times.published->columns[c])] =
          ms == kNotPublished ? Json() : Json(ms);
    }
    return value;
  };
  Json layers = Json::array();
  for (const TimedLayer& layer : times.layers) layers.push_back(one(layer));
  Json result{{"layers", layers},
              {"sum", one(sum_of(times))},
              {"end_to_end_ms", times.end_to_end_ms},
              {"input", times.input}};
  if (times.published != nullptr) result["published_input"] = times.published->input;
  return result;
}

}  // namespace morton::cli
