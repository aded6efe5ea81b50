// SPDX-License-Identifier: Apache-2.0
#include "plan/policy/work_group.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "plan/policy/tunables.hpp"

namespace morton::plan {
namespace {

/// Of OpenCL's work-groups.
constexpr std::size_t kMostDimensions = 3;
/// Work-groups that a message names.
constexpr std::size_t kMostNear = 3;

bool lists(const Tunable& tunable, std::int64_t value) {
  return std::ranges::find(tunable.values, value) != tunable.values.end();
}

/// The work-group of sizes that the entry lists, each nearest to that of `local`.
std::vector<std::int64_t> nearest_work_group(const Entry& entry,
                                             const std::vector<std::int64_t>& local) {
  const std::vector<std::string> names = work_group_tunables(entry);
  std::vector<std::int64_t> listed;
  for (std::size_t i = 0; i < local.size(); ++i) {
    listed.push_back(
        std::ranges::min(entry.tunables.at(names[i]).values, {}, [&](std::int64_t value) {
          return value > local[i] ? value - local[i] : local[i] - value;
        }));
  }
  return listed;
}

}  // namespace

std::vector<std::string> work_group_tunables(const Entry& entry) {
  std::vector<std::string> names;
  for (const auto& size : entry.launch.local) {
    const std::string name = size.print();
    const bool sets_local = name == "LOCAL" || name.starts_with("LOCAL_");
    if (sets_local && entry.tunables.contains(name)) names.push_back(name);
  }
  return names;
}

OrReason<Environment> tunables_for(const Entry& entry, const Environment& device,
                                   const std::vector<std::int64_t>& local) {
  Environment values = standard_tunables(entry, device);
  if (local.empty()) return values;
  const std::vector<std::string> names = work_group_tunables(entry);
  if (names.size() != local.size()) return values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tunable& tunable = entry.tunables.at(names[i]);
    if (!lists(tunable, local[i])) {
      return UnlistedWorkGroup{local, names[i], local[i], tunable.values};
    }
    values[names[i]] = local[i];
  }
  // One tunable may set two dimensions.
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (values[names[i]] != local[i]) return UnlistedWorkGroup{local, names[i], local[i], {}};
  }
  return values;
}

std::vector<Environment> work_groups_as_large(const Entry& entry, const Environment& values) {
  const std::vector<std::string> names = work_group_tunables(entry);
  const auto items = [&](const Environment& of) {
    std::int64_t product = 1;
    for (const std::string& name : names) product *= of.at(name);
    return product;
  };
  std::vector<Environment> all{values};
  for (const std::string& name : names) {
    std::vector<Environment> next;
    for (const Environment& one : all) {
      for (const std::int64_t size : entry.tunables.at(name).values) {
        next.push_back(one);
        next.back()[name] = size;
      }
    }
    all = std::move(next);
  }
  const std::int64_t wanted = items(values);
  std::erase_if(all, [&](const Environment& one) { return items(one) != wanted; });
  return all;
}

std::string work_group_text(const std::vector<std::int64_t>& local) {
  std::string text;
  for (const std::int64_t size : local) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

Message work_group_note(const Entry& entry, const std::vector<std::int64_t>& local) {
  const std::size_t open = work_group_tunables(entry).size();
  if (local.empty() || open == local.size()) return "";
  const Message asked = "; " + setting("local", work_group_text(local)) + " does not apply: ";
  if (open == 0) return asked + "its work-group is fixed";
  return asked + "it leaves " + std::to_string(open) + " dimension" + (open == 1 ? "" : "s") +
         " of its work-group open";
}

/// A size beyond those of all devices.
constexpr std::int64_t kFar = 1 << 20;

void check_work_group(const std::vector<std::int64_t>& local, const Catalogue& catalogue) {
  if (local.empty()) return;
  const Message asked = setting("local", work_group_text(local));
  if (local.size() > kMostDimensions || std::ranges::min(local) < 1) {
    throw UsageError(asked + ": a work-group has one to three sizes of 1 or more, such as 4x16");
  }
  const Environment device = environment_of(DeviceInfo{});  // the sizes are the same on all
  std::set<std::pair<std::int64_t, std::vector<std::int64_t>>> near;  // the nearest first
  for (const Entry& entry : catalogue.entries()) {
    if (work_group_tunables(entry).size() != local.size()) continue;
    if (std::holds_alternative<Environment>(tunables_for(entry, device, local))) return;
    const std::vector<std::int64_t> listed = nearest_work_group(entry, local);
    if (!std::holds_alternative<Environment>(tunables_for(entry, device, listed))) continue;
    std::int64_t distance = 0;
    for (std::size_t i = 0; i < local.size(); ++i)
      distance += std::abs(listed[i] - std::min(local[i], kFar));
    near.emplace(distance, listed);
  }
  std::string known;
  if (near.size() > kMostNear) near.erase(std::next(near.begin(), kMostNear), near.end());
  for (const auto& [distance, listed] : near) {
    known += (known.empty() ? "; near it: " : ", ") + work_group_text(listed);
  }
  throw UsageError(asked + ": no kernel takes this work-group" + known + " (" +
                   setting("kernel_names") + " lists all kernels)");
}

}  // namespace morton::plan
