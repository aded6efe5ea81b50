// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/error.hpp"
#include "morton/export.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// Waits of the host for what a run found out: extents, a condition, a number of turns.
struct Wait {
  std::string node;        ///< of the model, that stands behind them
  Message why;             ///< what no plan could know
  std::int64_t times = 0;  ///< in the last run
};

/// What the last run of a SegmentedSession took.
struct SegmentsReport {
  std::vector<Wait> waits;  ///< in the order in which they came
  int plans = 0;            ///< made in it; none where all shapes had been there before
  int built_kernels = 0;    ///< likewise
  /// CompileReport::fallbacks of all plans that the session has made, in this run or before; each
  /// line once.
  std::vector<Message> fallbacks;
};

/// Limits of a SegmentedSession.
struct SegmentOptions {
  /// Turns of one loop in one run; a loop that takes more is an UnsupportedError.
  std::int64_t most_turns = 1'000'000;
  /// Plans of one segment. Another takes the place of the one that ran least lately.
  std::int64_t kept_plans = 16;
};

/// A model of which one plan cannot be made (NeedsSegments): it is cut into segments, each planned
/// when its shapes are known. The host reads between them what the next one depends on, and calls
/// loops' bodies, which keep their states on the device where these keep their shapes. A model that
/// needs no cut is one segment. Belongs to one thread at a time.
class MORTON_API SegmentedSession {
 public:
  /// Plans nothing yet. Of the options `batch`, `shapes`, `values` and `also` say nothing: inputs
  /// do. Throws UsageError for `feeds`; UnsupportedError for inputs and outputs that are no
  /// tensors, and for Fallback::refuse where the model must be cut (at the first run).
  SegmentedSession(const Model& model, const Device& device, const CompileOptions& options = {},
                   const SegmentOptions& limits = {});
  SegmentedSession(SegmentedSession&&) noexcept;
  SegmentedSession& operator=(SegmentedSession&&) noexcept;
  ~SegmentedSession();

  /// One inference, as Session::run. Shapes may differ from run to run. Throws what `compile` and
  /// Session::run throw.
  [[nodiscard]] std::vector<NamedTensor> run(std::span<const NamedTensor> inputs);
  [[nodiscard]] const SegmentsReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a plan can show of such a model without a run: all that comes before the first wait.
struct PartBeforeWait {
  std::optional<Model> model;  ///< none where nothing comes before it
  CompileOptions options;      ///< for it
  Message wait;                ///< why there is one
  std::int64_t nodes_behind = 0;
};

/// Cuts `model` where compiling it threw `error`.
[[nodiscard]] MORTON_API PartBeforeWait part_before_wait(const Model& model,
                                                         const CompileOptions& options,
                                                         const NeedsSegments& error);

}  // namespace morton
