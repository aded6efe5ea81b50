// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "problems/problem.hpp"

namespace morton::plan {

/// What tuning data knows a device by.
struct TunedDevice {
  std::string fingerprint, name, vendor, platform, kind;

  [[nodiscard]] MORTON_FOR_TOOLS static TunedDevice of(const DeviceInfo& info);
  bool operator==(const TunedDevice&) const = default;
};

/// What of a problem a kernel's speed depends on.
struct TunedProblem {
  Family family;
  Environment extents;  ///< of the family's own dimensions (M, N, K); all where it names none
  Environment structure;
  std::map<std::string, std::string> types;  ///< of operands and accumulator
  /// Of inputs that are held in another order than the family names their dimensions: the
  /// dimensions in the order of the tensor's ("NK" for a transposed rhs).
  std::map<std::string, std::string> orders;

  [[nodiscard]] MORTON_FOR_TOOLS static TunedProblem of(const BoundProblem& bound);
  bool operator==(const TunedProblem&) const = default;
};

/// "M=64 N=3136 K=576".
[[nodiscard]] MORTON_FOR_TOOLS std::string print_extents(const TunedProblem& problem);

/// How far apart two problems are: the root of the sum of the squares of log2(a/b) over the
/// extents, plus 1 for each operand that is held in another order. Infinite where family, structure
/// or types differ.
[[nodiscard]] double distance(const TunedProblem& a, const TunedProblem& b);

/// The best values of a kernel's tunables for a problem on a device, as they were measured.
struct TunedRecord {
  TunedDevice device;
  std::string kernel, hash;  ///< Entry::name, either digest of Entry::Program::digest
  TunedProblem problem;
  Environment tunables;
  double ms = 0.0;           ///< of the kernel alone, packing excluded; the least sample
  double gflops = 0.0;       ///< logical operations, not padded ones
  double peak_gflops = 0.0;  ///< of the device, the highest sample in the same turns
  /// Share of that peak that the busy compute units reached, padding counted as work: what
  /// Entry::Cost::efficiency is a first guess of.
  double efficiency = 0.0;
  double standard_ms = 0.0;  ///< with the entry's standard values, in the same run; 0: they failed
  std::int64_t tried = 0;    ///< candidates, those refused included
  std::int64_t space = 0;    ///< candidates that there are
};

/// Values with which a kernel gave wrong results, ended the process or did not end on a device.
struct Verdict {
  TunedDevice device;
  std::string kernel, hash;
  Environment tunables;
  std::string why;
  /// Files do not say it: each finder keeps its own.
  enum class Finder : std::uint8_t { tuning, self_test } finder = Finder::tuning;
};

/// What the compiler of a GPU makes of a kernel with certain values of its tunables: no time, but
/// what its busiest unit has to do (docs/boards.md). The unit is a multiply-add of f32: as many as
/// the GPU could do meanwhile at its peak.
struct StaticCost {
  TunedDevice device;
  std::string kernel, hash;  ///< Entry::name, either digest of Entry::Program::digest
  Environment tunables;
  double once = 0.0;        ///< of a work-item, outside of its hot loop
  double turn = 0.0;        ///< of one turn of the hot loop; of all where there is no loop
  double operations = 1.0;  ///< of the entry's `work` that a turn does
  /// What the compiler says besides, for the long check to compare.
  int instructions = 0, prologue = 0, spills = 0;
  std::optional<int> threads, registers;
  double efficiency = 0.0;  ///< share of multiply-adds in a turn's bound

  /// Multiply-adds' worth of a work-item that does so many operations of the entry's `work`.
  [[nodiscard]] MORTON_FOR_TOOLS double of_item(double work) const;
};

/// Measured values from all sources. Records that come later count more than equal earlier ones.
class TunedData {
 public:
  /// Farther away than this, a record says nothing of a problem: a factor of 8 in one extent.
  static constexpr double kFarthest = 3.0;

  MORTON_FOR_TOOLS void add(TunedRecord record);
  MORTON_FOR_TOOLS void add(Verdict verdict);
  MORTON_FOR_TOOLS void add(StaticCost cost);
  /// Gives what is of a kernel as the catalogue has it the digest of its code, where it has that of
  /// the kernel's files.
  void renew_digests(const Catalogue& catalogue);

  struct Hit {
    const TunedRecord* record = nullptr;  ///< null: nothing is known
    bool exact = false;                   ///< measured on this problem and device
    /// "tuned on this device for this problem"; without a record, why there is none that could be
    /// used (records of another version of the kernel), or nothing.
    std::string how;
  };
  /// The record for this kernel: of this problem on this device, else of the nearest problem on it,
  /// else of the nearest on a device of the same name and platform, else of the same vendor. A
  /// batched kernel without records takes those of the gemm kernel that it repeats.
  [[nodiscard]] Hit look_up(const Entry& entry, const BoundProblem& bound,
                            const TunedDevice& device) const;
  /// The same for a problem in tuning data's own terms.
  [[nodiscard]] Hit look_up(const Entry& entry, const TunedProblem& problem,
                            const TunedDevice& device) const;
  /// False where look_up finds nothing and has nothing to say, whatever the problem is.
  [[nodiscard]] bool knows(const Entry& entry) const;
  /// The verdict against these values of the entry's tunables on the device, or null.
  [[nodiscard]] const Verdict* verdict_on(const Entry& entry, const Environment& tunables,
                                          const DeviceInfo& device) const;
  [[nodiscard]] const std::vector<TunedRecord>& records() const { return records_; }
  [[nodiscard]] const std::vector<Verdict>& verdicts() const { return verdicts_; }
  [[nodiscard]] const std::vector<StaticCost>& static_costs() const { return static_costs_; }

 private:
  [[nodiscard]] Hit look_up(const std::string& kernel, const Entry& entry,
                            const TunedProblem& problem, const TunedDevice& device) const;

  std::vector<TunedRecord> records_;
  std::vector<Verdict> verdicts_;
  std::vector<StaticCost> static_costs_;
};

}  // namespace morton::plan
