// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "ops/core/transform_error.hpp"
#include "support/cases.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// A way to solve a family of problems that a test forces on the planner: an entry, or a recipe
/// with an entry for each of its steps.
struct Way {
  std::string name;    ///< "gemm.tile", "conv2d.im2col_gemm with gemm.tile, pack.generic"
  std::string family;  ///< whose cases it is tried on
  std::map<std::string, std::string> use;            ///< PlanOptions::use
  std::set<std::string> kernels;                     ///< entries that its plans must contain
  std::vector<std::string> exclude = {};             ///< PlanOptions::exclude
  std::map<std::string, Environment> tunables = {};  ///< PlanOptions::tunables
  /// What it may round operands in memory to; they are rounded for the reference too.
  DType precision = DType::f32;
  /// What it rounds results to.
  DType result = DType::f32;
  /// What it may do to convolutions.
  TransformError transform = {};
  /// Whether it rounds even where all numbers are whole (Winograd's thirds).
  bool rounds_whole_numbers = false;
  struct Sums {
    /// Entry::Sums::terms_per_truncation of the entry that is tried.
    std::int64_t terms_per_truncation = 0;
    bool in_f16 = false;      ///< whether it adds up products in f16 (Entry::Sums::terms_in_f16)
    double lost_share = 0.0;  ///< of attention: how much of each share may be lost
  } sums = {};
  /// Fewer cases are enough where it computes few of its family's.
  int least_cases = 10;
  /// A recipe that poses its own family again, with whatever kernel inside.
  enum class Inside : std::uint8_t { chosen, free } inside = Inside::chosen;
};

/// Writes the kernels to `folder`, without the recipes that pose their own family again: with them
/// the planner might use a kernel on swapped operands only. Returns their catalogue.
[[nodiscard]] Catalogue catalogue_without_detours(const std::filesystem::path& folder);

/// Every entry and recipe of the catalogue. No operator asks for a pack alone, so a pack entry is
/// tried with a kernel that demands formats; nor for a transform of Winograd's, which is tried
/// within a recipe that poses it.
[[nodiscard]] std::vector<Way> all_ways(const Catalogue& catalogue);
/// Whether the kernel computes products with one column only.
[[nodiscard]] bool is_for_vectors(const Entry& entry);
/// The library that the way's kernels are of; empty when they are ours.
[[nodiscard]] std::string library_of(const Way& way, const Catalogue& catalogue);
/// A name as GoogleTest likes it: "gemm_tile".
[[nodiscard]] std::string test_name(const std::string& name);

/// Every case of tests/cases.
[[nodiscard]] std::vector<OperatorCase> shipped_cases();
/// What tests need that run kernels with values of their own, read once for a process.
struct DirectWays {
  Catalogue catalogue;  ///< catalogue_without_detours
  std::vector<Way> ways;
  std::vector<OperatorCase> cases;  ///< all that are shipped
};
[[nodiscard]] const DirectWays& direct_ways();
/// Families of problems that the case's graph is lowered to, after the passes.
[[nodiscard]] std::set<std::string> families_of(const OperatorCase& test);

/// Stands for the families of operators that are composed of others.
inline constexpr const char* kComposed = "composed";

}  // namespace morton::test
