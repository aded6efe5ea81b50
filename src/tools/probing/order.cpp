// SPDX-License-Identifier: Apache-2.0
#include "tools/probing/order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "device/probe/probe_order.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

/// An order that groups keep but for small steps aside.
constexpr double kNear = 0.05;
/// Pieces of fewer groups are no stripes.
constexpr std::int64_t kLeastPiece = 16;

/// The dimension whose order the tickets keep, or whose order their stripes keep. Small steps aside
/// make many pieces of the true order; the other dimension has one for each of its groups.
int fast_dimension(const OrderFit& along_0, const OrderFit& along_1) {
  if (std::min(along_0.displacement, along_1.displacement) < kNear) {
    return along_1.displacement < along_0.displacement ? 1 : 0;
  }
  return along_1.step < along_0.step ? 1 : 0;
}

}  // namespace

WorkGroupOrder::Repetition tools::repetition_of(std::vector<std::int64_t> tickets,
                                                const std::array<std::int64_t, 2>& groups) {
  using Kind = WorkGroupOrder::Kind;
  const OrderFit fits[] = {fit_of(tickets, groups, 0), fit_of(tickets, groups, 1)};
  const int fast = fast_dimension(fits[0], fits[1]);
  const OrderFit& fit = fits[fast];
  const auto count = static_cast<std::int64_t>(tickets.size());
  Kind kind = Kind::none;
  if (fit.displacement < kNear) {
    kind = fast == 0 ? Kind::dimension_0 : Kind::dimension_1;
  } else if (fit.pieces * kLeastPiece <= count) {
    kind = fast == 0 ? Kind::stripes_0 : Kind::stripes_1;
  }
  return {std::move(tickets), kind, fit.pieces, fit.displacement};
}

WorkGroupOrder probe_order(const Device& device, const std::array<std::int64_t, 2>& groups,
                           const ProbeOptions& options) {
  for (const std::int64_t extent : groups) {
    if (extent >= 1 && extent <= WorkGroupOrder::kMostGroups) continue;
    throw UsageError(
        fmt::format("the order of work-groups: expected 1 to {} in each dimension, "
                    "got {}x{}",
                    WorkGroupOrder::kMostGroups, groups[0], groups[1]));
  }
  OrderProbe probe(Inside::of(device));
  WorkGroupOrder order;
  order.groups = groups;
  (void)probe.tickets(groups);  // a driver may compile at the first launch
  const int repetitions = is_quick(options) ? 3 : 5;
  for (int i = 0; i < repetitions; ++i) {
    tell(options, "the order of work-groups", static_cast<double>(i) / repetitions);
    order.repetitions.push_back(repetition_of(probe.tickets(groups), groups));
  }
  return order;
}

}  // namespace morton
