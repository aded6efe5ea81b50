// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/split/split.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// The Mali T-628 as its board shows it: 4 and 2 compute units.
inline std::vector<DeviceInfo> mali_pair() {
  DeviceInfo four = saved_device("mali_t628");
  DeviceInfo two = four;
  two.id = "0:1";
  two.compute.units = 2;
  return {four, two};
}

/// Part i has rows[i] on devices[i].
inline Plan split_over(const Graph& graph, const std::vector<std::int64_t>& rows,
                       const std::vector<DeviceInfo>& devices) {
  const std::int64_t batch = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  std::vector<SplitPart> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts.push_back({prepared(graph, rows[i]), devices[i], rows[i]});
  }
  const Catalogue catalogue = Catalogue::standard();
  return make_split_plan(prepared(graph, batch), parts, KernelPolicy(catalogue, {}));
}

/// What a split of 3 and 2 rows complains about; "nothing" where it is made.
inline std::string refusal(const Graph& graph) {
  try {
    static_cast<void>(split_over(graph, {3, 2}, mali_pair()));
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace morton::test
