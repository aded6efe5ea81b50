// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "device/probe/probe_order.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

constexpr std::int64_t kMostGroups = 256;
/// An order that groups keep but for small steps aside.
constexpr double kNear = 0.05;
/// Pieces of fewer groups are no stripes.
constexpr std::int64_t kLeastPiece = 16;

WorkGroupOrder::Repetition repetition_of(std::vector<std::int64_t> tickets,
                                         const std::array<std::int64_t, 2>& groups) {
  using Kind = WorkGroupOrder::Kind;
  const OrderFit fits[] = {fit_of(tickets, groups, 0), fit_of(tickets, groups, 1)};
  const int fast = fits[1].pieces < fits[0].pieces ? 1 : 0;
  const OrderFit& fit = fits[fast];
  const auto count = static_cast<std::int64_t>(tickets.size());
  Kind kind = Kind::none;
  if (fit.pieces == 1 || fit.displacement < kNear) {
    kind = fast == 0 ? Kind::dimension_0 : Kind::dimension_1;
  } else if (fit.pieces * kLeastPiece <= count) {
    kind = fast == 0 ? Kind::stripes_0 : Kind::stripes_1;
  }
  return {std::move(tickets), kind, fit.pieces, fit.displacement};
}

}  // namespace

WorkGroupOrder probe_order(const Device& device, const std::array<std::int64_t, 2>& groups,
                           const ProbeOptions& options) {
  for (const std::int64_t extent : groups) {
    if (extent >= 1 && extent <= kMostGroups) continue;
    throw UsageError(
        fmt::format("the order of work-groups: expected 1 to {} in each dimension, "
                    "got {}x{}",
                    kMostGroups, groups[0], groups[1]));
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
