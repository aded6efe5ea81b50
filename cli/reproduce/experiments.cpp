// SPDX-License-Identifier: Apache-2.0
#include "reproduce/experiments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "morton/error.hpp"
#include "morton/tools/near_names.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

std::vector<std::string> sources_in(const std::vector<Experiment>& all) {
  std::vector<std::string> sources;
  for (const Experiment& experiment : all) {
    if (std::ranges::find(sources, experiment.source) == sources.end()) {
      sources.push_back(experiment.source);
    }
  }
  return sources;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

[[noreturn]] void fail_name(const std::string& given, const std::string& source,
                            const std::vector<Experiment>& all) {
  std::vector<std::string> known;
  if (source.empty()) known = sources_in(all);
  std::vector<std::string> elsewhere;
  for (const Experiment& experiment : all) {
    if (source.empty() || experiment.source == source) known.push_back(experiment.id);
    if (lower_case(experiment.id) == lower_case(given)) elsewhere.push_back(experiment.source);
  }
  std::string hint = did_you_mean(given, known);
  if (!elsewhere.empty()) hint = fmt::format("; {} has it", fmt::join(elsewhere, ", "));
  if (hint.empty()) hint = "; `morton reproduce --list` lists all";
  if (!source.empty()) throw UsageError(fmt::format("{} has no table '{}'{}", source, given, hint));
  throw UsageError(fmt::format("there is no source or table '{}' (sources are {}){}", given,
                               fmt::join(sources_in(all), ", "), hint));
}

/// A source with some of its tables, or with all where none is named; of "" tables of any source.
struct NamedTables {
  std::string source;
  std::vector<std::string> ids;

  [[nodiscard]] bool holds(const Experiment& experiment) const {
    const bool is_named = std::ranges::find(ids, lower_case(experiment.id)) != ids.end();
    return source.empty() ? is_named : experiment.source == source && (ids.empty() || is_named);
  }
};

/// The names in groups: tables that follow a source are of it.
std::vector<NamedTables> groups_of(const std::vector<Experiment>& all,
                                   const std::vector<std::string>& names) {
  const std::vector<std::string> sources = sources_in(all);
  std::vector<NamedTables> groups;
  for (const std::string& given : names) {
    const std::string name = lower_case(given);
    if (std::ranges::find(sources, name) != sources.end()) {
      groups.push_back({name, {}});
      continue;
    }
    if (groups.empty()) groups.push_back({});
    NamedTables& group = groups.back();
    group.ids.push_back(name);
    const bool is_there = std::ranges::any_of(all, [&](const Experiment& experiment) {
      return lower_case(experiment.id) == name &&
             (group.source.empty() || experiment.source == group.source);
    });
    if (!is_there) fail_name(given, group.source, all);
  }
  return groups;
}

}  // namespace

Cell peak_cell(std::size_t row, std::size_t column) {
  return {{"probe", "--quick"}, {{row, column, number_at("roofs/gflops_f32")}}};
}

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
  add(r17_networks(conditions));
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
                                       const std::vector<std::string>& names) {
  if (names.empty()) return all;
  const std::vector<NamedTables> groups = groups_of(all, names);
  std::vector<Experiment> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen), [&](const Experiment& experiment) {
    return std::ranges::any_of(groups,
                               [&](const NamedTables& group) { return group.holds(experiment); });
  });
  return chosen;
}

}  // namespace morton::cli
