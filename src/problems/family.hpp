// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::problems {

class ProblemReader;
struct ProblemFamily;

/// Which family a problem is of. It is copied and compared like a number. In code it is a constant
/// of `families`; in files, options and messages it is its name.
class Family {
 public:
  /// No family, which is what a problem has before it is given one.
  constexpr Family() = default;
  constexpr explicit Family(std::uint8_t number) : number_(number) {}

  /// "gemm"; empty for no family.
  [[nodiscard]] MORTON_FOR_TOOLS const std::string& name() const;
  operator const std::string&() const { return name(); }  // NOLINT(google-explicit-constructor)

  /// What the family is. Throws InternalError for no family.
  [[nodiscard]] MORTON_FOR_TOOLS const ProblemFamily& operator*() const;
  [[nodiscard]] const ProblemFamily* operator->() const { return &**this; }

  friend constexpr bool operator==(Family a, Family b) { return a.number_ == b.number_; }
  /// For names that people give. Code compares with the constants of `families`, whose names the
  /// compiler checks.
  friend bool operator==(Family family, std::string_view name) { return family.name() == name; }

 private:
  static constexpr std::uint8_t kNone = 255;
  std::uint8_t number_ = kNone;
};

/// The families, each under its name: `families::gemm`.
namespace families {

enum class Number : std::uint8_t {
#define MORTON_FAMILY(name) name,
#include "problems/families.def"
#undef MORTON_FAMILY
};

#define MORTON_FAMILY(name) inline constexpr Family name{static_cast<std::uint8_t>(Number::name)};
#include "problems/families.def"
#undef MORTON_FAMILY

}  // namespace families

/// Names of dimensions.
using Dimensions = std::vector<std::string_view>;

/// One operand of a family of problems: its name and its dimensions. A family whose operands have
/// any number of dimensions (elementwise, pack) lists none; its problems name theirs D0, D1, ...
struct OperandSchema {
  std::string_view name;
  Dimensions dimensions;
  /// `changed` is an input that the kernel writes too, and nobody reads afterwards: it is made anew
  /// for each run, although all that it is made of may be constant.
  enum class Role { input, changed, output } role = Role::input;

  /// The operand that every family writes.
  [[nodiscard]] static OperandSchema dst(Dimensions dimensions) {
    return {"dst", std::move(dimensions), Role::output};
  }
};

/// A place in an operand, one number for each of its dimensions.
using Coordinates = std::vector<std::int64_t>;

/// What kernels can be asked to compute: operands with their dimensions, extents (the dimensions'
/// sizes), structure (sizes that are compiled into a kernel), and the definition of every element
/// of dst. The files of this folder define one family or a few that belong together.
struct ProblemFamily {
  Family id;
  std::vector<OperandSchema> operands = {};
  /// Names of its structure. Every dimension that is not among them is an extent. A problem's
  /// extents may hold more names: those of tensor dimensions that a view joins.
  std::vector<std::string_view> structure = {};
  /// Further extents, which are no dimension of an operand: numbers that kernels take as arguments.
  std::vector<std::string_view> parameters = {};
  /// Operations, over extents and structure, without what is done for padding. 0 of a family that
  /// only moves elements.
  Expression flop = 0;
  /// The definition: the element of dst at `at`, before the epilogue, in double precision. No value
  /// where the problem leaves that element as it is. It reads every operand within its extents.
  std::optional<double> (*value_at)(ProblemReader& problem, const Coordinates& at) = nullptr;
  /// Dimensions of dst along which an element depends on the inputs at other coordinates too. A
  /// batch can be cut along all others. No value for families that no operator is lowered to.
  std::optional<Dimensions> mixes = std::nullopt;
  /// Extents that messages name first; the others follow in the order of the alphabet.
  Dimensions named_first = {};

  [[nodiscard]] const std::string& name() const { return id.name(); }
  /// Whether its operands have any number of dimensions.
  [[nodiscard]] bool has_any_rank() const { return operands.back().dimensions.empty(); }
};

/// The family named `name`, or nullptr.
[[nodiscard]] MORTON_FOR_TOOLS const ProblemFamily* find_problem_family(std::string_view name);
/// All families, in the order of families.def.
[[nodiscard]] const std::vector<ProblemFamily>& problem_families();
/// "gemm, batched_gemm, ...".
[[nodiscard]] MORTON_FOR_TOOLS std::string names_of_families();

/// The definitions: `family_gemm` and so on.
#define MORTON_FAMILY(name) [[nodiscard]] ProblemFamily family_##name();
#include "problems/families.def"
#undef MORTON_FAMILY

}  // namespace morton::problems
