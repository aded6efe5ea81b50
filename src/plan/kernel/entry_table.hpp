// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/algebra/compiled_expression.hpp"
#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "plan/ir/plan.hpp"
#include "plan/kernel/asked_problem.hpp"
#include "plan/measured/tuned.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/rejection.hpp"
#include "plan/policy/tunables.hpp"

namespace morton::plan {

/// A name that an entry's expressions use, and where its value is from (entry_environment).
struct EntryName {
  enum class Source : std::uint8_t {
    device,        ///< `value`
    problem,       ///< an extent or structure; else padded; else `value`
    elements_dst,  ///< the rest as plan/cost/cost.hpp says
    products,
    part_rows,
    part_columns
  } source = Source::problem;
  std::size_t number = 0;                ///< of the name (NameNumbers)
  std::int64_t step = 1;                 ///< of the dimension that it names (PreparedKernel::steps)
  std::optional<std::size_t> padded_of;  ///< of "M_pad": the number of "M"
  std::int64_t padded_step = 1;          ///< and its step
  std::optional<std::int64_t> value;
};

/// An entry with certain values of its tunables, ready to be asked about many problems.
struct PreparedKernel {
  PreparedKernel(const Entry& of, const Environment& values, const Environment& device,
                 NameNumbers& numbers);

  const Entry* entry;
  std::shared_ptr<const Environment> tunables;
  ValueNames names;
  std::vector<EntryName> sources;  ///< of the names
  std::vector<CompiledExpression> require, global, local;
  CompiledExpression local_memory_bytes;
  struct Cost {
    CompiledExpression flop, work, bytes, piece;
  } cost;
  /// By operand, of those that demand a layout.
  NameMap<Layout> layouts;
  /// By operand, the numbers of the tunables that its layout is written in.
  NameMap<std::vector<std::size_t>> layout_names;
  /// By dimension, what padded extents are multiples of; 1 where there is none.
  NameMap<std::int64_t> steps;
};

/// What of an entry is the same for all problems of a plan.
struct PreparedEntry {
  PreparedEntry(const Entry& of, const DeviceInfo& device, const Environment& device_names,
                const PlanOptions& options, const std::vector<StaticCost>& costs);

  const Entry* entry;
  OrReason<ChosenTunables> chosen;  ///< where nothing was measured
  double efficiency = 0.0;
  /// Of one whose dst is any: it walks the memory of dst, or rows that may be a part of it.
  bool walks_memory = false, writes_parts = false;
  bool has_records = false, has_verdicts = false;
  std::string_view fatal_quirk;  ///< of the device, for which the driver ends the process over it
  /// What the GPU's compiler makes of it (StaticCost), each values of the tunables once.
  std::vector<const StaticCost*> static_costs;

  /// With these values, whatever the size of the work-group; null where nothing is known.
  [[nodiscard]] const StaticCost* static_cost_of(const Environment& tunables) const;
};

/// The catalogue's entries as plans for one device need them. What does not depend on the problem
/// is worked out when it is first asked for, and once.
class EntryTable {
 public:
  /// All must outlive it.
  EntryTable(const DeviceInfo& device, const PlanOptions& options);
  EntryTable(const EntryTable&) = delete;
  EntryTable& operator=(const EntryTable&) = delete;

  [[nodiscard]] const PreparedEntry& of(const Entry& entry);
  [[nodiscard]] const PreparedKernel& with(const Environment& tunables, const Entry& entry);
  /// Ready for all kernels that were prepared. It lasts until others are asked about.
  [[nodiscard]] const AskedProblem& asked(const SharedProblem& bound);
  /// environment_of the device.
  [[nodiscard]] const Environment& device_names() const { return device_names_; }
  /// What the device is known by in tuning data.
  [[nodiscard]] const TunedDevice& tuned_device() const { return tuned_device_; }
  /// The board whose compiler told the static costs ("g610"); empty where there are none.
  [[nodiscard]] const std::string& board() const { return board_; }

 private:
  const DeviceInfo& device_;
  const PlanOptions& options_;
  Environment device_names_;
  TunedDevice tuned_device_;
  std::string board_;
  std::vector<StaticCost> static_costs_;
  NameNumbers numbers_;
  /// Entries are asked about one problem after the other, with its epilogue or without.
  std::array<AskedProblem, 4> asked_;
  std::size_t next_asked_ = 0;
  std::unordered_map<const Entry*, PreparedEntry> entries_;
  std::unordered_map<const Entry*, std::vector<std::unique_ptr<const PreparedKernel>>> kernels_;
};

}  // namespace morton::plan
