// SPDX-License-Identifier: Apache-2.0
#include "plan/measured/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "problems/products/gemm.hpp"

namespace morton::plan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The extents that belong to the family itself: a view may join others into them.
Environment own_extents(const Problem& problem) {
  std::set<std::string, std::less<>> names;
  for (const auto& operand : problem.family->operands) {
    names.insert(operand.dimensions.begin(), operand.dimensions.end());
  }
  // What a convolution gives to the pool behind it is no operand's extent.
  if (problem.family == families::conv2d_pool) names.insert({"RH", "RW"});
  Environment extents;
  for (const auto& [name, value] : problem.extents) {
    if (names.empty() || names.contains(name)) extents[name] = value;
  }
  return extents;
}

std::string in_own_order(const View& view) {
  std::string order;
  for (const std::string& name : view.dimensions) order += name;
  return order;
}

/// The view's dimensions in the tensor's order; its own where it is more than a permutation.
std::string order_of(const View& view) {
  if (!view.grouping) return in_own_order(view);
  std::vector<std::pair<int, std::string>> placed;
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    const JoinedDimensions& group = (*view.grouping)[d];
    placed.emplace_back(group.empty() ? -1 : group.front(), view.dimensions[d]);
  }
  std::ranges::stable_sort(placed, {}, &std::pair<int, std::string>::first);
  std::string order;
  for (const auto& [place, name] : placed) order += name;
  return order;
}

/// How closely a record's device is related to one, closest first.
enum class Kinship : std::uint8_t { same, architecture, vendor, none };

Kinship kinship(const TunedDevice& a, const TunedDevice& b) {
  if (a.fingerprint == b.fingerprint) return Kinship::same;
  if (a.platform != b.platform || a.kind != b.kind) return Kinship::none;
  if (a.name == b.name) return Kinship::architecture;
  return a.vendor == b.vendor ? Kinship::vendor : Kinship::none;
}

std::string how_text(const TunedRecord& record, Kinship kin, double apart) {
  std::string text = "tuned on this device";
  if (kin == Kinship::architecture) {
    text = "tuned on the same architecture (" + record.device.name + ")";
  }
  if (kin == Kinship::vendor) {
    text = "tuned on a device of the same vendor (" + record.device.name + ")";
  }
  if (apart == 0.0) return text + " for this problem";
  std::string orders;
  for (const auto& [operand, order] : record.problem.orders) orders += " " + operand + " " + order;
  return text + fmt::format(" for {}{}, {:.2f} away", print_extents(record.problem), orders, apart);
}

}  // namespace

TunedDevice TunedDevice::of(const DeviceInfo& info) {
  return {morton::fingerprint(info), info.name, info.vendor, info.driver.platform,
          std::string(name_of(info.kind))};
}

TunedProblem TunedProblem::of(const BoundProblem& bound) {
  TunedProblem key;
  key.family = bound.problem.family;
  key.extents = own_extents(bound.problem);
  key.structure = bound.problem.structure;
  for (const auto& [operand, type] : bound.problem.types) key.types[operand] = name_of(type);
  for (const auto& [operand, binding] : bound.operands) {
    const std::string order = order_of(binding.view);
    if (operand == "dst") continue;
    if (order != in_own_order(binding.view)) key.orders[operand] = order;
  }
  return key;
}

std::string print_extents(const TunedProblem& problem) {
  std::string text;
  const auto add = [&](const std::string& name) {
    const auto found = problem.extents.find(name);
    if (found == problem.extents.end()) return;
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(found->second);
  };
  const Dimensions& first = problem.family->named_first;
  for (const std::string_view name : first) add(std::string(name));
  for (const auto& [name, value] : problem.extents) {
    if (std::ranges::find(first, name) == first.end()) add(name);
  }
  return text;
}

double distance(const TunedProblem& a, const TunedProblem& b) {
  if (a.family != b.family || a.structure != b.structure || a.types != b.types) return kInfinite;
  if (a.extents.size() != b.extents.size()) return kInfinite;
  double squares = 0.0;
  for (const auto& [name, value] : a.extents) {
    const auto other = b.extents.find(name);
    if (other == b.extents.end() || value < 1 || other->second < 1) return kInfinite;
    const double ratio = std::log2(static_cast<double>(value) / static_cast<double>(other->second));
    squares += ratio * ratio;
  }
  double orders = 0.0;
  for (const auto& [operand, order] : a.orders) {
    const auto other = b.orders.find(operand);
    if (other == b.orders.end() || other->second != order) orders += 1.0;
  }
  for (const auto& [operand, order] : b.orders) orders += a.orders.contains(operand) ? 0.0 : 1.0;
  return std::sqrt(squares) + orders;
}

double StaticCost::of_item(double work) const { return once + turn * work / operations; }

void TunedData::add(TunedRecord record) { records_.push_back(std::move(record)); }

void TunedData::add(Verdict verdict) { verdicts_.push_back(std::move(verdict)); }

void TunedData::add(StaticCost cost) { static_costs_.push_back(std::move(cost)); }

void TunedData::renew_digests(const Catalogue& catalogue) {
  const auto renew = [&](auto& item) {
    const Entry* entry = catalogue.find_entry(item.kernel);
    if (entry != nullptr && entry->program.digest.is(item.hash))
      item.hash = entry->program.digest.kernel;
  };
  std::ranges::for_each(records_, renew);
  std::ranges::for_each(verdicts_, renew);
  std::ranges::for_each(static_costs_, renew);
}

bool TunedData::knows(const Entry& entry) const {
  return std::ranges::any_of(records_, [&](const TunedRecord& record) {
    return record.kernel == entry.name || record.kernel == entry.origin.batch_of;
  });
}

TunedData::Hit TunedData::look_up(const Entry& entry, const BoundProblem& bound,
                                  const TunedDevice& device) const {
  return look_up(entry, TunedProblem::of(bound), device);
}

TunedData::Hit TunedData::look_up(const Entry& entry, const TunedProblem& problem,
                                  const TunedDevice& device) const {
  Hit hit = look_up(entry.name, entry, problem, device);
  const std::optional<Family> one = one_of_products(problem.family);
  if (hit.record != nullptr || entry.origin.batch_of.empty() || !one) return hit;
  TunedProblem product = problem;
  product.family = *one;
  product.extents.erase("B");
  // How the batch lies among the others says nothing of one product.
  product.orders.clear();
  Hit single = look_up(entry.origin.batch_of, entry, product, device);
  single.exact = false;
  if (single.record != nullptr) single.how += ", as a single product";
  return single.record != nullptr ? single : hit;
}

TunedData::Hit TunedData::look_up(const std::string& kernel, const Entry& entry,
                                  const TunedProblem& problem, const TunedDevice& device) const {
  Hit hit;
  Kinship best_kin = Kinship::none;
  double best = kInfinite;
  int outdated = 0;
  for (const TunedRecord& record : records_) {
    if (record.kernel != kernel) continue;
    const Kinship kin = kinship(record.device, device);
    const double apart = distance(record.problem, problem);
    if (kin == Kinship::none || apart > kFarthest) continue;
    if (!entry.program.digest.is(record.hash)) {
      ++outdated;
      continue;
    }
    if (kin > best_kin || (kin == best_kin && apart > best)) continue;
    hit.record = &record;
    best_kin = kin;
    best = apart;
  }
  if (hit.record != nullptr) {
    hit.exact = best_kin == Kinship::same && best == 0.0;
    hit.how = how_text(*hit.record, best_kin, best);
  } else if (outdated > 0) {
    hit.how = "what was tuned is for another version of the kernel and is not used";
  }
  return hit;
}

const Verdict* TunedData::verdict_on(const Entry& entry, const Environment& tunables,
                                     const DeviceInfo& device) const {
  const std::string own = fingerprint(device);
  for (const Verdict& verdict : verdicts_) {
    const bool same_kernel =
        verdict.kernel == entry.name || verdict.kernel == entry.origin.batch_of;
    if (same_kernel && entry.program.digest.is(verdict.hash) && verdict.device.fingerprint == own &&
        verdict.tunables == tunables) {
      return &verdict;
    }
  }
  return nullptr;
}

}  // namespace morton::plan
