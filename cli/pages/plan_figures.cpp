// SPDX-License-Identifier: Apache-2.0
#include "pages/plan_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "morton/tools/layout.hpp"
#include "pages/charts.hpp"
#include "pages/layout_picture.hpp"
#include "pages/plan_lives.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr std::size_t kMostGraphSteps = 250;
constexpr std::size_t kMostPictures = 6;
/// Of a layout's picture, at most; a larger one says no more.
constexpr std::int64_t kPictureSide = 16;

/// Bytes in use at each step.
std::vector<std::int64_t> use_of(const PlanLives& lives, int steps) {
  std::vector<std::int64_t> use(static_cast<std::size_t>(std::max(steps, 1)), 0);
  for (const Life& life : lives.lives) {
    for (int s = life.first; s <= life.last && s < steps; ++s) {
      use[static_cast<std::size_t>(s)] += life.bytes;
    }
  }
  return use;
}

/// What is known of all values that have one layout.
struct LayoutUse {
  int values = 0;
  std::int64_t bytes = 0;
  std::string largest;
  std::int64_t largest_bytes = -1;
};

std::map<std::string, LayoutUse> layout_uses(const Json& plan) {
  std::map<std::string, LayoutUse> uses;
  for (const Json& value : plan.at("values")) {
    LayoutUse& use = uses[value.at("layout")];
    const auto bytes = value.at("bytes").get<std::int64_t>();
    ++use.values;
    use.bytes += bytes;
    if (bytes <= use.largest_bytes) continue;
    use.largest_bytes = bytes;
    use.largest = fmt::format("{} {}", value.at("name").get<std::string>(),
                              shape_text(value.at("shape").get<std::vector<std::int64_t>>()));
  }
  return uses;
}

bool is_matrix_layout(const std::string& layout) {
  return !layout.empty() && layout.find_first_not_of("RC_*0123456789") == std::string::npos;
}

/// The greatest tile that a layout names.
std::int64_t greatest_tile(const std::string& layout) {
  std::int64_t most = 1;
  std::int64_t number = 0;
  for (const char c : layout) {
    number = c >= '0' && c <= '9' ? 10 * number + (c - '0') : 0;
    most = std::max(most, std::min(number, std::int64_t{1} << 20));
  }
  return most;
}

Figure layout_figure(const std::string& layout, const LayoutUse& use) {
  const std::int64_t tile = greatest_tile(layout);
  const std::int64_t side = std::clamp<std::int64_t>(2 * tile, 8, std::max(tile, kPictureSide));
  const LayoutMap map = layout_map(layout, {8, side});
  return {
      fmt::format("Layout {}", layout), drawing_of(map),
      fmt::format("The blue path is the order of elements in memory; numbers are their offsets. "
                  "{} values lie so, the largest is {}.",
                  use.values, use.largest),
      fmt::format("The path of memory through a matrix of {} elements in layout {}.",
                  shape_text(map.extents), layout)};
}

}  // namespace

Section memory_section(const Json& plan) {
  const PlanLives lives = lives_of(plan);
  const int steps = static_cast<int>(plan.at("steps").size());
  MemoryMap map;
  map.steps = steps;
  map.size = lives.bytes;
  for (const Life& life : lives.lives) {
    auto kind = std::ranges::find(map.series, life.kind);
    if (kind == map.series.end()) kind = map.series.insert(kind, life.kind);
    map.blocks.push_back({life.name, life.first, life.last, life.offset, life.bytes,
                          static_cast<int>(kind - map.series.begin())});
  }
  const std::vector<std::int64_t> use = use_of(lives, steps);
  const auto most = std::ranges::max_element(use);
  const std::string summary = fmt::format(
      "Results share {} of device memory; weights take {} beside them, all the time. The most is "
      "in "
      "use at step {}: {}.",
      bytes_text(lives.bytes), bytes_text(lives.weight_bytes), most - use.begin(),
      bytes_text(*most));
  return {
      "Memory over time",
      {Paragraph{summary},
       Figure{"What lies where, and how long", draw(map),
              "A box is a result: as wide as the steps that need it, as high as its bytes. Boxes "
              "above each other lie beside each other in memory.",
              fmt::format("{} results in {} steps; at most {} are in use.", lives.lives.size(),
                          steps, bytes_text(*most))}}};
}

Section graph_section(const Json& plan, const std::vector<double>& times_us,
                      const std::string& clock) {
  StepGraph graph;
  const auto& steps = plan.at("steps");
  double most = 0.0;
  for (const double time : times_us) most = std::max(most, time);
  std::string slowest;
  for (std::size_t s = 0; s < steps.size() && s < kMostGraphSteps; ++s) {
    const double time = s < times_us.size() ? times_us[s] : 0.0;
    const std::string name = steps[s].at("name");
    graph.steps.push_back({fmt::format("{} {}", s, name), steps[s].at("kernel"),
                           most > 0.0 ? time / most : 0.0, fmt::format("{:.4g} us", time)});
    if (time == most) slowest = name;
  }
  for (const PlanEdge& edge : lives_of(plan).edges) {
    if (edge.to < static_cast<int>(kMostGraphSteps)) {
      graph.edges.push_back({edge.from, edge.to, edge.name});
    }
  }
  const std::string cut =
      steps.size() > kMostGraphSteps
          ? fmt::format(" It shows the first {} of {} steps.", kMostGraphSteps, steps.size())
          : "";
  return {
      "Steps as a graph",
      {Figure{"Which step reads what another wrote", draw(graph),
              fmt::format("The stronger the colour, the longer the step, {}. Arrows go from the "
                          "step that writes to those that read.{}",
                          clock, cut),
              fmt::format("{} steps in order; the longest is {}.", graph.steps.size(), slowest)}}};
}

Section layouts_section(const Json& plan) {
  const std::map<std::string, LayoutUse> uses = layout_uses(plan);
  PageTable table{"Values by layout", {}};
  table.table.columns = {
      {"layout"}, {"values", Table::Align::right}, {"bytes", Table::Align::right}, {"largest"}};
  Section section{
      "Layouts",
      {Paragraph{"A layout is the order in which memory goes through a tensor. R is row "
                 "after row, C column after column. R_2_4_R has tiles of 2 rows and 4 "
                 "columns. Letters are a tensor's dimensions, outermost first."}}};
  std::vector<Block> pictures;
  for (const auto& [layout, use] : uses) {
    table.table.rows.push_back(
        {layout, std::to_string(use.values), bytes_text(use.bytes), use.largest});
    const bool fits = is_matrix_layout(layout) && greatest_tile(layout) <= 64;
    if (fits && pictures.size() < kMostPictures) pictures.push_back(layout_figure(layout, use));
  }
  section.blocks.push_back(std::move(table));
  for (Block& picture : pictures) section.blocks.push_back(std::move(picture));
  return section;
}

std::vector<std::pair<std::string, std::string>> plan_facts(const Json& plan) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const Json& device : plan.at("devices")) facts.emplace_back("device", device);
  for (const Json& roofs : plan.at("roofs")) facts.emplace_back("peaks", roofs);
  facts.emplace_back("steps", std::to_string(plan.at("steps").size()));
  facts.emplace_back("kernels", std::to_string(plan.at("kernels").get<std::int64_t>()));
  return facts;
}

}  // namespace morton::cli::pages
