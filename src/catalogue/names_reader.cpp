// SPDX-License-Identifier: Apache-2.0
//
// The tunables of an entry, the values that they have where nothing is tuned, and the names for
// sizes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "catalogue/reader.hpp"
#include "catalogue/sized_names.hpp"

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

/// A size that rests on itself, where each rests on one of them at least.
std::string one_of_a_cycle(const std::map<std::string, Expression>& sizes) {
  std::string name = sizes.begin()->first;
  for (NameSet met; met.insert(name).second;) {
    for (const std::string& used : sizes.at(name).variables()) {
      if (!sizes.contains(used)) continue;
      name = used;
      break;
    }
  }
  return name;
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

Expression read_sized(const JsonReader& reader, const SizedNames& names) {
  return read_expression(reader, names.known).substitute(names.sizes);
}

std::vector<Expression> read_all_sized(const JsonReader& reader, const SizedNames& names) {
  std::vector<Expression> expressions = read_expressions(reader, names.known);
  for (Expression& expression : expressions) expression = expression.substitute(names.sizes);
  return expressions;
}

SizedNames names_of(const Entry& entry) {
  const std::vector<std::string> names = known_names(entry);
  return {{names.begin(), names.end()}, {}};
}

void read_sizes(const JsonReader& reader, SizedNames& names) {
  std::map<std::string, Expression> unread;
  for (const auto& [name, member] : reader.members()) {
    if (!is_identifier(name)) {
      member.fail("a size's name is written in letters, digits and '_'");
    }
    if (!names.known.insert(name).second) member.fail("'" + name + "' is no new name");
  }
  for (const auto& [name, member] : reader.members()) {
    unread.emplace(name, read_expression(member, names.known));
  }
  while (!unread.empty()) {
    const auto next = std::ranges::find_if(unread, [&](const auto& size) {
      return std::ranges::none_of(size.second.variables(),
                                  [&](const std::string& used) { return unread.contains(used); });
    });
    if (next == unread.end()) reader.fail("'" + one_of_a_cycle(unread) + "' rests on itself");
    names.sizes.emplace(next->first, next->second.substitute(names.sizes));
    unread.erase(next);
  }
}

}  // namespace morton::catalogue
