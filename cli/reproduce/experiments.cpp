// SPDX-License-Identifier: Apache-2.0
#include "reproduce/experiments.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kListHint = "`morton reproduce --list` lists them";

std::vector<std::string> sources_in(const std::vector<Experiment>& all) {
  std::vector<std::string> sources;
  for (const Experiment& experiment : all) {
    if (std::ranges::find(sources, experiment.source) == sources.end()) {
      sources.push_back(experiment.source);
    }
  }
  return sources;
}

}  // namespace

std::vector<Experiment> all_experiments(const Conditions& conditions) {
  const Scale scale = conditions.scale;
  std::vector<Experiment> all;
  const auto add = [&all](std::vector<Experiment> more) {
    std::ranges::move(more, std::back_inserter(all));
  };
  add(r17_products(conditions));
  add(r17_order(scale));
  add(r17_ladder(scale));
  add(r17_layouts(scale));
  add(r17_layers(scale));
  add(r17_networks(scale));
  add(r18_clblast(scale));
  add(r18_routines(scale));
  add(r18_lenet(scale));
  add(r18_vgg(scale));
  add(g16_and_a16(scale));
  add(a16_memory(scale));
  add(c18_device(scale));
  add(c18_ladder(scale));
  add(c18_products(scale));
  add(c18_training(conditions));
  return all;
}

std::vector<Experiment> experiments_of(const std::vector<Experiment>& all,
                                       const std::string& source,
                                       const std::vector<std::string>& ids) {
  if (source.empty()) return all;
  const std::vector<std::string> sources = sources_in(all);
  if (std::ranges::find(sources, source) == sources.end()) {
    throw UsageError(fmt::format("there is no source '{}'; there are {}; {}", source,
                                 fmt::join(sources, ", "), kListHint));
  }
  std::vector<Experiment> chosen;
  for (const Experiment& experiment : all) {
    const bool is_wanted = ids.empty() || std::ranges::find(ids, experiment.id) != ids.end();
    if (experiment.source == source && is_wanted) chosen.push_back(experiment);
  }
  for (const std::string& id : ids) {
    if (std::ranges::find(chosen, id, &Experiment::id) != chosen.end()) continue;
    throw UsageError(fmt::format("{} has no table '{}' here; {}", source, id, kListHint));
  }
  return chosen;
}

}  // namespace morton::cli
