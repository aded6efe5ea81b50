// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/load.hpp"

namespace morton::passes {

/// What the passes are told from outside.
struct PassOptions {
  /// Value of the inputs' batch: the open extent named "batch", else the first where it is open. 0
  /// leaves it to `shapes`, and to 1 if those
  /// do not say.
  std::int64_t batch = 0;
  /// Full shapes of inputs, by name.
  std::map<std::string, Shape> shapes{};
  /// Values of inputs by name. Those are taken that some shape follows from.
  std::map<std::string, Tensor> values{};
  /// Outputs whose value an input takes for the next run: output -> input.
  std::map<std::string, std::string> feeds{};
  /// Names of nodes, as they are before cut_nodes or as it names parts, that are computed in so
  /// many parts.
  std::map<std::string, std::int64_t> pieces{};
  /// Of those nodes, the ones whose weights are to be cut, whatever else is cut with them.
  std::set<std::string> weights_in_pieces{};
  /// Names of passes to leave out; those that all later stages rely on cannot be.
  std::vector<std::string> skip{};
  /// `elements`, `folded_bytes` and `seconds` hold for the passes.
  LoadLimits limits{};
  /// Which of all_passes() run: those from `begin` up to, and without, `end`. The graph must be as
  /// the passes before leave it.
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

/// One rewrite of the graph.
struct Pass {
  std::string_view name;
  /// Returns how many things it changed.
  int (*run)(Graph& graph, const PassOptions& options) = nullptr;
  enum class Need : std::uint8_t { required, optional } need = Need::optional;
};

/// What one pass did.
struct PassRecord {
  std::string name;
  bool skipped = false;
  int changes = 0;
  double time_ms = 0.0;
};

struct PassReport {
  std::vector<PassRecord> passes;
};

/// All passes, in the order in which they run.
[[nodiscard]] MORTON_FOR_TOOLS std::span<const Pass> all_passes();

/// Runs them, verifying the graph before the first and after each. Throws UnsupportedError where a
/// limit is passed, UsageError for a name in
/// `options.skip` that is no pass or a required one, and whatever the passes throw; `graph` is then
/// of no use.
MORTON_FOR_TOOLS PassReport run_passes(Graph& graph, const PassOptions& options);

/// One line for each pass: name, changes, time.
[[nodiscard]] std::string print(const PassReport& report);

}  // namespace morton::passes
