// SPDX-License-Identifier: Apache-2.0
//
// The tunables of an entry, and the values that they have where nothing is tuned.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "catalogue/reader.hpp"

namespace morton::catalogue {
namespace {

std::int64_t standard_value(const Tunable& tunable, const Environment& device) {
  const std::int64_t wanted = tunable.standard.evaluate(device);
  std::int64_t reached = std::ranges::min(tunable.values);
  for (const std::int64_t value : tunable.values) {
    if (value <= wanted) reached = std::max(reached, value);
  }
  return reached;
}

}  // namespace

NameSet tunable_names(const Entry& entry) {
  NameSet names;
  for (const auto& [name, tunable] : entry.tunables) names.insert(name);
  return names;
}

void read_tunables(const JsonReader& reader, const ProblemFamily& family, Entry& entry) {
  for (const auto& [name, member] : reader.members()) {
    member.allow_keys({"values", "standard", "tried"});
    const JsonReader standard = member.at("standard");
    Tunable tunable{read_tunable_values(member, name, family),
                    read_expression(standard, device_names())};
    std::int64_t value = 0;
    const bool is_rule = !tunable.standard.is_constant(&value);
    if (!is_rule && std::ranges::count(tunable.values, value) == 0) {
      standard.fail("the standard " + std::to_string(value) + " is not among the values");
    }
    entry.tunables.emplace(name, std::move(tunable));
  }
  NameSet known = device_names();
  known.merge(tunable_names(entry));
  for (auto& [name, tunable] : entry.tunables) {
    const JsonReader member = reader.at(name);
    if (member.has("tried")) tunable.tried = read_expression(member.at("tried"), known);
  }
}

Environment standard_tunables(const Entry& entry, const Environment& device) {
  Environment values;
  for (const auto& [name, tunable] : entry.tunables) {
    values.emplace(name, standard_value(tunable, device));
  }
  return values;
}

Environment standard_tunables(const Entry& entry) {
  static const Environment kUnknown = environment_of(DeviceInfo{});
  return standard_tunables(entry, kUnknown);
}

}  // namespace morton::catalogue
