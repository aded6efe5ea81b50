// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/device/device_info.hpp"
#include "graph/graph.hpp"
#include "plan/ir/plan.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// The device that targets plan for (tests/devices/pocl_cpu.json), read once.
[[nodiscard]] const DeviceInfo& fuzzed_device();

/// The graph after all passes, with an extent of 2 wherever the model leaves one open.
[[nodiscard]] Graph prepared(Graph graph);

/// A plan for the graph after all passes, which is checked.
[[nodiscard]] Plan planned(const Graph& graph);

/// A convolution and a dense layer with little in them.
[[nodiscard]] Graph small_network();

}  // namespace morton::test
