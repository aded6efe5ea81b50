// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/catalogue/catalogue_ways.hpp"
#include "device/open/opencl_device.hpp"
#include "graph/graph.hpp"
#include "plan/ir/plan.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// A graph to run, before any pass.
struct TestGraph {
  std::string name;
  Graph graph;
  std::vector<NamedTensor> inputs;
  enum class Check : std::uint8_t { exact, bound } check = Check::bound;
};

/// The case with data of this kind; exact where f32 is.
[[nodiscard]] TestGraph to_test_graph(const OperatorCase& test, DataKind kind);

/// The way's plan of a graph, or why it cannot do it.
struct TriedPlan {
  std::optional<Plan> plan;
  std::string refusal;
};
[[nodiscard]] TriedPlan try_plan(const TestGraph& test, const DeviceInfo& device,
                                 const Catalogue& catalogue, const Way& way);

/// The cases of the way's family that it can compute: all in a long run, else `most`, from all over
/// the list. Planning each of hundreds takes longer than computing a few.
[[nodiscard]] std::vector<OperatorCase> possible_cases(const std::vector<OperatorCase>& all,
                                                       const DeviceInfo& device,
                                                       const Catalogue& catalogue, const Way& way,
                                                       std::size_t most);

/// How graphs are run.
enum class Execution : std::uint8_t {
  guarded,  ///< memory of its own for each value, between guards, holding NaN; on a CPU also
            ///< between pages that nothing may touch, not even to read
  runner,   ///< as sessions do it, memory recycled, holding NaN
  exact,    ///< buffers of the exact size, for Oclgrind
};

/// What running graphs in one way gave.
struct WayReport {
  int graphs = 0;
  std::map<std::string, int> refused;  ///< why the way cannot do a graph, and how many
  int programs_built = 0;
};

/// Plans the graphs in the given way, builds all their kernels as one program, runs each, and
/// compares with the reference; differences are GoogleTest failures.
[[nodiscard]] WayReport run_graphs(const std::shared_ptr<OpenClDevice>& device,
                                   const Catalogue& catalogue, const Way& way,
                                   const std::vector<TestGraph>& graphs, Execution execution);

/// "gemm.tile: 40 graphs; 2 refused: it requires ...", one line a reason.
[[nodiscard]] std::string print(const Way& way, const WayReport& report);

}  // namespace morton::test
